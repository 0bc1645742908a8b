/** @file Communication of the phone provider: amounts, prices and statuses must be true, and the customer must learn what to do next. */
import type { RuleName } from '../../../agent/layers/rule-names.ts';
import { checkClaims, checkHandovers, checkRefusals, checkReports, COMMUNICATION, isDuty } from '../../../agent/layers/communication.ts';
import { amountsIn, dollars, sameAmount } from '../../../agent/layers/communication-money.ts';
import { recordsIn, textOf } from '../../../agent/layers/readings.ts';
import { checkPromises } from '../../../agent/layers/communication-promises.ts';
import { checkQuestions } from '../../../agent/layers/communication-questions.ts';
import { RuleLog } from '../../../agent/layers/rule-log.ts';
import { type Made, numbersIn, type Said, Talk } from '../../../agent/layers/talk.ts';
import type { LayerCheck } from '../../../agent/layers.ts';
import { sentences } from '../../../agent/sentences.ts';
import { ACTS, showsDone, thingsIn, TRANSFERS } from './acts.ts';
import { ASKED } from './asked.ts';
import { checkUsage } from './usage.ts';

const RULES = {
  ...COMMUNICATION,
  amount: { must: [/\bamount due\b/] },
  price: {
    must: [/\b(?:prices?|costs?|charged?)\b/, /\bconfirm|\bconsent|\bdata\b|\bgb\b|\brefuel/],
    may: [/\bdata/, /\bconfirm the price/],
  },
  restart: { must: [/\b(reboot|restart)/, /\b(resum|suspen|reactivat|lift|then\b|after)/], may: [/\bresum/] },
  payment_steps: { must: [/\bpayment request/, /\bcheck\b/] },
  false_paid: { must: [/\bpaid\b/, /\bstatus\b|\bcheck that\b/], may: [/\bbefore informing\b/] },
};

export const communication: LayerCheck = (conversation) => {
  const { policy } = conversation;
  const talk = new Talk(conversation);
  const log = new RuleLog(policy, { rules: RULES, own: '' });
  checkClaims(talk, log, { acts: ACTS, transfers: TRANSFERS, things: thingsIn, shows: showsDone });
  if (isDuty(policy, log, 'not_reported')) checkReports(talk, log, ACTS);
  checkRefusals(talk, log);
  checkHandovers(talk, policy, log, { acts: ACTS, transfers: TRANSFERS });
  checkPromises(talk, log, { acts: ACTS, transfers: TRANSFERS });
  checkQuestions(talk, log, ASKED, TRANSFERS);
  for (const write of talk.writes) checkWrite(write, talk, log, policy);
  for (const message of talk.said) {
    checkAmounts(message, talk, log, policy);
    checkStatus(message, talk, log);
    checkUsage(message, talk, log);
  }
  return log.layer();
};

function checkWrite(write: Made, talk: Talk, log: RuleLog, policy: string | null): void {
  const before = talk.saidIn(-1, write.place);
  const after = talk.saidIn(write.place);
  const text = (said: readonly Said[]) => said.map((message) => message.text).join('\n');
  const duty = (rule: RuleName, kept: boolean, detail: string) => {
    if (isDuty(policy, log, rule)) log.check(rule, write.place, kept ? null : detail);
  };
  if (write.name === 'send_payment_request') {
    const due = [...shownBefore(talk, talk.end)].find(({ bill_id }) => bill_id === write.args.bill_id)?.total_due;
    if (typeof due === 'number')
      duty(
        'amount',
        amountsIn(text([...before, ...after])).some((said) => sameAmount(said, due)),
        `did not say that ${dollars(due)} are due`,
      );
    if (!talk.isCut(write))
      duty(
        'payment_steps',
        /check_payment_request|make_payment|\b(?:payment )?request\b|\b(?:pay|payment|accept|approve)\b/i.test(text(after)),
        'did not say what to do with the payment request',
      );
  }
  if (write.name === 'refuel_data') checkData(write, before, after, talk, log, duty);
  if (write.name === 'resume_line' && !talk.isCut(write))
    duty(
      'restart',
      /\breboot|\brestart|\bpower (?:cycle|off)|(?:turn|switch|power)\w* (?:\w+ ){0,3}off/i.test(text(after)),
      'did not say that the phone must be restarted',
    );
}

/** A suspended line costs this much a month. */
const HOLDING_FEE = 5;

const GIGABYTES = /(?<![\d.])(\d{1,4}(?:\.\d{1,3})?) ?(?:gb|gigabytes?)\b/gi;

function checkData(
  write: Made,
  before: readonly Said[],
  after: readonly Said[],
  talk: Talk,
  log: RuleLog,
  duty: (rule: RuleName, kept: boolean, detail: string) => void,
): void {
  const amount = Number(write.args.gb_amount);
  const perGb = [...shownBefore(talk, talk.end)]
    .map(({ data_refueling_price_per_gb: price }) => price)
    .filter((price): price is number => typeof price === 'number');
  const money = before.flatMap(({ text }) => amountsIn(text));
  const isRight = (value: { value: number; rough: boolean }) =>
    perGb.some((price) => sameAmount(value, price) || sameAmount(value, price * amount));
  duty(
    'price',
    money.some((said) => perGb.length === 0 || isRight(said)),
    'did not say the price of the data before it was added',
  );
  for (const { place, text } of after)
    for (const sentence of sentences(text)) {
      const gigabytes = [...sentence.matchAll(GIGABYTES)].map(([, value]) => Number(value));
      if (gigabytes.length !== 1 || !/\b(?:added|refueled|topped up|applied)\b/i.test(sentence)) continue;
      const all = talk.writes
        .filter(({ name, place: made }) => name === 'refuel_data' && made < place)
        .map(({ args }) => Number(args.gb_amount));
      log.check(
        'wrong_amount',
        place,
        all.includes(gigabytes[0]!) ? null : `said that ${gigabytes[0]} GB were added; it were ${amount} GB`,
      );
    }
}

function* shownBefore(talk: Talk, place: number) {
  for (const call of talk.callsIn(-1, place)) if (!call.failed) yield* recordsIn(call.value);
}

/** Amounts of money that no result explains. */
function checkAmounts({ place, text }: Said, talk: Talk, log: RuleLog, policy: string | null): void {
  const found = amountsIn(text);
  if (found.length === 0) return;
  const calls = talk.calls.filter(({ failed }) => !failed);
  const numbers = [...new Set(calls.flatMap(({ value, name }) => [...numbersIn(value), ...(name === 'calculate' ? [Number(value)] : [])]))];
  const printed = calls.flatMap(({ value }) => [...recordsIn(value)].flatMap((record) => Object.values(record))).map(Number);
  const bills = [...shownBefore(talk, talk.end)].flatMap(({ total_due }) => (typeof total_due === 'number' ? [total_due] : []));
  const perGb = [...shownBefore(talk, talk.end)].flatMap(({ data_refueling_price_per_gb: price }) =>
    typeof price === 'number' ? [price] : [],
  );
  const heard = talk
    .heardIn(-1, place)
    .map((message) => message.text)
    .join('\n');
  const gigabytes = [
    ...`${heard}\n${talk
      .saidIn(-1, place + 1)
      .map((said) => said.text)
      .join('\n')}`.matchAll(GIGABYTES),
  ].map(([, value]) => Number(value));
  const sent = talk
    .callsIn(-1, place)
    .filter(({ name, write }) => write && name === 'send_payment_request')
    .map(({ args }) => args.bill_id);
  for (const amount of found) {
    const quoted = [...`${heard}\n${policy ?? ''}`.matchAll(/\d+(?:\.\d+)?/g)].some(([number]) => Number(number) === amount.value);
    const sums = [
      ...numbers,
      ...printed,
      ...(/\bsuspen|\bmonth|\bhold/i.test(amount.sentence) ? [HOLDING_FEE] : []),
      ...bills.flatMap((a, i) => bills.slice(i + 1).map((b) => a + b)),
      ...perGb.flatMap((price) => gigabytes.map((gb) => price * gb)),
    ];
    const known = quoted || amount.value === 0 || sums.some((value) => sameAmount(amount, value));
    const bill = thingsIn(amount.sentence).filter((id) => id.startsWith('B'));
    const due =
      bill.length === 1 && found.filter(({ sentence }) => sentence === amount.sentence).length === 1
        ? [...shownBefore(talk, talk.end)].find(({ bill_id }) => bill_id === bill[0])?.total_due
        : undefined;
    const wrong =
      typeof due === 'number' && !sameAmount(amount, due) ? `said ${dollars(amount.value)}; ${dollars(due)} are due for ${bill[0]}` : null;
    const asked = wrong ?? requested(amount, sent, talk);
    log.check('wrong_amount', place, asked ?? (known ? null : `said ${dollars(amount.value)}, which no result explains`));
  }
}

/** A payment request for another amount than that of the bill. */
function requested(
  { sentence, value, rough }: { sentence: string; value: number; rough: boolean },
  bills: readonly unknown[],
  talk: Talk,
): string | null {
  if (bills.length === 0 || !/\bpayment request\b/i.test(sentence)) return null;
  const due = [...shownBefore(talk, talk.end)].flatMap(({ bill_id, total_due }) =>
    bills.includes(bill_id ?? null) && typeof total_due === 'number' ? [total_due] : [],
  );
  return due.length === 0 || due.some((amount) => sameAmount({ value, rough }, amount))
    ? null
    : `said a payment request of ${dollars(value)}; ${dollars(due[0]!)} are due`;
}

const PAID = new RegExp(
  [
    String.raw`\b(?:bill|invoice|balance|amount|everything|all|it|that|B\d{3,9})\b[^.?!\n]{0,40}\b(?:has been|is|was|are)(?: now| all| successfully| already| fully| completely)* (?:paid|settled|cleared|covered)\b`,
    String.raw`\bpayment\b[^.?!\n]{0,30}\b(?:has been|was|is|has|have)(?: now| successfully| already)* (?:received|successful|processed|confirmed|completed|arrived|in|through|here|registered|booked|gone through|come in|complete)\b`,
    String.raw`\bpayment\b[^.?!\n]{0,30}\b(?:went through|came (?:in|through)|arrived|succeeded|worked)\b`,
    String.raw`\b(?:i|we)(?:'ve| have| can)?(?: now| just)* (?:see|got|received|have|confirmed?)(?: now)? (?:your|the) (?:\w+ )?payment\b(?! (?:request|method|is|has|still))`,
    String.raw`\bpayment (?:received|confirmed|complete|successful|in)\b`,
    String.raw`^\W*(?:(?:great|good|ok|okay|perfect|thanks?|thank you|wonderful)\W+)?(?:all )?(?:paid|settled)\b`,
    String.raw`\b(?:nothing|no (?:amount|bill|balance)) (?:is |more is |else is )?(?:due|open|owed|outstanding|overdue)\b|\bno longer (?:overdue|due|open|outstanding)\b|\bpaid in full\b|\byou (?:are|have) (?:all )?(?:paid|settled) up\b`,
  ].join('|'),
  'i',
);
/** Waits for the payment. */
const NOT_PAID =
  /\?|\b(?:once|after|when|if|until|unless|not|n't|before|please|let me|as soon as|will|would|should|awaits?|awaiting|waiting|pending|still|yet|can be|to be|must|may|whether)\b/i;

/** Says that a bill is paid, although the last look showed otherwise. */
function checkStatus({ place, text }: Said, talk: Talk, log: RuleLog): void {
  for (const sentence of sentences(text).filter((part) => PAID.test(part) && !NOT_PAID.test(part))) {
    const shown = [...shownBefore(talk, place)].filter(({ bill_id, status }) => typeof bill_id === 'string' && typeof status === 'string');
    const sent = talk
      .callsIn(-1, place)
      .filter(({ name, write }) => write && name === 'send_payment_request')
      .map(({ args }) => textOf(args.bill_id));
    const [named] = thingsIn(sentence).filter((id) => id.startsWith('B'));
    const bill = named ?? sent.at(-1);
    if (bill === undefined) continue;
    const last = shown.findLast(({ bill_id }) => bill_id === bill);
    const paid = last?.status === 'Paid';
    log.check(
      'false_paid',
      place,
      paid ? null : `said that bill ${bill} is paid; the last look showed ${textOf(last?.status) || 'nothing'}`,
    );
  }
}
