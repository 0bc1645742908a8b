/** @file The verbs of acts, so that a customer hears whether an agent proposes what they want, and a demonstrator reports what it did. */

/** Verbs that people use for the same act. A verb can stand in several lists. Verbs in no list fit every act, for example “change”. */
const SAME_ACT: readonly (readonly string[])[] = [
  ['book', 'reserve', 'schedule'],
  ['reserve', 'hold'],
  ['cancel', 'delete', 'remove', 'withdraw', 'call off', 'drop'],
  ['move', 'reschedule', 'shift', 'postpone', 'switch'],
  ['renew', 'extend', 'prolong'],
  ['lend', 'borrow', 'loan', 'check out', 'issue'],
  ['return', 'give back', 'bring back'],
  ['enrol', 'enroll', 'register', 'sign up', 'join'],
  ['drop', 'unenrol', 'unenroll', 'deregister', 'remove', 'leave', 'withdraw', 'cancel'],
  ['swap', 'switch', 'exchange', 'replace', 'move'],
  ['apply', 'register', 'submit'],
  ['withdraw', 'retract', 'cancel', 'remove'],
  ['pay', 'settle'],
  ['rent', 'let', 'book'],
  ['return', 'send back'],
  ['exchange', 'swap'],
];
/** Words that people mostly use as nouns, or for something else than an act. */
const NOUNS = new Set(['let', 'hold', 'leave', 'issue', 'submit']);

const DOUBLED = /^(?:drop|swap|enrol|unenrol|cancel|plan|stop|transfer|let)$/;
const IRREGULAR: Readonly<Record<string, string>> = {
  lend: 'lent', send: 'sent', give: 'given', bring: 'brought', let: 'let', put: 'put', set: 'set', pay: 'paid', withdraw: 'withdrawn',
  make: 'made', take: 'taken', sell: 'sold', buy: 'bought', write: 'written', do: 'done', hold: 'held', leave: 'left',
}; // prettier-ignore

/** The past participle of a verb, or of a verb with an adverb: `call off` is `called off`. */
export function participle(verb: string): string {
  const [first = '', ...rest] = verb.split(' ');
  const past =
    IRREGULAR[first] ??
    (DOUBLED.test(first)
      ? `${first}${first.at(-1)!}ed`
      : first.endsWith('e')
        ? `${first}d`
        : /[^aeiou]y$/.test(first)
          ? `${first.slice(0, -1)}ied`
          : `${first}ed`);
  return [past, ...rest].join(' ');
}

const gerund = (verb: string): string => {
  const [first = '', ...rest] = verb.split(' ');
  const stem = DOUBLED.test(first) ? `${first}${first.at(-1)!}` : first.endsWith('e') ? first.slice(0, -1) : first;
  return [`${stem}ing`, ...rest].join(' ');
};

const VERBS: readonly string[] = [...new Set(SAME_ACT.flat())].filter((verb) => !NOUNS.has(verb));
/** Where a verb is an act of the agent, and no noun: “shall I book”, “and cancel”, at the start of a sentence. */
const BEFORE =
  /(?:^|[.!?:;,(\n-]\s*|\b(?:shall|should|may|can|could|will|would|i|we|i'll|we'll|i'd|to|and|then|now|also|please|me|just|first|not|instead|or|want|need|let's|have|has|be|been|i've|we've|already)\s+)$/;

/** The forms of a verb: “book”, “booked”. “Booking” is mostly a noun. */
function patternOf(verb: string): RegExp {
  const forms = [verb, participle(verb), ...(verb === 'book' ? [] : [gerund(verb)])].map((form) => form.replaceAll(' ', '(?: it| them)? '));
  return new RegExp(`\\b(?:${forms.join('|')})\\b(?!_)`, 'g');
}
const PATTERNS = new Map(VERBS.map((verb) => [verb, patternOf(verb)]));

/** The verbs of acts in a text. @param more further verbs to find */
export function actsIn(said: string, more: readonly string[] = []): string[] {
  const found: string[] = [];
  for (const verb of new Set([...VERBS, ...more])) {
    for (const match of said.matchAll(PATTERNS.get(verb) ?? patternOf(verb))) {
      const isGerund = match[0].includes('ing');
      if (isGerund || BEFORE.test(said.slice(Math.max(0, match.index - 12), match.index))) found.push(verb);
    }
  }
  if (/\bcancell?ation\b/.test(said)) found.push('cancel');
  if (/\b(?:renewal|extension)\b/.test(said)) found.push('renew');
  return found;
}

const isSame = (a: string, b: string): boolean => a === b || SAME_ACT.some((verbs) => verbs.includes(a) && verbs.includes(b));

/** Finds the forms of these verbs, and of verbs for the same act, where a sentence says that something is done. */
export const actPattern = (own: readonly string[]): RegExp => {
  const verbs = [...new Set([...own, ...VERBS.filter((verb) => own.some((wanted) => isSame(verb, wanted)))])];
  return new RegExp(verbs.map((verb) => patternOf(verb).source).join('|'), 'i');
};

/** Whether a text names an act that one of the own verbs means. */
export const namesAct = (said: string, own: readonly string[]): boolean =>
  actsIn(said, own).some((verb) => own.some((wanted) => isSame(verb, wanted)));

/** Whether a text names an act that none of the own verbs means. */
export const namesOtherAct = (said: string, own: readonly string[], more: readonly string[] = []): boolean =>
  actsIn(said, more).some((verb) => !own.some((wanted) => isSame(verb, wanted)));
