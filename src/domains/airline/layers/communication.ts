/** @file Communication in the airline: prices, refunds and compensation must be as the tools showed them, and must be told. */
import type { RuleName } from '../../../agent/layers/rule-names.ts';
import { isObject } from '../../../base/json.ts';
import { checkClaims, checkHandovers, checkRefusals, checkReports, COMMUNICATION, isDuty } from '../../../agent/layers/communication.ts';
import { type Amount, amountsIn, dollars, sameAmount } from '../../../agent/layers/communication-money.ts';
import { checkRefundTime, REFUND_RULE, saysTime } from '../../../agent/layers/communication-refunds.ts';
import { recordsIn, textOf } from '../../../agent/layers/readings.ts';
import { checkPromises } from '../../../agent/layers/communication-promises.ts';
import { checkQuestions } from '../../../agent/layers/communication-questions.ts';
import { RuleLog } from '../../../agent/layers/rule-log.ts';
import { type Made, numbersIn, type Said, Talk } from '../../../agent/layers/talk.ts';
import type { LayerCheck } from '../../../agent/layers.ts';
import type { Json } from '../../../records/json.ts';
import { ACTS, reservationsIn, showsDone, TRANSFERS } from './acts.ts';
import { ASKED } from './asked.ts';
import { checkFlightStatus } from './flight-status.ts';

const RULES = {
  ...COMMUNICATION,
  refund_time: { must: REFUND_RULE, may: [/original/] },
  price: {
    must: [/\b(?:list|state|say|tell|inform|mention|quote|give)\w*/, /\b(?:action|all|its|the) details\b|\b(?:price|costs?|fees?)\b/],
    may: [/\b(?:price|costs?)\b/, /\bbooking\b/],
  },
};

const BAG_FEE = 50;

export const communication: LayerCheck = (conversation) => {
  const { policy } = conversation;
  const talk = new Talk(conversation);
  const log = new RuleLog(policy, { rules: RULES, own: '' });
  checkClaims(talk, log, { acts: ACTS, transfers: TRANSFERS, things: reservationsIn, shows: showsDone });
  checkReports(talk, log, ACTS);
  checkRefusals(talk, log);
  checkHandovers(talk, policy, log, { acts: ACTS, transfers: TRANSFERS });
  checkPromises(talk, log, { acts: ACTS, transfers: TRANSFERS });
  checkQuestions(talk, log, ASKED, TRANSFERS);
  for (const write of talk.writes) checkWrite(write, talk, log, policy);
  checkIds(talk, log);
  for (const message of talk.said) checkFlightStatus(message, talk, log);
  return log.layer();
};

/** What the agent said about a write, before and after it. */
function about(write: Made, talk: Talk): { before: Said[]; after: Said[] } {
  const { from, to } = talk.turnOf(write);
  return { before: talk.saidIn(from, write.place), after: talk.saidIn(write.place, to) };
}

const payments = (value: Json | undefined): number[] =>
  (Array.isArray(value) ? value : []).flatMap((entry) => (isObject(entry) && typeof entry.amount === 'number' ? [entry.amount] : []));
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** The payments that a write added to the reservation: what the customer paid or got back. */
function charged(write: Made, talk: Talk): number[] | undefined {
  if (!isObject(write.value)) return undefined;
  const now = payments(write.value.payment_history as Json);
  const id = textOf(write.value.reservation_id);
  if (write.name === 'book_reservation') return now;
  const before = talk
    .callsIn(-1, write.place)
    .flatMap(({ value }) => [...recordsIn(value)].filter((record) => record.reservation_id === id && record.payment_history));
  const last = before.at(-1);
  return last ? now.slice(payments(last.payment_history).length) : undefined;
}

const TOTAL = /\b(?:total|altogether|in all|overall|sum|charged|paid)\b/i;
const DIFFERENCE = /\bdifferen(?:ce|tial)|\badditional (?:cost|charge|fare|amount|payment)|\bextra (?:cost|charge)|\bcharged\b/i;
/** Says what certificate the customer gets. */
const CERTIFICATE = /^(?!.*\bbalance\b)(?=.*\b(?:certificate|voucher)\b).*\b(?:sent|issued|added|worth|receive|credited)\b/i;
const PER_PERSON = /\b(?:per|each|every)\b/i;

function checkWrite(write: Made, talk: Talk, log: RuleLog, policy: string | null): void {
  // What is said about several writes of a turn cannot be told apart.
  const alone = talk.writesBeside(write).length === 1;
  const { before, after } = about(write, talk);
  const all = [...before, ...after];
  /** The last message with an amount. An answer to another question can follow it. */
  const offer = before.filter((message) => amountsIn(message.text).length > 0).slice(-1);
  const text = all.map((message) => message.text).join('\n');
  const duty = (rule: RuleName, kept: boolean, detail: string) => {
    if (!talk.isCut(write) && isDuty(policy, log, rule)) log.check(rule, write.place, kept ? null : detail);
  };
  if (write.name === 'cancel_reservation') {
    duty('refund_time', saysTime(text), 'did not say when the refund comes');
    checkRefundTime(all, false, log);
    const paid = isObject(write.value) ? payments(write.value.payment_history as Json).filter((amount) => amount > 0) : [];
    if (alone && paid.length > 0) checkTotals(after, (sentence) => /\brefund/i.test(sentence), [sum(paid), ...paid], log, 'the refund');
  }
  if (write.name === 'send_certificate') {
    const amount = Number(write.args.amount);
    const sent = talk.writes.filter(({ name }) => name === 'send_certificate').map(({ args }) => Number(args.amount));
    duty(
      'price',
      amountsIn(text).some((said) => sameAmount(said, amount)),
      `did not say the amount of ${dollars(amount)}`,
    );
    checkTotals(
      after,
      (sentence) => CERTIFICATE.test(sentence) && !PER_PERSON.test(sentence),
      [...new Set([amount, ...sent])],
      log,
      'the certificate',
    );
  }
  const paid = charged(write, talk);
  if (write.name === 'book_reservation' && paid) {
    const total = sum(paid);
    duty(
      'price',
      amountsIn(before.map((message) => message.text).join('\n')).some(
        (said) => sameAmount(said, total) || paid.some((part) => sameAmount(said, part)),
      ),
      `did not say the price of ${dollars(total)} before the booking`,
    );
    if (alone)
      checkTotals(
        [...offer, ...after],
        (sentence) => TOTAL.test(sentence) && !PER_PERSON.test(sentence),
        [total, ...paid, ...fares(write)],
        log,
        'the total',
      );
  }
  if (write.name === 'update_reservation_flights' && paid) {
    const difference = sum(paid);
    if (difference !== 0) duty('price', amountsIn(text).length > 0, `did not say the price difference of ${dollars(difference)}`);
    const people = isObject(write.value) && Array.isArray(write.value.passengers) ? write.value.passengers.length : 1;
    if (alone)
      checkTotals(
        [...offer, ...after],
        (sentence) => DIFFERENCE.test(sentence) && !PER_PERSON.test(sentence),
        [difference, difference / people],
        log,
        'the price difference',
      );
    // A list of details names the price and no word for it.
    const shown = talk.callsIn(-1, write.place).flatMap(({ value }) => [...numbersIn(value)]);
    if (alone)
      checkTotals(
        offer,
        (sentence) => !DIFFERENCE.test(sentence),
        [difference, difference / people, ...fares(write), ...shown, ...shown.map((price) => price * people)],
        log,
        'the price difference',
      );
  }
  if (write.name === 'update_reservation_baggages' && paid) {
    const fee = sum(paid);
    if (fee > 0)
      duty(
        'price',
        amountsIn(text).some((said) => sameAmount(said, fee) || sameAmount(said, BAG_FEE)),
        `did not say the fee of ${dollars(fee)}`,
      );
    checkBagPrices([...offer, ...after], log);
    if (alone)
      checkTotals(
        [...offer, ...after],
        (sentence) => !/\b(?:each|per|apiece)\b/i.test(sentence) && /\b(?:bags?|baggage|luggage|suitcase)\b/i.test(sentence),
        [fee, BAG_FEE],
        log,
        'the fee',
      );
  }
}

/** What one bag costs: `$50 each`, `each bag is $50`. */
function checkBagPrices(said: readonly Said[], log: RuleLog): void {
  for (const { place, text } of said)
    for (const amount of /\b(?:bags?|baggage|luggage|suitcases?)\b/i.test(text) ? amountsIn(text) : []) {
      const [before, after] = [amount.sentence.slice(0, amount.at), amount.sentence.slice(amount.at)];
      const isEach =
        /^\S+(?: (?:USD|dollars))?,?\s*(?:each|apiece|a bag|per\b(?! month)|for (?:each|every))/i.test(after) ||
        /\b(?:each|every|per) (?:\w+ ){0,2}(?:bag|suitcase|piece)\b[^$\d]{0,20}$/i.test(before);
      if (isEach)
        log.check(
          'wrong_amount',
          place,
          sameAmount(amount, BAG_FEE) ? null : `said ${dollars(amount.value)}; a bag costs ${dollars(BAG_FEE)}`,
        );
    }
}

/** The parts of a booking that an agent may call a total: the flights, the bags, the insurance. */
function fares({ value, args }: Made): number[] {
  if (!isObject(value) || !Array.isArray(value.flights)) return [];
  const people = Array.isArray(args.passengers) ? args.passengers.length : 1;
  const flights = (value.flights as Json[]).flatMap((flight) =>
    isObject(flight) && typeof flight.price === 'number' ? [flight.price] : [],
  );
  const fare = sum(flights);
  const [bags, insurance] = [BAG_FEE * Number(args.nonfree_baggages ?? 0), args.insurance === 'yes' ? 30 * people : 0];
  return [
    fare,
    fare * people,
    fare * people + bags,
    fare * people + insurance,
    bags,
    insurance,
    ...flights,
    ...flights.map((price) => price * people),
  ];
}

/** Sentences with one amount, which must be one of the true ones. */
function checkTotals(
  said: readonly Said[],
  isAbout: (sentence: string) => boolean,
  amounts: readonly number[],
  log: RuleLog,
  what: string,
): void {
  for (const { place, text } of said) {
    const found = amountsIn(text);
    const single = found.filter(
      (amount: Amount) => found.filter(({ sentence }) => sentence === amount.sentence).length === 1 && isAbout(amount.sentence),
    );
    // A list of options has several amounts.
    if (new Set(single.map(({ value }) => value)).size > 1) continue;
    for (const amount of single)
      log.check(
        'wrong_amount',
        place,
        amounts.some((value) => sameAmount(amount, value)) ? null : `said ${dollars(amount.value)}; ${what} is ${dollars(amounts[0]!)}`,
      );
  }
}

/** Reservations that nobody named before. */
function checkIds(talk: Talk, log: RuleLog): void {
  for (const { place, text } of talk.said) {
    const named = reservationsIn(text);
    if (named.length === 0) continue;
    const shown = talk
      .callsIn(-1, place)
      .map(({ value, args }) => JSON.stringify([value, args]))
      .join('\n');
    const heard = talk
      .heardIn(-1, place)
      .map((message) => message.text.toUpperCase())
      .join('\n');
    for (const id of named)
      log.check(
        'unknown_reservation',
        place,
        shown.includes(id) || heard.includes(id) ? null : `named the reservation ${id}, which nobody named before`,
      );
  }
}
