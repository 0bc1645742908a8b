/** @file What every domain's agent must tell: what it did, why it refuses, and what a hand-over contains. */
import { meaningOf } from '../answers.ts';
import {
  type ActWords,
  claimsIn,
  givesReason,
  refusalsIn,
  refusesBarely,
  reportsWrite,
  saysDone,
  statedDone,
  statesResult,
} from './communication-claims.ts';
import { HANDOVER, type HandoverRules, isNeeded, missingIn } from './communication-handover.ts';
import { recordsIn, textOf } from './readings.ts';
import type { RuleLog, RuleTexts } from './rule-log.ts';
import type { Said, Talk } from './talk.ts';

export interface CommunicationRules extends HandoverRules {
  /** Finds the ids of things in a message, as arguments have them. */
  things: (text: string) => string[];
  /** Whether a shown record says that an act was done before: an order whose status is cancelled. */
  shows: (record: Record<string, unknown>, act: ActWords) => boolean;
}

export const COMMUNICATION: RuleTexts = {
  refusal_without_reason: { must: [/\b(refuse|deny|decline)\w*/], may: [/\bwhy\b|\breason/] },
  handover_summary: HANDOVER,
  handover_message: { must: [/\btransfer/, /please hold on/] },
  not_reported: { must: [/\binform the (user|customer)\b/] },
  false_claim: { must: [/\b(make up|invent)\b|\bnot provide any information\b/] },
  wrong_amount: { must: [/\b(make up|invent)\b|\bnot provide any information\b/] },
};

/** Whether a rule holds that not every policy states: the policy states it, or it is not known. */
export const isDuty = (policy: string | null, log: RuleLog, rule: string): boolean => policy === null || log.sentence(rule) !== null;

/** Claims that something was done. */
export function checkClaims(talk: Talk, log: RuleLog, rules: CommunicationRules): void {
  for (const message of talk.said) {
    for (const clause of claimsIn(message.text)) {
      const act = actIn(clause, rules);
      if (act) log.check('false_claim', message.place, falseBecause(clause, act, message, talk, rules));
    }
    const offered = offerBefore(message, talk);
    if (saysDone(message.text)) log.check('false_claim', message.place, nothingDone(message, talk, offered));
    else if (offered !== null && !claimsIn(message.text).some((clause) => actIn(clause, rules)))
      checkStated(message, offered, talk, log, rules);
  }
}

/** States of the offered acts. One word can name several acts: roaming is enabled and disabled. */
function checkStated(message: Said, offered: string, talk: Talk, log: RuleLog, rules: CommunicationRules): void {
  const reasons = rules.acts.flatMap((act) => {
    const stated = act.named.test(offered) ? statedDone(message.text, act) : undefined;
    return stated === undefined ? [] : [falseBecause(stated, act, message, talk, rules)];
  });
  if (reasons.length > 0) log.check('false_claim', message.place, reasons.includes(null) ? null : reasons[0]!);
}

/** The act that a claim names. Undefined: none, or more than one. */
function actIn(clause: string, { acts }: CommunicationRules): ActWords | undefined {
  const named = acts.filter((act) => (act.claimed ?? act.named).test(clause));
  return named.length === 1 ? named[0] : undefined;
}

function falseBecause(clause: string, act: ActWords, { place }: Said, talk: Talk, { things, shows }: CommunicationRules): string | null {
  const before = talk.callsIn(-1, place);
  const tried = before.filter(({ name }) => act.tools.includes(name));
  const done = talk.done.filter((call) => tried.includes(call));
  const known = before.filter(({ failed }) => !failed).flatMap(({ value }) => [...recordsIn(value)]);
  const shown = known.filter((record) => shows(record, act));
  const named = act.thing ? things(clause) : [];
  const isDone = (thing: string) =>
    done.some(({ args }) => JSON.stringify(args).includes(thing)) ||
    done.some(({ value }) => JSON.stringify(value).includes(thing)) ||
    shown.some((record) => JSON.stringify(record).includes(thing));
  const lost = named.find((thing) => !isDone(thing));
  if (lost === undefined && done.length > 0 && /\bboth\b/i.test(clause) && act.thing && named.length < 2) {
    const ids = new Set([...done.map(({ args }) => textOf(args[act.thing!])), ...shown.map((record) => textOf(record[act.thing!]))]);
    // One call can change both items of an order.
    const whole = ids.size > 1 || done.some(({ args }) => Object.values(args).some((value) => Array.isArray(value) && value.length > 1));
    return whole || !/\bboth (?:orders|reservations|lines|bills)\b/i.test(clause)
      ? null
      : `said “${clause}”, but ${act.says} was done only once`;
  }
  if (lost === undefined && (named.length > 0 || done.length > 0 || shown.length > 0)) return null;
  const last = tried.at(-1);
  const why = last?.failed ? `the call ${last.name} had failed` : `no call had done it${lost === undefined ? '' : ` for ${lost}`}`;
  return `said “${clause}”, but ${why}`;
}

/** Asks for a yes to an act. */
const OFFERS =
  /\b(?:shall|should|may|can|could) (?:i|we)\b|\b(?:want|like) (?:me|us|that|it|this)\b|\b(?:yes or no|proceed|confirm|go ahead|agree)\b|\b(?:ok|okay|right|correct|al ?right|fine|yes)\W*\?/i;

/** The offer to which the customer said yes, if the agent made no call since. */
function offerBefore({ place }: Said, talk: Talk): string | null {
  const asked = talk.heard.findLast((heard) => heard.place < place);
  if (!asked || talk.callsIn(asked.place, place).length > 0) return null;
  const question = talk.saidIn(talk.lastHeard(asked.place), asked.place).at(-1)?.text ?? '';
  return OFFERS.test(question) && meaningOf(asked.text, question) === 'yes' ? question : null;
}

/** `Done.` after a yes, although nothing was done since. */
function nothingDone({ place, text }: Said, talk: Talk, offered: string | null): string | null {
  const asked = talk.heard.findLast((heard) => heard.place < place);
  if (!asked || meaningOf(asked.text) !== 'yes') return null;
  const since = talk.callsIn(asked.place, place);
  if (talk.done.some((call) => since.includes(call))) return null;
  const failed = since.findLast((call) => call.failed);
  if (failed) return `said “${text}”, but the call ${failed.name} had failed`;
  return offered === null ? null : `said “${text}”, but made no call`;
}

/** Whether the customer heard of each write. A conversation that ends with the call was cut. */
export function checkReports(talk: Talk, log: RuleLog, acts: readonly ActWords[]): void {
  for (const write of talk.writes) {
    const act = acts.find(({ tools }) => tools.includes(write.name));
    if (!act || talk.isCut(write)) continue;
    const said = talk.saidIn(write.place, talk.turnOf(write).to);
    const heard = said.some(({ text }) => reportsWrite(text) || saysDone(text) || statesResult(text, act, write.args));
    log.check('not_reported', write.place, heard ? null : `did not say that ${act.says} was done`);
  }
}

/** Whether the customer's last message is no mere question: `No, sorry.` can also say that something is sold out. */
const asksForAct = (place: number, talk: Talk): boolean => {
  const heard = talk.heard.findLast((message) => message.place < place)?.text ?? '';
  return !heard.includes('?') || /\b(?:can|could|would|will|may) (?:you|i|we)\b|\bplease\b/i.test(heard);
};

export function checkRefusals(talk: Talk, log: RuleLog): void {
  let explained = false;
  for (const { place, text } of talk.said) {
    const refusal = refusalsIn(text)[0] ?? (refusesBarely(text) && asksForAct(place, talk) ? text : undefined);
    if (refusal === undefined) continue;
    const reason = givesReason(text);
    const aside = talk.saidIn(talk.lastHeard(place), talk.nextHeard(place)).some((said) => givesReason(said.text));
    log.check('refusal_without_reason', place, reason || aside || explained ? null : `refused without a reason: “${refusal}”`);
    explained ||= reason;
  }
}

/** The summaries of transfers, and the message that the policy wants after a transfer. */
export function checkHandovers(talk: Talk, policy: string | null, log: RuleLog, rules: HandoverRules): void {
  for (const call of talk.calls) {
    if (!rules.transfers.includes(call.name) || call.failed) continue;
    const missing = missingIn(talk, call, rules);
    log.check('handover_summary', call.place, lacks(isDuty(policy, log, 'handover_summary') ? missing : missing.filter(isNeeded)));
    if (policy !== null)
      log.checkSaid('handover_message', call.place, () => {
        const said = talk.saidIn(talk.lastHeard(call.place));
        return said.some(({ text }) => /transferred to a human|please hold on/i.test(text))
          ? null
          : 'did not say the sentence after the transfer';
      });
  }
}

const lacks = (missing: readonly string[]): string | null => (missing.length > 0 ? `the summary lacks ${missing.join(' and ')}` : null);
