/** @file How messages about lines are understood at level `glimpse`: by its customers, and by the audit of customers. */
import type { UserScenario } from '../../../records/task.ts';
import type { CustomerLanguage } from '../../../users/types.ts';
import { shopLanguage } from '../../retail/customer/language.ts';
import { listen as listenInShop, type Understanding } from '../../retail/customer/listening.ts';
import type { LineIntent, LineRequest } from './requests.ts';

/** The words of each kind of change. */
const VERBS: Record<LineIntent, RegExp> = {
  add_data: /\b(add|adding|refuel\w*|top\w* up|data|gb|gigabytes?)\b/i,
  enable_roaming: /\b(roaming|roam|abroad)\b/i,
};
const AMOUNT = /(\d+(?:\.\d+)?) ?(?:gb|gigabytes?)\b/gi;

const idsIn = (text: string): string[] => [...text.matchAll(/\bL\d{3,6}\b/gi)].map(([id]) => id.toUpperCase());
const amountsIn = (text: string): number[] => [...text.matchAll(AMOUNT)].map(([, amount]) => Number(amount));

/** Telecom's agents ask “May I …?”. */
function listen(text: string): ReturnType<typeof listenInShop> {
  const heard = listenInShop(text.replace(/\bmay i (?!help|assist|have|know|ask)/gi, 'shall i '));
  const facts = new Set<string>();
  if (!heard.confirm && /\b(which|what)( \w+)? lines?\b|\bline (id|number)\b/i.test(text)) facts.add('line');
  if (!heard.confirm && /\bhow (many|much)\b|\bwhat amount\b/i.test(text)) facts.add('amount');
  return { ...heard, facts };
}

/** Whether a text asks for or proposes a change of this kind. If `intent` is absent: any change. */
const requests = (text: string, intent?: string): boolean =>
  intent === undefined
    ? idsIn(text).length > 0 || Object.values(VERBS).some((verbs) => verbs.test(text))
    : (VERBS[intent as LineIntent]?.test(text) ?? false);

export const LINE_EARS: Understanding<LineRequest> = {
  listen,
  matches(text, { intent, slots: { line_id, gb_amount } }) {
    const ids = idsIn(text);
    if (ids.length === 0 || ids.some((id) => id !== line_id)) return false;
    if (VERBS.enable_roaming.test(text) !== (intent === 'enable_roaming')) return false;
    return intent === 'add_data' ? amountsIn(text).every((amount) => amount === Number(gb_amount)) : amountsIn(text).length === 0;
  },
  proposes: (text) => requests(text),
  ids: idsIn,
  idOf: ({ slots }) => slots.line_id,
  thing: 'line',
};

const requestsOf = ({ wishes }: UserScenario) => wishes.flatMap((wish) => (wish.insteadOf ? [wish, wish.insteadOf] : [wish]));

/** How messages about lines are understood. Scenarios of the other levels are texts, so nothing is compared with them. */
export const lineLanguage: CustomerLanguage = {
  ...shopLanguage,
  listen,
  requests,
  names: (text, { slots }) => slots.line_id !== undefined && idsIn(text).includes(String(slots.line_id)),
  contradictions(text, scenario) {
    const facts = (slot: string) => new Set(requestsOf(scenario).flatMap(({ slots }) => slots[slot] ?? []));
    const [lines, amounts] = [facts('line_id'), facts('gb_amount')];
    return text.split(/(?<=[.!?])\s|\n/).flatMap((part) => {
      if (/\?\s*$|\b(not|isn't|never|don't|instead of)\b/i.test(part)) return [];
      return [
        ...idsIn(part).map((said) => ({ field: 'the line', said, own: [...lines] })),
        ...amountsIn(part).map((said) => ({ field: 'the amount of data', said: `${said}`, own: [...amounts] })),
      ].filter(({ said, own }) => own.length > 0 && !own.includes(said));
    });
  },
  tellsEverything(text, { wishes }) {
    const request = wishes[0]?.insteadOf ?? wishes[0];
    if (!request?.slots.line_id || !idsIn(text).includes(String(request.slots.line_id))) return false;
    return request.slots.gb_amount === undefined || amountsIn(text).includes(Number(request.slots.gb_amount));
  },
};
