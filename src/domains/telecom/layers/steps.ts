/** @file Steps that solve a technical problem on the customer's phone: none needlessly again, and more than one before a hand-over. */
import { sentences } from '../../../agent/sentences.ts';
import type { RuleLog } from '../../../agent/layers/rule-log.ts';
import type { Talk } from '../../../agent/layers/talk.ts';
import { TRANSFERS } from './acts.ts';

const TOGGLE = String.raw`\b(?:toggl\w*|off and (?:then )?(?:back )?on|on and (?:then )?off|re-?(?:seat|insert|set)\w*|tak\w+ (?:it )?out|remov\w+)\b`;
/** What a step is about. A second look at the signal or the speed shows what a step changed, so it is none. */
const STEPS: Readonly<Record<string, RegExp>> = {
  'mobile data': /\b(?:mobile|cellular) (?:data|internet)\b|\bdata (?:is|switch|toggle|connection)\b/i,
  'airplane mode': /\b(?:airplane|aeroplane|flight) mode\b/i,
  'SIM card': /\bsim\b/i,
  'network mode': /\bnetwork (?:mode|type|preference)\b|\b[345]g\b/i,
  roaming: /\broaming\b/i,
  'data saver': /\bdata[ -]sav(?:er|ing)\b/i,
  VPN: /\bvpn\b/i,
  APN: /\bapn\b|\baccess point\b/i,
  'Wi-Fi calling': /\bwi-?fi calling\b/i,
  permissions: /\bpermissions?\b/i,
  restart: /\b(?:re-?start|re-?boot|power[ -]cycle)\w*/i,
};
/** Asks the customer to do something on the phone. */
const INSTRUCTS =
  /\b(?:please|kindly|(?:could|can|would|will) you|try|make sure|check|verify|confirm|turn|switch|set|look|open|go to|toggle|disconnect|disable|enable|restart|reboot|see (?:if|whether)|test)\b|\?/i;
const NO_STEP =
  /\b(?:i|we)(?:'ll| will| can| could|'ve| have)\b|\b(?:since|because|as|given that)\b[^.?!]{0,40}\b(?:is|are|was) (?:already )?(?:on|off|enabled|fine|ok)\b/i;

/** The steps that a message asks for. */
function stepsIn(text: string): Set<string> {
  const found = new Set<string>();
  for (const sentence of sentences(text)) {
    if (!INSTRUCTS.test(sentence) || NO_STEP.test(sentence)) continue;
    const kind = new RegExp(TOGGLE, 'i').test(sentence) ? ' anew' : '';
    for (const [step, words] of Object.entries(STEPS)) if (words.test(sentence)) found.add(step + kind);
  }
  return found;
}

/** The customer needs help with the step, or has not done it. */
const NOT_DONE =
  /\b(?:how|where|which|why|what (?:is|do|does)|not sure|unsure|(?:don't|do not|can't|cannot|can not|couldn't) (?:know|find|see|do|understand|tell)|(?:haven't|have not|didn't|did not) (?:do|done|check|checked|try|tried|look|looked)|wait|one (?:moment|second)|hold on|let me)\b/i;

/** Checks that the agent asks for no step again whose result the customer has told, unless data changed since. */
export function checkSteps(talk: Talk, log: RuleLog): void {
  const asked: { steps: Set<string>; place: number }[] = [];
  for (const { place, text } of talk.said) {
    const steps = stepsIn(text);
    if (steps.size === 0) continue;
    const at = asked.findLastIndex((one) => [...steps].every((step) => one.steps.has(step)));
    const before = asked[at];
    asked.push({ steps, place });
    const answers = before ? talk.heardIn(before.place, place) : [];
    if (!before || answers.length === 0) continue;
    // A restart makes another change work.
    const useful = (steps.has('restart') && at < asked.length - 2) || talk.callsIn(before.place, place).some(({ write }) => write);
    const again = !useful && answers.every((answer) => !NOT_DONE.test(answer.text));
    log.check('same_step', place, again ? `asked again for ${[...steps].join(' and ')}, after “${answers[0]!.text.slice(0, 80)}”` : null);
  }
}

const TECHNICAL =
  /\b(?:mobile|cellular) (?:data|internet)\b|\binternet\b|\b(?:no|bad|poor|weak|lost) (?:service|signal|connection|reception)\b|\bsignal\b|\b(?:slow|speed)\b|\bmms\b|\bpicture messages?\b|\b(?:cannot|can't|can not|unable to|won't|doesn't) (?:open|load|browse|connect)\b|\bweb ?(?:pages?|sites?)\b/i;
/** Why a human must help, or why the line itself does not work. */
const NEEDS_HUMAN =
  /\b(?:puk|locked|lost|stolen|broken|damaged|cracked|water|human|real person|representative|manager|someone else|speak (?:to|with)|talk to|no sim|missing|unknown|contract)\b/i;
/** Checks that a technical problem of an active line is not handed over after the first step that did not help. */
export function checkEarlyHandover(talk: Talk, log: RuleLog): void {
  const problem = talk.heard.find(({ text }) => TECHNICAL.test(text));
  for (const call of talk.calls.filter(({ name, failed }) => TRANSFERS.includes(name) && !failed)) {
    if (!problem || problem.place > call.place) continue;
    const steps = new Set(talk.saidIn(problem.place, call.place).flatMap(({ text }) => [...stepsIn(text)]));
    const shown = talk.callsIn(-1, call.place).map(({ value }) => JSON.stringify(value));
    const blocked =
      talk.heardIn(-1, call.place).some(({ text }) => NEEDS_HUMAN.test(text)) ||
      shown.some((text) => /"status":"(?:Suspended|Pending Activation|Closed|Inactive)"/i.test(text)) ||
      talk.callsIn(-1, call.place).some(({ write, failed }) => write || failed);
    if (steps.size > 0)
      log.check('early_handover', call.place, steps.size === 1 && !blocked ? `handed over after one step: ${[...steps].join()}` : null);
  }
}
