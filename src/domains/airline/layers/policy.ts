/** @file The layer `policy` of the airline: its rules as conditions on each call and on what the tools had shown before. */
import { isConfirmation } from '../../../agent/answers.ts';
import { short, type TransferRules } from '../../../agent/layers/manners.ts';
import { heardBefore, isWrite, refuses, textOf, type ToolEvent } from '../../../agent/layers/readings.ts';
import type { RuleLog } from '../../../agent/layers/rule-log.ts';
import type { LayeredConversation } from '../../../agent/layers.ts';
import { readable, sentences } from '../../../agent/sentences.ts';
import { isObject } from '../../../base/json.ts';
import { methodsOf } from './access.ts';
import { AirlineFacts, type ShownReservation } from './facts.ts';
import { knowsReason } from './reason.ts';

/** The fixed time of the benchmark; a day before it is the limit of free cancellations. */
const NOW = '2024-05-15T15:00:00';
const DAY_BEFORE = '2024-05-14T15:00:00';
const COVERED =
  /\b(health|ill|illness|sick\w*|medical|doctor|hospital\w*|injur\w*|surgery|covid|flu|fever|broke my|pregnan\w*|unwell|not feeling well|weather|storm\w*|hurricane|snow\w*|blizzard|flood\w*|tornado|typhoon)\b/i;
const ASKS_COMPENSATION =
  /\b(compensat\w*|certificate|voucher|refund|reimburs\w*|make (it )?up|make (this|it|things) right|credit|gesture|something (for|in return)|money back|(do|owe|offer|give) (me |us )?(something|anything)|indemnif\w*|damages|entitled|goodwill|apology in|get (something|anything|paid|money)|what (do|can|will|would|should|could) (i|we) (get|receive|expect|have|claim)|what (am|are) (i|we) (due|owed|getting)|what (are|is) (you|the airline|your (airline|company))( going to)? (offer\w*|give|giving|do(?:ing)?)|what (do|can|will|would) you (offer|give|pay|owe|do (about|for (me|us)|to make))|how (do|will|can|are) you( going to)? (compensate|make|pay|repay)|(pay|owe)s? (me|us)|at your expense|for my (trouble|inconvenience|lost time)|deserve|expect you to pay|pay for (it|this|that)|worth something)\b/i;
const SCOPE = /\b(book|cancel|chang|modif|upgrad|add|bag|flight)\w*/i;

export const TRANSFERS: TransferRules = {
  transfers: ['transfer_to_human_agents'],
  scope: SCOPE,
  outside: /\b(already (flown|flew|taken)|missed|lost|stolen)\b/i,
};

/**
 * A certificate changes no booking: it needs no yes if the customer asked for compensation. After a call that failed, the agent
 * asks only about what is new: another payment, another price.
 */
export function askedFor(conversation: LayeredConversation, { call: { name } }: ToolEvent, place: number): boolean {
  if (name === 'send_certificate') return ASKS_COMPENSATION.test(heardBefore(conversation, place).join('\n'));
  const before = conversation.events.slice(0, place);
  const answer = before.findLastIndex((event) => event.kind === 'user');
  const failed = before.slice(0, answer).findLast((event) => event.kind === 'tool' && event.call.name === name);
  const said = before[answer];
  return failed?.kind === 'tool' && failed.result.error && said?.kind === 'user' && isConfirmation(said.text);
}

export function checkCalls(conversation: LayeredConversation, log: RuleLog): void {
  const facts = new AirlineFacts();
  for (const [place, event] of conversation.events.entries()) {
    const heard = () => heardBefore(conversation, place).join('\n');
    if (event.kind === 'agent') checkOffer(log, event.text, heard(), place);
    if (event.kind !== 'tool') continue;
    const before = facts.reservations.get(textOf(event.call.arguments.reservation_id));
    const known = before && structuredClone(before);
    if (isWrite(event)) checkWrite(log, event, known, heard(), place, facts);
    if (isWrite(event) && event.call.name === 'cancel_reservation')
      log.checkSaid('no_reason', place, () => (knowsReason(conversation, place) ? null : 'cancelled without the reason of the customer'));
    facts.learn(event);
    if (isWrite(event) && known && event.call.name === 'update_reservation_flights')
      checkRoute(log, known, facts.reservations.get(textOf(event.call.arguments.reservation_id))!, place);
  }
}

function checkWrite(
  log: RuleLog,
  event: ToolEvent,
  known: ShownReservation | undefined,
  heard: string,
  place: number,
  facts: AirlineFacts,
): void {
  const { name, arguments: args } = event.call;
  const id = textOf(args.reservation_id);
  const flown = known?.flights.find(
    (flight) => flight.date < NOW.slice(0, 10) || /^(flying|landed)$/.test(facts.status.get(`${flight.number} ${flight.date}`) ?? ''),
  );
  const checkFlown = () =>
    known && log.check('flown_segment', place, flown ? `${name} of ${id}: ${flown.number} of ${flown.date} is flown` : null);
  const passengers = Array.isArray(args.passengers) ? args.passengers.length : undefined;
  switch (name) {
    case 'cancel_reservation':
      checkFlown();
      if (known && !flown) log.check('cancel_not_allowed', place, mayCancel(known, heard, facts) ? null : `${id}: ${whyNot(known)}`);
      break;
    case 'update_reservation_flights':
      if (!known) break;
      checkFlights(log, event, known, place);
      if (args.cabin !== known.cabin) checkFlown();
      if (facts.users.get(known.owner))
        log.check('wrong_payment', place, certificateIn(event, facts) ? `${certificateIn(event, facts)} pays for a change` : null);
      break;
    case 'update_reservation_passengers':
      if (known && passengers !== undefined)
        log.check(
          'passenger_count',
          place,
          passengers === known.passengers ? null : `${id} has ${known.passengers} passengers, not ${passengers}`,
        );
      break;
    case 'update_reservation_baggages':
      if (!known) break;
      log.check(
        'removed_bags',
        place,
        Number(args.total_baggages) < known.bags ? `${id} has ${known.bags} bags, and keeps ${Number(args.total_baggages)}` : null,
      );
      checkFee(log, event, { ...known, membership: facts.users.get(known.owner)?.membership }, place);
      break;
    case 'book_reservation':
      if (passengers !== undefined)
        log.check('too_many_passengers', place, passengers > 5 ? `${passengers} passengers in one reservation` : null);
      checkPayments(log, event, place);
      checkFee(
        log,
        event,
        { cabin: textOf(args.cabin), passengers: passengers ?? Number.NaN, membership: facts.users.get(textOf(args.user_id))?.membership },
        place,
      );
      break;
    case 'send_certificate':
      checkCertificate(log, event, heard, place, facts);
  }
}

/** A status of a flight that no tool showed cannot speak against the customer. */
function mayCancel(known: ShownReservation, heard: string, facts: AirlineFacts): boolean {
  const statuses = known.flights.map((flight) => facts.status.get(`${flight.number} ${flight.date}`));
  const saysCancelled = /\b(airline|you|they|flights?)\b[^.\n]{0,40}\bcancel+ed\b|\bcancel+ed (by|flight)/i.test(heard);
  return (
    known.created >= DAY_BEFORE ||
    known.cabin === 'business' ||
    statuses.includes('cancelled') ||
    (saysCancelled && !statuses.some((status) => status !== undefined)) ||
    (known.insured && COVERED.test(heard))
  );
}

const whyNot = ({ cabin, created, insured }: ShownReservation): string =>
  `${cabin.replace('_', ' ')}, booked on ${created.slice(0, 10)}, ${insured ? 'and the customer named no reason that the insurance covers' : 'without insurance'}`;

function checkFlights(log: RuleLog, { call: { arguments: args } }: ToolEvent, known: ShownReservation, place: number): void {
  const wanted = Array.isArray(args.flights)
    ? args.flights.flatMap((one) => (isObject(one) ? [`${textOf(one.flight_number)} ${textOf(one.date)}`] : []))
    : [];
  const same = wanted.length === known.flights.length && known.flights.every(({ number, date }) => wanted.includes(`${number} ${date}`));
  if (!same)
    log.check(
      'basic_economy',
      place,
      known.cabin === 'basic_economy' ? `new flights for the basic economy of ${textOf(args.reservation_id)}` : null,
    );
}

/** Checks the flights that a change wrote. */
function checkRoute(log: RuleLog, before: ShownReservation, after: ShownReservation, place: number): void {
  const [first, last] = [after.flights[0], after.flights.at(-1)];
  if (!first?.origin || !last?.destination) return;
  const end = before.type === 'round_trip' ? before.origin : before.destination;
  const visits = after.flights.some(({ destination }) => destination === before.destination);
  const kept = first.origin === before.origin && last.destination === end && visits;
  log.check(
    'changed_route',
    place,
    kept ? null : `the trip was ${before.origin} to ${before.destination}, and is now ${first.origin} to ${last.destination}`,
  );
}

/** The free bags of a passenger by membership, for basic economy, economy and business. The benchmarks differ in gold's last one. */
const FREE: Record<string, readonly [number, number, number]> = { regular: [0, 1, 2], silver: [1, 2, 3], gold: [2, 3, 3] };
const CABINS = ['basic_economy', 'economy', 'business'];

function checkFee(
  log: RuleLog,
  { call: { arguments: args } }: ToolEvent,
  { cabin, passengers, membership }: { cabin: string; passengers: number; membership: string | undefined },
  place: number,
): void {
  const free = FREE[membership ?? '']?.[CABINS.indexOf(cabin)];
  if (free === undefined || Number.isNaN(passengers)) return;
  const [total, paid] = [Number(args.total_baggages), Number(args.nonfree_baggages)];
  const due = (each: number) => Math.max(0, total - each * passengers);
  const right = paid === due(free) || (membership === 'gold' && cabin === 'business' && paid === due(4));
  log.check('wrong_bag_fee', place, right ? null : `${paid} of ${total} bags are paid, ${due(free)} are due`);
}

function checkPayments(log: RuleLog, event: ToolEvent, place: number): void {
  const methods = methodsOf(event);
  const count = (kind: string) => methods.filter((method) => method.startsWith(kind)).length;
  const bad = count('certificate') > 1 || count('credit_card') > 1 || count('gift_card') > 3;
  log.check('too_many_payments', place, bad ? `paid with ${methods.join(', ')}` : null);
}

const certificateIn = (event: ToolEvent, facts: AirlineFacts): string | undefined =>
  methodsOf(event).find(
    (method) => method.startsWith('certificate') || [...facts.users.values()].some(({ methods }) => methods.get(method) === 'certificate'),
  );

function checkCertificate(log: RuleLog, { call: { arguments: args } }: ToolEvent, heard: string, place: number, facts: AirlineFacts): void {
  const user = textOf(args.user_id);
  const own = [...facts.reservations.values()].filter(({ owner }) => owner === user);
  log.check(
    'compensation_not_asked',
    place,
    ASKS_COMPENSATION.test(heard) ? null : `${String(args.amount)} dollars, for which the customer did not ask`,
  );
  const membership = facts.users.get(user)?.membership;
  if (own.length === 0 || membership === undefined) return;
  const due = /^(silver|gold)$/.test(membership) || own.some(({ insured, cabin }) => insured || cabin === 'business');
  log.check(
    'compensation_not_due',
    place,
    due ? null : `${user} is a ${membership} member without insurance and flies ${own[0]!.cabin.replace('_', ' ')}`,
  );
  const [delayed, cancelled] = [/\bdelay/i.test(heard), /\bcancel/i.test(heard)];
  const each = delayed === cancelled ? [100, 50] : [delayed ? 50 : 100];
  const amounts = own.flatMap(({ passengers }) => each.map((dollars) => dollars * passengers));
  log.check(
    'compensation_amount',
    place,
    amounts.includes(Number(args.amount))
      ? null
      : `${String(args.amount)} dollars; by the passengers of what was shown it is ${[...new Set(amounts)].join(' or ')}`,
  );
}

const OFFERS =
  /\b(offer|provide|give|issue|send)\w*\b[^.?!\n]{0,60}\b(certificate|voucher|compensation|gesture of goodwill|goodwill gesture)\b/i;

/** An offer of compensation for which the customer did not ask. */
function checkOffer(log: RuleLog, text: string, heard: string, place: number): void {
  const offer = sentences(readable(text)).find(
    (sentence) => OFFERS.test(sentence) && !refuses(sentence) && !/\bpay(ment)?\b/i.test(sentence),
  );
  if (offer !== undefined) log.check('compensation_not_asked', place, ASKS_COMPENSATION.test(heard) ? null : `said ${short(offer)}`);
}
