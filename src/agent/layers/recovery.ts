/**
 * @file Whether setbacks of a conversation come to a good end: a tool that fails, a refusal, a hand-over. `recovery-wishes.ts` has changes
 * of mind and corrections, `recovery-needless.ts` has needless turns.
 */
import { canonicalJson } from '../../base/json.ts';
import { sentences } from '../sentences.ts';
import { type ActWords, ASKS_MORE, claimsIn, FAREWELL, saysDone, tellsTrouble } from './communication-claims.ts';
import { HANDOVER, type HandoverRules, identityBefore, isUseless, summaryOf } from './communication-handover.ts';
import { type NeedlessRules, checkNeedless } from './recovery-needless.ts';
import { checkRefused, checkUnsolved } from './recovery-ends.ts';
import { checkValues } from './recovery-values.ts';
import { checkWishes, type WishRules } from './recovery-wishes.ts';
import type { RuleLog, RuleTexts } from './rule-log.ts';
import { isTransient, type Made, type Said, type Talk } from './talk.ts';

export interface RecoveryRules extends HandoverRules, NeedlessRules, WishRules {
  /** Tools that can stand in for each other, such as two ways to find a customer. */
  families: readonly RegExp[];
  /** Whether the tools had shown another way before a call failed: another flight with seats. */
  otherWay?: (call: Made, talk: Talk) => boolean;
}

export const RECOVERY: RuleTexts = {
  handover_summary: HANDOVER,
  tool_failure: { must: [/\b(make up|invent)\b|\bnot provide any information\b/] },
  refusal: { must: [/\b(refuse|deny|decline)\w*/] },
};

export function checkRecovery(talk: Talk, log: RuleLog, rules: RecoveryRules): void {
  checkFailures(talk, log, rules);
  checkRefused(talk, log, rules);
  checkUnsolved(talk, log, rules);
  checkWishes(talk, log, rules);
  checkValues(talk, log, rules);
  checkNeedless(talk, log, rules);
  for (const call of talk.calls.filter(({ name, failed }) => rules.transfers.includes(name) && !failed))
    log.check(
      'handover_summary',
      call.place,
      isUseless(summaryOf(call), identityBefore(talk, call.place))
        ? `the summary does not say what the customer wants: “${summaryOf(call)}”`
        : null,
    );
}

/** The same failing call this often is needless. */
const MOST_TRIES = 3;

function checkFailures(talk: Talk, log: RuleLog, rules: RecoveryRules): void {
  const open = new Set<string>();
  const tries = new Map<string, number>();
  for (const call of talk.calls.filter(({ name }) => !rules.aside.test(name))) {
    const family = familyOf(call.name, rules);
    if (!call.failed) {
      open.delete(family);
      continue;
    }
    const key = canonicalJson([call.name, call.args]);
    tries.set(key, (tries.get(key) ?? 0) + 1);
    if (tries.get(key) === MOST_TRIES)
      log.check(
        'same_failing_call',
        call.place,
        endsWell(call, key, talk) ? null : `made the failing call ${call.name} ${MOST_TRIES} times`,
      );
    // Failures in a row are one setback.
    if (open.has(family)) continue;
    open.add(family);
    const bad = badEnd(call, family, talk, rules);
    log.check('tool_failure', bad?.place ?? call.place, bad?.detail ?? null);
  }
}

/** An error can ask for another try. The tries were not needless if one of them succeeded. */
const endsWell = (call: Made, key: string, talk: Talk): boolean =>
  isTransient(call) && talk.callsIn(call.place).some(({ name, args, failed }) => !failed && canonicalJson([name, args]) === key);

const actOf = (name: string, acts: readonly ActWords[]) => acts.find(({ tools }) => tools.includes(name));

const familyOf = (name: string, { acts, families }: RecoveryRules): string =>
  families.find((family) => family.test(name))?.source ?? actOf(name, acts)?.says ?? name;

function badEnd(call: Made, family: string, talk: Talk, rules: RecoveryRules): { place: number; detail: string } | null {
  const later = talk.callsIn(call.place);
  const success = [call, ...later].find((other) => (!other.failed || talk.done.includes(other)) && familyOf(other.name, rules) === family);
  // The call timed out, and it was done.
  if (success === call) return null;
  const last = talk.calls.findLast(
    (other) => other.failed && familyOf(other.name, rules) === family && other.place < (success?.place ?? talk.end),
  )!;
  const act = actOf(call.name, rules.acts);
  const said = talk.saidIn(last.place, success?.place ?? talk.end);
  const told = talk.saidIn(last.place, Math.min(success?.place ?? talk.end, talk.nextHeard(talk.nextHeard(last.place))));
  const claim =
    act &&
    said.find(
      ({ text }) =>
        (told.some((message) => message.text === text) && saysDone(text)) || claimsIn(text).some((part) => isAbout(part, act, call, talk)),
    );
  if (claim) return { place: claim.place, detail: `${call.name} failed, and the agent said “${claim.text.slice(0, 200)}”` };
  if (success) return null;
  if (later.some(({ name, failed }) => !failed && rules.transfers.includes(name))) return null;
  // The conversation was cut.
  if (talk.saidIn(last.place).length === 0 && talk.heardIn(last.place).length === 0) return null;
  const turn = talk.callsIn(last.place, talk.nextHeard(last.place));
  if (!act && turn.some(({ failed, name }) => !failed && !rules.aside.test(name))) return null;
  if (givesUp(call, last, told, talk, rules))
    return { place: talk.nextOwn(last.place), detail: `gave up after ${call.name} had failed once: “${told[0]!.text.slice(0, 200)}”` };
  const asks = rules.identity.test(call.name) && told.some(({ text }) => text.includes('?'));
  return asks || told.some(({ text }) => tellsOf(text, last))
    ? null
    : { place: talk.nextOwn(last.place), detail: `${call.name} failed, was not made again, and the customer did not hear of it` };
}

/** Says why a call was refused: `The balance is too low`, `One is open already`. */
const WHY_NOT =
  /\b(?:already|exist(?:s|ing)|pending|outstanding|open|earlier|duplicate|twice|full|booked out|sold out|taken|too (?:few|many|little|low|late|small)|low|short of|nobody|no one|none|no \w+ (?:left|free)|blocked|refused|rejected|declined)\b/i;
const wordsOf = (text: string): string[] =>
  [...new Set(text.toLowerCase().match(/\p{L}{4,}/gu))].filter((word) => !/^(?:error|this|that|with|customer|user)$/.test(word));

/** Whether a message tells the customer that a call failed: in words of trouble, or with half of the words of its error. */
function tellsOf(text: string, { value }: Made): boolean {
  const parts = sentences(text).filter((sentence) => !endsTalk(sentence));
  if (tellsTrouble(text) || parts.some((sentence) => WHY_NOT.test(sentence))) return true;
  const error = wordsOf(typeof value === 'string' ? value : JSON.stringify(value));
  const said = wordsOf(parts.join(' '));
  const told = error.filter((word) => said.some((other) => other.slice(0, 5) === word.slice(0, 5)));
  return told.length > 1 && told.length * 2 >= error.length;
}

/** Puts the customer off. */
const LATER =
  /(?<!\b(?:i|we)(?:'ll| will| can| could) )\b(?:try|call|come|contact us|check)(?: back)? (?:again )?(?:later|another|tomorrow|some other|in (?:a|an|some)\b)/i;
/** A sentence that ends the conversation offers nothing. */
const endsTalk = (sentence: string): boolean => [FAREWELL, ASKS_MORE, LATER].some((words) => words.test(sentence));
/** A way on: a question, an offer, or what the customer can give. */
const WAY_ON =
  /\?|\b(?:(?:i|we)(?:'ll| can(?!not|'t| not)| could(?!n't| not)| will(?! not)| would(?!n't| not))|let me|let us|let's|shall|you (?:can|could|may|might)|could you|please (?:check|provide|give|send|share|tell|spell|confirm|verify|repeat|wait|hold|use|look)|(?:i|we) need|alternative\w*|instead|another (?:way|option)|transfer\w*|colleague|if you (?:have|give|tell|send|like|want))\b/i;

/** Whether the agent ends after one try, although an error asked for another one or there was another way. */
function givesUp(call: Made, last: Made, told: readonly Said[], talk: Talk, rules: RecoveryRules): boolean {
  if (last !== call || told.length === 0) return false;
  if (!isTransient(call) && !rules.identity.test(call.name) && !rules.otherWay?.(call, talk)) return false;
  return !told.some(({ text }) => sentences(text).some((sentence) => !endsTalk(sentence) && WAY_ON.test(sentence)));
}

/** Whether a claim is about the act that failed, and about its thing if it names one. */
function isAbout(clause: string, act: ActWords, call: Made, talk: Talk): boolean {
  if (!(act.claimed ?? act.named).test(clause)) return false;
  const done = talk.writes.filter(({ name, place }) => act.tools.includes(name) && place < call.place);
  const thing = act.thing ? String(call.args[act.thing] ?? '') : '';
  return done.length === 0 || (thing !== '' && clause.includes(thing));
}
