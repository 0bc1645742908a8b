/**
 * @file Finds by keywords what a message of the agent asks for or claims. The agent can be a language model, a set of rules,
 * or a model that has just started to learn. Nothing here depends on the number of the turn.
 */
import { escapeRegExp } from '../../../base/escape-reg-exp.ts';
import type { UserScenario, Wish } from '../../../records/task.ts';
import type { Intent, ShopRequest } from '../schema.ts';
import type { Fact } from './speech.ts';

/** What a customer asks for. */
export type Request = Pick<Wish, 'intent' | 'slots' | 'words'>;
/** A wish and a scenario of a domain with the requests `R`. */
export type WishFor<R> = R & { impossible: boolean; insteadOf?: R };
export type ScenarioFor<R> = Omit<UserScenario, 'wishes'> & { wishes: WishFor<R>[] };

/** How a customer understands the agent in a domain. `R`: the requests of the domain. */
export interface Understanding<R> {
  listen(text: string): Heard;
  /** Whether a proposal of the agent fits the request, and nothing in it contradicts the request. */
  matches(text: string, request: R): boolean;
  /** Whether a text of the agent proposes to do something. */
  proposes(text: string): boolean;
  /** The ids that a text names, of things such as orders. */
  ids(text: string): string[];
  /** The id of the thing that the request is about. */
  idOf(request: R): string | undefined;
  /** The name of the fact that is the thing's id. */
  thing: string;
}

export interface Heard {
  /** Whether the message asks for a yes or no. */
  confirm: boolean;
  /** `claims` are the sentences in which the agent claims to have done something. `rest` are all other sentences. */
  claims: string;
  rest: string;
  asksEmail: boolean;
  /** Whether the message asks for the name or zip code. */
  asksName: boolean;
  /** The facts of a request that the message asks for. */
  facts: ReadonlySet<string>;
  /** Whether the message asks if the customer wants anything else, or how the agent can help. */
  open: boolean;
  /** Whether the agent claims to have done something. */
  done: boolean;
  refused: boolean;
  transferred: boolean;
}

const ORDER_ID = /#?\bw\d{4,}\b/gi;
const NAMED_ORDER = /(\border )?#?\bw\d{4,}\b/gi;
const ASKING = /\?|\b(please|provide|tell|give|share|need|specify|enter|state|send|let me know|what|which|why|how)\b/;
const CONFIRM =
  /\b(confirm|yes or no|yes\/no|proceed|go ahead|shall i|should i|do you want me to|would you like me to|(is|are) (that|this|these|it) (right|correct|ok|okay|fine)|say yes|reply yes|\(yes)\b|\bcorrect\?|\bok(ay)?\?|\(y\/n\)/;
const DONE =
  /\b(done|completed|all set|success|successful|successfully|processed)\b|\b(is|are|was|were|been|be|now|i|i've|have|has) (now |already |just )?(cancelled|canceled|returned|exchanged|changed|updated|modified|paid|requested|replaced|moved)\b|\b(return|exchange) (is |was |has been )?requested\b/;
const NOT_YET = /\b(will|would|can|could|to|if|once|before|shall|should|want me) (\w+ )?(be |have )/;
const REFUSED =
  /\b(cannot|can't|can not|couldn't|could not|unable|not able|won't|not (possible|allowed|permitted|eligible|yours|your order)|impossible|refuse|against (our|the) policy|no tool|not supported|only (pending|delivered))\b|\bnot found\b/;

const PAYMENT = /credit[ _]?card|visa|mastercard|pay ?pal|gift[ _]?card|original/;
/** Finds questions that ask the customer to choose among things named in earlier sentences. */
const CHOOSE = /\b(prefer|choose|which (one|ones|of)|would you (like|rather))\b/;

/** Whether a text asks to choose a payment, such as `to PayPal or to a gift card?`. A yes does not answer such a question. */
function asksToChoosePayment(said: string): boolean {
  const questions = said.split(/(?<=[.?!])/).filter((sentence) => sentence.endsWith('?'));
  return questions.some((question) => question.split(/\bor\b/).filter((part) => PAYMENT.test(part)).length > 1);
}

export function listen(text: string): Heard {
  const said = plain(text);
  const sentences = said.split(/(?<=[.!?])\s|\n/).flatMap((sentence) => sentence.trim() || []);
  const confirm = CONFIRM.test(said) && !asksToChoosePayment(said);
  const questions = sentences
    .filter((sentence) => ASKING.test(sentence))
    .join(' ')
    .replace(/e-?mail address/g, 'email');
  const elseAsked =
    /\b(anything|something|what) else\b|\bhow (can|may|could) i (help|assist)|\bwhat can i (do|help)|\bhelp you\b[^.]{0,200}\?|\bmore i can\b/.test(
      said,
    );
  const refused = REFUSED.test(said);
  let facts = new Set<Fact>();
  if (!confirm) facts = factsIn(questions);
  const asksEmail = !confirm && /\be-?mail\b/.test(questions);
  const asksName = !confirm && /\b(your|first|last|full) (\w+ )?name\b|\bname and zip\b|\bname\?|\bzip\b|\bpostal code\b/.test(questions);
  if (!confirm && !facts.size && !asksEmail && !asksName && !elseAsked && CHOOSE.test(questions)) facts = factsIn(said);
  const isClaim = (sentence: string) =>
    DONE.test(sentence) && !NOT_YET.test(sentence) && !/\bnot\b/.test(sentence) && !sentence.includes('?');
  const claims = sentences.filter(isClaim);
  return {
    confirm,
    claims: claims.join('\n'),
    rest: sentences.filter((sentence) => !isClaim(sentence)).join('\n'),
    asksEmail,
    asksName,
    facts,
    open: elseAsked,
    done: !confirm && !refused && claims.length > 0,
    refused: refused && !confirm,
    transferred: /\b(transferr?(ed|ing)?|human agent|hand(ed|ing)? (you )?over)\b/.test(said) && !confirm,
  };
}

/** The text in lower case, without Markdown emphasis. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/\*\*|`/g, '');
}

/** The facts of a request that a text mentions. If the text is a question, it asks for these facts. */
function factsIn(text: string): Set<Fact> {
  const facts = new Set<Fact>();
  const bare = text.replace(NAMED_ORDER, ' ');
  if (/\b(which|what|whose)( \w+)? orders?\b|\border\s*(id|number|no\b|#)|\borders?\s*\?|\border,/.test(bare)) facts.add('order');
  if (/\breasons?\b|\bwhy\b/.test(bare)) facts.add('reason');
  if (
    /\b(which|what|name|list|the)( \w+)? (items?|products?)\b|\bitems?( ids?)?\s*[?,]|\bwhich ones?\b.{0,200}\b(return|exchange|change|modify|replace)\b/.test(
      bare,
    )
  )
    facts.add('items');
  if (
    /\b(which|what)( \w+)? (options?|variants?|colou?r|size)\b|\bnew items?\b|\bexchange (it|them) for\b|\breplace\w* (with|by)\b|\bfor what\b|\bwhat instead\b/.test(
      bare,
    )
  )
    facts.add('new_items');
  if (/\bpayments?\b|\brefund(ed)?( \w+){0,3} to\b|\bpay\b|\b(which|what) (card|method)\b|\bprice difference\b/.test(bare))
    facts.add('payment');
  if (/\baddress\b/.test(bare)) facts.add('address');
  return facts;
}

/** Order ids in a text, in the form `#W1234567`. */
export function orderIds(text: string): string[] {
  return [...text.matchAll(ORDER_ID)].map(([id]) => `#${id.replace('#', '').toUpperCase()}`);
}

/** The verbs of a proposal, by its kind. A proposal that only lists facts may have no verb. */
const VERBS: Partial<Record<string, RegExp>> & Record<Intent, RegExp> = {
  cancel: /\bcancel/,
  return: /\breturn|\brefund/,
  exchange: /\bexchang/,
  modify_payment: /\bpay|\bcharge/,
  modify_items: /\b(item|chang|modif|replac|swap)/,
  modify_address: /\b(address|ship)/,
};
/** The verbs of all kinds of proposals. */
const OTHERS = /\bcancel|\breturn|\bexchang|\bpay\b|\bpayment of\b|\bcharge|\b(chang|modif|replac|swap)|\baddress/;
const KINDS = [/credit[ _]?card|\bvisa\b|\bmastercard\b/, /pay ?pal/, /gift[ _]?card/, /original/];

/** Whether a proposal of the agent fits the request: it names the request's order, and nothing in it contradicts the request. */
function matches(text: string, { intent, slots, words }: ShopRequest): boolean {
  const said = plain(text);
  const ids = orderIds(text);
  if (slots.order_id ? !ids.length || ids.some((id) => id !== slots.order_id) : ids.length > 0) return false;
  if (!VERBS[intent].test(said) && OTHERS.test(said)) return false;
  if (intent !== 'cancel' && VERBS.cancel.test(said)) return false;
  if (intent !== 'return' && intent !== 'exchange' && /\breturn/.test(said)) return false;
  if (slots.reason) {
    const [wanted, other] = slots.reason === 'ordered by mistake' ? [/mistake/, /no longer/] : [/no longer/, /mistake/];
    if (other.test(said) && !wanted.test(said)) return false;
  }
  const known: unknown[] = [slots.item_ids, slots.new_item_ids].flat();
  if ((said.match(/\b\d{10}\b/g) ?? []).some((id) => !known.includes(id))) return false;
  if (words.items && !/\b(all|both|every)\b/.test(said)) {
    const named = words.items.filter((item) => said.includes(item));
    if (named.length > 0 && named.length < words.items.length) return false;
    const list =
      /\breturn (.{1,300}?) (?:of|from|in) (?:your )?order\b/.exec(said)?.[1] ??
      /\bitems?(?: to return)?:[ \t]*(.+)/.exec(said)?.[1]?.replace(/\(.{0,200}?\)/g, '');
    if (intent === 'return' && list && list.split(/,| and /).some((part) => !/[:=$]/.test(part) && isForeign(part, words.items!)))
      return false;
  }
  if (words.new_items?.some((wanted) => contradicts(said, wanted))) return false;
  if (words.address) {
    const zips = said.replace(/\b\d{10}\b|w\d{4,}/g, ' ').match(/\b\d{5}\b/g) ?? [];
    if (zips.some((zip) => zip !== slots.zip)) return false;
  }
  return !slots.payment_method_id || paymentMatches(said, String(slots.payment_method_id), words.payment?.[0] ?? '');
}

/** Whether a text of the customer asks for an act of the kind `intent`. If `intent` is absent: for any act. */
export const requests = (text: string, intent?: string): boolean =>
  intent ? (VERBS[intent]?.test(plain(text)) ?? false) : orderIds(text).length > 0 || OTHERS.test(plain(text));

/** How customers of the shop understand the agent. */
export const SHOP: Understanding<ShopRequest> = {
  listen,
  matches,
  proposes: (text) => requests(text),
  ids: orderIds,
  idOf: ({ slots }) => slots.order_id as string | undefined,
  thing: 'order',
};

/** Whether an entry of a list names an item that the customer did not name. */
function isForeign(part: string, items: string[]): boolean {
  const name = part
    .replace(/\b(for|of|the|your|an?|it|them|this|these|following|selected|requested|items?|\d{10})\b|[^a-z -]/g, ' ')
    .trim();
  return name !== '' && !items.some((item) => item.includes(name) || name.includes(item));
}

/** Whether a text names another value for an option. For example, `color red` contradicts `color green`. */
function contradicts(said: string, wanted: string): boolean {
  const [option, ...value] = wanted.toLowerCase().split(' ');
  const mentioned = new RegExp(`\\b${escapeRegExp(option!)}[ :=]+\\S`).test(said);
  return mentioned && !said.replaceAll(/[:=]/g, ' ').replaceAll(/\s+/g, ' ').includes(value.join(' ').split(' and ')[0]!);
}

function paymentMatches(said: string, id: string, word: string): boolean {
  const ids: string[] = said.match(/\b(credit_card|paypal|gift_card)_\d+\b/g) ?? [];
  if (ids.length) return ids.includes(id);
  const right = [word.toLowerCase(), id.replace(/_\d+$/, '').replace('_', ' ')];
  if (word.startsWith('original')) right.push('original');
  const words = said.replaceAll('_', ' ');
  if (right.some((name) => name !== '' && words.includes(name))) return true;
  return !KINDS.some((kind) => kind.test(said));
}
