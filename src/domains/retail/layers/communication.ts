/** @file Communication in the shop: amounts, refunds, statuses and ids must be as the tools showed them, and must be told. */
import type { RuleName } from '../../../agent/layers/rule-names.ts';
import { checkClaims, checkHandovers, checkRefusals, checkReports, COMMUNICATION, isDuty } from '../../../agent/layers/communication.ts';
import { type Amount, amountsIn, dollars, sameAmount } from '../../../agent/layers/communication-money.ts';
import { checkRefundTime, REFUND_RULE, saysTime } from '../../../agent/layers/communication-refunds.ts';
import { recordsIn, textOf } from '../../../agent/layers/readings.ts';
import { checkPromises } from '../../../agent/layers/communication-promises.ts';
import { checkQuestions } from '../../../agent/layers/communication-questions.ts';
import { RuleLog } from '../../../agent/layers/rule-log.ts';
import { type Made, type Said, Talk } from '../../../agent/layers/talk.ts';
import type { LayerCheck } from '../../../agent/layers.ts';
import { sentences } from '../../../agent/sentences.ts';
import { ACTS, ordersIn, showsDone, TRANSFERS } from './acts.ts';
import { ASKED } from './asked.ts';
import { ShopFacts, type ShownOrder } from './money.ts';
import { checkOrders, DIFFERENCE, REFUND } from './orders.ts';
import { checkVariants } from './variants.ts';

const RULES = {
  ...COMMUNICATION,
  refund_time: { must: REFUND_RULE, may: [/cancel/] },
  refund_method: { must: [/\brefund/, /\b(original )?payment method/], may: [/cancel|return/] },
  email: { must: [/\be-?mail\b/, /\breturn/], may: [/receive/] },
  difference: {
    must: [/\bprice difference\b|\bdifference in price\b|\b(?:list|state)\w*\b.*\bdetails\b/],
    may: [/\bpay\b/, /\bdifference\b/],
  },
};

export const communication: LayerCheck = (conversation) => {
  const { policy } = conversation;
  const talk = new Talk(conversation);
  const log = new RuleLog(policy, { rules: RULES, own: '' });
  const facts = new ShopFacts(talk);
  checkClaims(talk, log, { acts: ACTS, transfers: TRANSFERS, things: ordersIn, shows: showsDone });
  checkReports(talk, log, ACTS);
  checkRefusals(talk, log);
  checkHandovers(talk, policy, log, { acts: ACTS, transfers: TRANSFERS });
  checkPromises(talk, log, { acts: ACTS, transfers: TRANSFERS });
  checkQuestions(talk, log, ASKED, TRANSFERS);
  const judged = new Set<Amount['sentence']>();
  for (const write of talk.calls.filter(({ write, name }) => write || /exchange|modify_pending_order_items/.test(name)))
    checkWrite(write, talk, facts, log, policy, judged);
  for (const message of talk.said) {
    checkOrders(message, talk, facts, log, judged);
    checkAmounts(message, talk, facts, log, policy, judged);
  }
  return log.layer();
};

/** What the agent said about a write. Messages about other orders are left out. */
function about(write: Made, talk: Talk): Said[] {
  const id = textOf(write.args.order_id);
  const { from, to } = talk.turnOf(write);
  return talk.saidIn(from, to).filter(({ text }) => {
    const orders = ordersIn(text);
    return orders.length === 0 || orders.includes(id);
  });
}

/** The messages whose amounts are about this write: the last proposal and the report. Left out: sentences about several writes. */
function recent(write: Made, talk: Talk): Said[] {
  const id = textOf(write.args.order_id);
  const alone = talk.writesBeside(write).length < 2;
  const since = talk.lastHeard(talk.lastHeard(write.place));
  const own = about(write, talk).filter(({ place }) => place > since);
  return alone
    ? own
    : own.map(({ place, text }) => ({
        place,
        text: sentences(text)
          .filter((part) => ordersIn(part).join() === id)
          .join('\n'),
      }));
}

/** An email of the shop, not that of the account. */
const EMAIL_COMES = /\be-?mail(?:ed|s)?\b(?!\S*@)|\binbox\b|\b(?:by|via|a) mail\b/i;
const OWN_EMAIL =
  /\b(?:your|the|an) (?:e-?mail(?: address)?)\b(?=[^.?!]{0,40}(?:\?|\b(?:account|on file|verify|please)\b))|\be-?mail address of\b|\b(?:need|provide|verify|confirm|find you)\b.{0,40}\be-?mail\b/i;

/** Says where a refund goes. */
const WHERE =
  /\b(?:original|same) (?:form of )?(?:payment|method|card|account|way|source)\b|\bgift ?cards?\b|\bpay ?pal\b|\bcards?\b|\b(?:visa|master ?card|amex|american express|discover)\b|\bpayment method|\b(?:to|on|in) your (?:\w+ )?account\b|\b(?:how|as|the way|where|what|whatever) (?:you|it was|it were|it had been) (?:had )?paid\b|\bcame from\b/i;

/** The last digits of the cards that the tools showed. */
const lastFours = (talk: Talk): string[] =>
  talk.calls.flatMap(({ value }) => [...recordsIn(value)].flatMap(({ last_four }) => textOf(last_four) || []));

function checkWrite(write: Made, talk: Talk, facts: ShopFacts, log: RuleLog, policy: string | null, judged: Set<string>): void {
  const order = facts.orders.get(textOf(write.args.order_id));
  const said = about(write, talk);
  const text = said.map((message) => message.text).join('\n');
  const duty = (rule: RuleName, kept: boolean, detail: string, states = rule) => {
    if (!talk.isCut(write) && isDuty(policy, log, states)) log.check(rule, write.place, kept ? null : detail);
  };
  const close = recent(write, talk);
  if (/exchange|modify_pending_order_items/.test(write.name)) {
    if (write.write)
      checkVariants(
        write,
        close.filter(({ place }) => place > write.place),
        talk,
        log,
      );
    return checkDifference(write, said, talk, facts, log, policy, judged);
  }
  const method = write.name === 'cancel_pending_order' ? order?.methods : [textOf(write.args.payment_method_id)];
  if (write.name === 'cancel_pending_order' && order && method && method.length > 0) {
    duty('refund_time', saysTime(text), 'did not say when the refund comes');
    duty(
      'refund_method',
      WHERE.test(text) || lastFours(talk).some((digits) => text.includes(digits)),
      'did not say where the refund goes',
      'refund_time',
    );
    checkRefund(close, facts.total(order), method, order, log, judged);
    checkRefundTime(
      close,
      method.every((id) => id.startsWith('gift_card')),
      log,
    );
  }
  if (write.name === 'return_delivered_order_items') {
    duty('refund_method', /refund|credited/i.test(text) || WHERE.test(text), 'did not say where the refund goes');
    duty(
      'email',
      sentences(text).some((sentence) => EMAIL_COMES.test(sentence) && !OWN_EMAIL.test(sentence)),
      'did not say that an email explains the return',
    );
    if (order) checkRefund(close, facts.worth(write.args), method ?? [], order, log, judged);
  }
}

const MONEY_MOVES = /\b(?:refund\w*|credit(?:ed)?|charge[ds]?|pay(?:ment|ing)?|owe|due|differen\w+|additional|extra|back)\b/i;
const PAYS = /\b(?:you (?:will |'ll |would )?(?:need to |have to )?(?:pay|owe)|charged?|additional|extra|due)\b/i;
const GETS = /\b(?:refund\w*|credited|get back|receive)\b/i;

function checkDifference(
  write: Made,
  all: readonly Said[],
  talk: Talk,
  facts: ShopFacts,
  log: RuleLog,
  policy: string | null,
  judged: Set<string>,
): void {
  const difference = facts.difference(write);
  if (difference === undefined) return;
  const said = all.filter(({ place }) => place < write.place);
  const isTrue = (amount: Amount) => sameAmount(amount, difference);
  const named = said.flatMap(({ place, text }) => amountsIn(text).map((amount) => ({ ...amount, place })));
  const right =
    named.some(isTrue) ||
    (Math.abs(difference) < 0.005 &&
      said.some(({ text }) => /\bno (?:price )?(?:difference|additional|extra)|\bsame price|\beven exchange|\bno charge/i.test(text)));
  const last = talk.saidIn(talk.lastHeard(talk.lastHeard(write.place)), write.place);
  const wrong = named.find(
    (amount) =>
      last.some(({ place }) => place === amount.place) &&
      DIFFERENCE.test(amount.sentence) &&
      amountsIn(amount.sentence).length === 1 &&
      !isTrue(amount) &&
      !isPart(amount, write, facts),
  );
  if (wrong) {
    judged.add(wrong.sentence);
    log.check('wrong_amount', wrong.place, `said ${dollars(wrong.value)}; the price difference is ${dollars(difference)}`);
  } else {
    if (write.write && isDuty(policy, log, 'difference'))
      log.check('difference', write.place, right ? null : `did not say the price difference of ${dollars(difference)} before the write`);
    const turned = named.find(
      (amount) =>
        isTrue(amount) && Math.abs(difference) >= 0.005 && MONEY_MOVES.test(amount.sentence) && isTurned(amount.sentence, difference),
    );
    log.check(
      'wrong_amount',
      turned?.place ?? write.place,
      turned ? `said “${turned.sentence}”; the customer ${difference > 0 ? 'pays' : 'gets'} the difference` : null,
    );
  }
}

/** The sentence says that the customer pays what the customer gets, or the other way. */
const isTurned = (sentence: string, difference: number): boolean =>
  !/\bor\b/i.test(sentence) &&
  (difference > 0
    ? GETS.test(sentence) && !PAYS.test(sentence)
    : PAYS.test(sentence) && !GETS.test(sentence) && !/\b(?:less|cheaper|back|lower)\b|-\s?\$|\$-/i.test(sentence));

/** The difference of one item of the write, or a price. */
const isPart = (amount: Amount, { args }: Made, facts: ShopFacts): boolean => {
  const [old, fresh] = [args.item_ids, args.new_item_ids] as string[][];
  return old!.some(
    (id, i) =>
      old!.length > 1 &&
      sameAmount(amount, facts.difference({ args: { ...args, item_ids: [id], new_item_ids: [fresh![i]!] } }) ?? Infinity),
  );
};

const KINDS: [RegExp, RegExp][] = [
  [/\bgift[ _]?card/i, /^gift_card/],
  [/\bpay ?pal/i, /^paypal/],
  [/\b(?:credit|debit)[ _]card|\bvisa\b|\bmaster ?card\b/i, /^credit_card/],
];

/** The amount and the target of a refund, where the agent names them. */
function checkRefund(
  said: readonly Said[],
  amount: number | undefined,
  methods: readonly string[],
  order: ShownOrder,
  log: RuleLog,
  judged: Set<string>,
): void {
  for (const { place, text } of said)
    for (const sentence of sentences(text).filter((part) => REFUND.test(part))) {
      const [first, ...more] = amountsIn(sentence);
      if (first && more.length === 0 && amount !== undefined) {
        const named = order.items.some(
          ({ name, price }) => sameAmount(first, price) && sentence.toLowerCase().includes(name.toLowerCase()),
        );
        judged.add(sentence);
        log.check(
          'wrong_amount',
          place,
          sameAmount(first, amount) || named ? null : `said a refund of ${dollars(first.value)}; it is ${dollars(amount)}`,
        );
      }
      const kinds = KINDS.filter(([words]) => words.test(sentence));
      if (
        kinds.length !== 1 ||
        methods.length === 0 ||
        sentence.includes('?') ||
        /\bor\b|\boriginal|\bif\b|\bonly\b|\bcan('t|not)?\b/i.test(sentence)
      )
        continue;
      log.check(
        'wrong_refund_method',
        place,
        methods.some((id) => kinds[0]![1].test(id)) ? null : `said “${sentence}”; the refund goes to ${methods.join(' and ')}`,
      );
    }
}

/** Amounts that no result explains. */
function checkAmounts(
  { place, text }: Said,
  talk: Talk,
  facts: ShopFacts,
  log: RuleLog,
  policy: string | null,
  judged: ReadonlySet<string>,
): void {
  const heard = talk
    .heardIn(-1, place)
    .map((message) => message.text)
    .join('\n');
  for (const amount of amountsIn(text)) {
    if (judged.has(amount.sentence)) continue;
    const quoted = numberIn(heard, amount.value) || numberIn(policy ?? '', amount.value) || amount.value === 0;
    const known = quoted || facts.explains(amount.value, amount.rough);
    log.check('wrong_amount', place, known ? null : `said ${dollars(amount.value)}, which no result explains`);
  }
}

const numberIn = (text: string, value: number): boolean =>
  [...text.matchAll(/\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?/g)].some(([number]) => Number(number.replaceAll(',', '')) === value);
