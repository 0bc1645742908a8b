/** @file How a text names a payment method: by id, kind, brand and last digits, or as the original one. */
import type { Detail, Heard } from '../../../agent/audit-rules.ts';
import { isChoice, type Mention } from './patterns.ts';
import type { ShopRecords } from './records.ts';

const METHOD =
  /\b(?:credit_card|gift_card|paypal)_\d+\b|\bgift[ _-]?cards?\b|\bpay[ -]?pal\b|\b(?:credit|debit)[ _-]?cards?\b|\bvisa\b|\bmaster ?card\b|\bamex\b|\bamerican express\b|\b(?:your|the|my) cards?\b|\bcards? (?=ending|with|\(|\*|x{2,}|on file)|\b(?:payment )?method (?:that )?(?:you )?(?:used|on file)\b|\b(?:original|same|initial) (?:form of )?(?:payment|method|card|account|way)(?: method| of payment)?\b|\bhow you (?:originally )?paid\b/gi;
/** Digits right after a method: `ending in 1234`, `(1234)`, `****1234`. */
const DIGITS =
  /^[^.;,\n\d]{0,25}?(?:ending (?:in|with)|ends in|ending|last four(?: digits)?|number|\(|\*+|x{2,}|#|id:?)[^\w\n$]{0,4}(?:in )?(?:[a-z_]+_)?(\d{4,8})\b|^ (\d{4,8})\b/i;
/** Words before a method that is not the one of the write. */
const NOT_THIS =
  /\b(from|instead of|rather than|not|originally|currently|current|existing|old|previous|was|were|(?<!\bbe )paid (?:with|via|by|using|through|on)|originally (?:used|paid with))(?: payment| method| payment method)?(?: is| was)?:?\s*(?:(?:your|the|a|my|via|with|to|on|by|using)\s+){0,2}\(?$/i;

interface Method {
  kind: string;
  digits: string;
  id: string;
}

const kindOf = (said: string): string => {
  const word = said.toLowerCase();
  if (/gift/.test(word)) return 'gift_card';
  if (/pal/.test(word)) return 'paypal';
  if (/original|same|initial|how you|method/.test(word)) return 'original';
  if (/visa/.test(word)) return 'visa';
  if (/master/.test(word)) return 'mastercard';
  return 'credit_card';
};

const isCard = (said: string): boolean => ['credit_card', 'visa', 'mastercard'].includes(kindOf(said));

/** Words before the method that the write is about: `paid with PayPal`, `refund to the gift card`. */
const TARGET = /\b(?:with|to|using|on|onto|via) (?:(?:your|the|a) )?$/i;

/** Words before the method that gets the old payment back. */
const PAID_BACK = /\b(refund|credited back|returned to|back to)[^.\n]{0,80}$/i;

const GETS_BACK = /^[^.\n]{0,30}\b(?:will be|would be|gets?|is|are|be) (?:fully )?(?:refund|credited)/i;

/** @param paidBack whether a method that gets a refund is not the one of the write */
function methodsIn(text: string, paidBack: boolean): (Mention<string> & Method & { aside: boolean; target: boolean })[] {
  const all = [...text.matchAll(METHOD)];
  return all.map(({ 0: said, index }, i) => {
    const to = index + said.length;
    // Digits after another kind of method are not of this one. A “Visa credit card” is one method.
    const end = all.slice(i + 1).find((next) => !(isCard(said) && isCard(next[0])))?.index;
    const id = /_\d+$/.test(said) ? said.toLowerCase() : '';
    const after = DIGITS.exec(text.slice(to, Math.min(to + 60, end ?? Infinity)));
    const digits = id ? '' : (after?.[1] ?? after?.[2] ?? '');
    return {
      value: id || `${kindOf(said)} ${digits}`,
      from: index,
      to,
      id,
      digits,
      kind: kindOf(said),
      target: TARGET.test(text.slice(Math.max(0, index - 20), index)),
      aside:
        NOT_THIS.test(text.slice(Math.max(0, index - 50), index)) ||
        (paidBack && (PAID_BACK.test(text.slice(Math.max(0, index - 100), index)) || GETS_BACK.test(text.slice(to, to + 60)))),
    };
  });
}

/** Whether a mention fits a method of the customer. */
function fitting(id: string, original: string, records: ShopRecords): (said: Method) => boolean {
  const kind = /^(credit_card|gift_card|paypal)/.exec(id)?.[0] ?? id;
  const { brand = '', last_four = '' } = records.methods.get(id) ?? {};
  return (said) => {
    if (said.id) return said.id === id;
    if (said.kind === 'original') return original === '' || original === id;
    const isKind =
      said.kind === kind ||
      (kind === 'credit_card' && (brand === '' ? /visa|mastercard/.test(said.kind) : said.kind === brand.toLowerCase()));
    if (!isKind || said.digits === '') return isKind;
    return id.endsWith(said.digits) || (last_four === '' ? kind === 'credit_card' : last_four === said.digits);
  };
}

/** @param paidBack as in `methodsIn`: the write changes the payment, so a text that names two methods does not mean the original one */
export function paymentDetail(id: string, orderId: string, records: ShopRecords, paidBack: boolean): Detail {
  const original = records.orders.get(orderId)?.payment ?? '';
  const fits = fitting(id, original, records);
  const isOld = paidBack && original !== id ? fitting(original, original, records) : () => false;
  return {
    name: `the payment method ${id}`,
    heard(text): Heard {
      const found = methodsIn(text, paidBack);
      const others = found.filter((said) => fits(said) || !isOld(said));
      const all = others.length > 0 ? others : found;
      const targets = all.filter(({ aside }) => !aside);
      // `with the gift card or PayPal`: the word before the first method belongs to both.
      const marked = targets.filter(({ target }, i) => target || (targets[i - 1]?.target && isChoice(text, targets.slice(i - 1, i + 1))));
      const mentions = marked.length > 0 ? marked : targets.length > 0 ? targets : all;
      if (mentions.length === 0) return text.includes(id) ? 'named' : 'absent';
      if (!mentions.some(fits)) return 'other';
      return isChoice(text, mentions) && !mentions.every(fits) ? 'absent' : 'named';
    },
  };
}
