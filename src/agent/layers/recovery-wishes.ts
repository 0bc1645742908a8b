/** @file Changes of mind and corrections: the new wish and the corrected value count from then on, and the old ones do not. */
import { escapeRegExp } from '../../base/escape-reg-exp.ts';
import { meaningOf } from '../answers.ts';
import { asks } from '../questions.ts';
import { sentences } from '../sentences.ts';
import { type ActWords, refusalsIn, tellsTrouble } from './communication-claims.ts';
import { fits, type ValueRules } from './recovery-values.ts';
import type { RuleLog } from './rule-log.ts';
import type { Made, Said, Talk } from './talk.ts';

export interface WishRules extends ValueRules {
  acts: readonly ActWords[];
  transfers: readonly string[];
  /** Values that a customer can correct, by kind. Each pattern has the value in its first group, or is the value. */
  values: Readonly<Record<string, RegExp>>;
}

const STRONG =
  /\b(?:(?<!\b(?:before|if|unless|until|when) i |n't |\bnot |\bnever )chang(?:ed?|ing) my mind|on (?:second thoughts?|reflection)|(?:want|keep|need|take|like|have)\b[^.?!,]{0,30}\bafter all\b|(?:let|leave) it be\b|abort\b|i(?:'d| would)? (?:still|do|prefer to|like to) (?:want|keep|need) (?:it|them|the|my)\b|i (?:want|need|will have) (?:it|them) back\b|hold off\b|(?:better|rather) not\b|no longer (?:want|wish|need) to (?:cancel|return|exchange|change|modify|book|upgrade)\b|(?:don't|do not) bother|scrap (?:it|that|this)|i(?:'d| would) rather not|never ?mind|scratch that|i(?:'ve| have) reconsidered|stop\W+i (?:don't|do not) want to|forget (?:it|that|the whole thing|everything|about (?:it|that|the|this))|let's not|i(?:'d| would) rather|i take (?:it|that|this) back|(?:do|change|touch) nothing|call (?:it|that|this|the whole thing) off|leave (?:it|everything|that|this|them|things|the \w+)(?: all| exactly| just)? as (?:it|they) (?:is|are|was|were)|(?:no|stop|wait|actually|oh|hm+)[,.! ]+(?:\w+[,.! ]+){0,2}i (?:really )?(?:don't|do not|no longer) want (?:it|that|this)(?! (?:like|in|with|on|to))|(?:don't|do not) (?:cancel|return|exchange|change|modify|book|upgrade|refuel|do) (?:it|that|this|the|my|them|anything)|(?:i(?:'ll| will)? |i want to |let me |let's )keep (?:it|them|that|this|the|my)\b(?! (?:same|original)))\b/i;
const WEAK = /\b(?:actually|instead|wait|hold on|no longer want|rather than)\b/i;
const NOT_CHANGED =
  /\b(?:no longer needed|actually,? (?:yes|i (?:also|have)|can you also|could you also|one more|that's all|all good))\b|\bwhile (?:i|we|you) wait\b|\bcan(?:'t| ?not) wait\b|\bwait(?:ing)? (?:for|time|until)\b/i;

export function checkWishes(talk: Talk, log: RuleLog, rules: WishRules): void {
  for (const [i, message] of talk.heard.entries()) {
    const corrected = correctionIn(message, talk, rules);
    const isChange = !corrected && i > 0 && changesMind(message, talk);
    if (!corrected && !isChange) continue;
    const lost = corrected ? correctionLost(corrected, message, talk) : changeLost(message, talk, rules);
    log.check(corrected ? 'correction' : 'change_of_mind', lost?.place ?? talk.nextOwn(message.place), lost?.detail ?? null);
  }
}

const proposalBefore = ({ place }: Said, talk: Talk): string =>
  talk
    .saidIn(talk.lastHeard(place), place)
    .map(({ text }) => text)
    .join('\n');

function changesMind(message: Said, talk: Talk): boolean {
  const { text } = message;
  if (NOT_CHANGED.test(text) && !STRONG.test(text.replace(NOT_CHANGED, ' '))) return false;
  if (STRONG.test(text)) return true;
  if (/^\W*if\b/i.test(text)) return false;
  const question = proposalBefore(message, talk);
  return asks(question) && (isNo(text, question) || (WEAK.test(text) && ['changed', 'no'].includes(meaningOf(text, question))));
}

const ONLY_NO =
  /^\W*(?:(?:oh|hm+|actually|wait|sorry)\W+)*(?:no|nope|nah)(?:\W+(?:thanks?|thank you|please|wait|stop|sorry|actually|don't|do not|i (?:don't|do not|no longer) want (?:it|that|this|to)|not (?:now|any ?more|today)|i(?:'ll| will)? keep (?:it|them|that|this)))*\W*$/i;
/** A no to an offer, and no other wish. A no can also say that nothing is missing: `Is this everything? Any other items?` */
const isNo = (text: string, question: string): boolean =>
  !/\b(?:else|other|another|more|any|all|every\w+|only|have you)\b/i.test(question) && ONLY_NO.test(text);

const NEGATED =
  /\b(?:don't|do not|not|n't|instead of|rather than|no longer|never ?mind|forget|scratch|without|stop|keep|nothing|leave|hold off on)\b/i;

interface Change {
  wanted: ReadonlySet<ActWords>;
  undone: ReadonlySet<ActWords>;
  /** The customer wants nothing in its place. */
  withdrawn: boolean;
}

/** The acts that a message wants, and those that it takes back. */
function actsIn(text: string, acts: readonly ActWords[]): Pick<Change, 'wanted' | 'undone'> {
  const wanted = new Set<ActWords>();
  const undone = new Set<ActWords>();
  const parts = sentences(text.replace(/\bchang\w+ my mind\b/gi, ' ')).flatMap((sentence) =>
    sentence.split(/[,;:–—]\s*|\bbut\b|\s(?=instead of\b|rather than\b)|\binstead,?\s/i),
  );
  for (const part of parts)
    for (const act of acts) {
      // One word can name several acts. Only words that name one act count.
      if (!act.named.test(part) || acts.filter(({ named }) => named.test(part)).length > 1) continue;
      (NEGATED.test(part) ? undone : wanted).add(act);
    }
  for (const act of wanted) undone.delete(act);
  return { wanted, undone };
}

/** How a wish was lost, and the agent's message that lost it. */
interface Lost {
  place: number;
  detail: string;
}

/** How a change of mind came to a bad end. Null: it did not. */
function changeLost(message: Said, talk: Talk, rules: WishRules): Lost | null {
  const { wanted, undone } = actsIn(message.text, rules.acts);
  const next = talk.heard.find(({ place, text }) => place > message.place && STRONG.test(text))?.place ?? talk.end;
  const writes = talk.writes.filter(({ place }) => place > message.place && place < next);
  const actOf = (write: Made) => rules.acts.find(({ tools }) => tools.includes(write.name));
  const [first] = writes;
  const proposed = proposalBefore(message, talk);
  const withdrawn =
    wanted.size === 0 && (STRONG.test(message.text) || isNo(message.text, proposed)) && !/\binstead\b(?! of)/i.test(message.text);
  if (first) {
    const act = actOf(first);
    const since = talk.heardIn(message.place, first.place);
    const yes = since.findLast(({ text, place }) => agreed(text, place, talk));
    // A later wish or a yes counts more than the change of mind.
    const wish = yes
      ? proposalBefore(yes, talk)
      : since.some(({ text }) => act?.named.test(text) && !NEGATED.test(text))
        ? ''
        : message.text;
    const why = act && wish === message.text ? staleBecause(first, act, { wanted, undone, withdrawn }, message, talk, rules) : null;
    const isOld = yes !== undefined || (wish === message.text && isProposed(first, proposed));
    const isFit = why === null && isOld ? fits(first, wish, talk, rules) : undefined;
    if (why !== null || isFit === false)
      return { place: first.place, detail: `${why ?? `${first.name} was made as it was wanted before`}: “${short(message.text)}”` };
  }
  if (withdrawn || wanted.size !== 1) return null;
  const [act] = wanted;
  if (writes.some((write) => actOf(write) === act || fits(write, message.text, talk, rules))) return null;
  const said = talk.saidIn(message.place);
  const ended =
    said.some(({ text }) => refusalsIn(text).length > 0 || tellsTrouble(text)) ||
    talk.callsIn(message.place).some(({ name, failed }) => failed || rules.transfers.includes(name));
  const declined = talk
    .heardIn(message.place)
    .some(({ text, place }) => STRONG.test(text) || meaningOf(text, proposalBefore({ text, place }, talk)) === 'no');
  const open = said.length === 0 || asks(said.at(-1)!.text.replace(/[^.?!\n]*\b(?:else|more|further)\b[^.?!\n]*\?/gi, ' '));
  return ended || declined || open
    ? null
    : { place: talk.nextOwn(message.place), detail: `the new wish was not served: “${short(message.text)}”` };
}

/** Why a write that nobody asked for again is against the change of mind. */
function staleBecause(write: Made, act: ActWords, change: Change, { place }: Said, talk: Talk, rules: WishRules): string | null {
  const asked = talk.saidIn(place, write.place).some(({ text }) => asks(text));
  if (change.undone.has(act)) return `${write.name} was made, although the customer had changed their mind`;
  const proposal = proposalBefore({ place, text: '' }, talk);
  if (change.withdrawn && !asked && (isProposed(write, proposal) || act.named.test(proposal)))
    return `${write.name} was made, although the customer took it back`;
  const other = [...change.wanted][0];
  const moved = change.wanted.size === 1 && other !== act && !asked;
  return moved && rules.acts.includes(act) ? `${write.name} was made, although the customer wanted something else` : null;
}

const agreed = (text: string, place: number, talk: Talk): boolean => meaningOf(text, proposalBefore({ text, place }, talk)) === 'yes';

/** Whether the agent's last message before was about the thing of a write. */
const isProposed = ({ args }: Made, proposed: string): boolean => {
  const ids = Object.values(args).filter((value): value is string => typeof value === 'string' && /\d/.test(value) && value.length < 40);
  return ids.length === 0 || ids.some((id) => proposed.includes(id.replace(/^#/, '')));
};

const CORRECTS =
  /\b(?:i meant?|correction|my mistake|my bad|typo|mis(?:typed|spoke|spelled)|wrong|incorrect|not right|should (?:be|have been|read)|has to be|must be|make (?:it|that)|mixed up|instead|rather|better|misread|change of plans?|sorry|oops|apologies|(?:it's|its|that's|it is|that is) (?:actually|not)|actually|no,|not)\b/i;

interface Corrected {
  kind: string;
  old: string;
  fresh: string;
}

const valuesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`))].map((found) =>
    (found.slice(1).find(Boolean) ?? found[0]).toLowerCase(),
  );

/** A value that the customer gives in place of an earlier one. */
function correctionIn({ place, text }: Said, talk: Talk, { values }: WishRules): Corrected | null {
  const earlier = talk.heardIn(-1, place).map((message) => message.text);
  const failed = talk.callsIn(-1, place).filter((call) => call.failed && call.place > talk.lastHeard(place));
  for (const [kind, pattern] of Object.entries(values)) {
    const now = valuesIn(text, pattern);
    const negated = now.filter((value) =>
      new RegExp(`\\b(?:not|instead of|rather than)\\s+(?:\\w+\\s+){0,3}#?${escapeRegExp(value)}`, 'i').test(text),
    );
    const fresh = now.filter((value) => !negated.includes(value)).at(-1);
    if (fresh === undefined) continue;
    const before = [...earlier.flatMap((said) => valuesIn(said, pattern)), ...negated];
    const old = before.at(-1);
    if (old === undefined || before.includes(fresh)) continue;
    const refused = failed.some(({ args }) => JSON.stringify(args).toLowerCase().includes(old));
    if (
      refused ||
      (CORRECTS.test(text) &&
        (negated.length > 0 || kind !== 'thing' || /\bi meant?\b|\bsorry\b|\bcorrection\b|\bwrong\b|\bmistake\b|\btypo\b/i.test(text)))
    )
      return { kind, old, fresh };
  }
  return null;
}

function correctionLost({ kind, old, fresh }: Corrected, { place }: Said, talk: Talk): Lost | null {
  const has = (call: Made, value: string) => value.split(' ').every((part) => JSON.stringify(call.args).toLowerCase().includes(part));
  const later = talk.callsIn(place);
  const again = talk.heardIn(place).some(({ text }) => text.toLowerCase().includes(old));
  const used = later.find((call) => has(call, fresh));
  // The new value can turn out to be impossible: the agent then offers the old one again.
  const offered = (call: Made) => used && talk.saidIn(used.place, call.place).some(({ text }) => text.toLowerCase().includes(old));
  const stale = later.find((call) => has(call, old) && !has(call, fresh) && !offered(call));
  if (stale && !again)
    return { place: stale.place, detail: `${stale.name} used the ${kind} ${old} after the customer had corrected it to ${fresh}` };
  if (used) return null;
  const said = talk.saidIn(place);
  const heard = said.some(
    ({ text }) => text.toLowerCase().includes(fresh.replace(/^#/, '')) || tellsTrouble(text) || refusalsIn(text).length > 0,
  );
  // A conversation that ends here was cut.
  return heard || (said.length === 0 && later.length === 0)
    ? null
    : { place: talk.nextOwn(place), detail: `the corrected ${kind} ${fresh} was not used` };
}

const short = (text: string): string => (text.length > 90 ? `${text.slice(0, 87)}…` : text);
