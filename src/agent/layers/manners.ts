/** @file Rules on how the agent acts, which most policies have: one call at a time, either call or speak, and when to transfer. */
import { groupBy } from '../../base/group-by.ts';
import type { LayeredConversation } from '../layers.ts';
import { readable } from '../sentences.ts';
import { heardBefore } from './readings.ts';
import type { RuleLog, RuleTexts } from './rule-log.ts';

/** A sentence that allows several calls, and sets no limit. */
const ALLOWS_SEVERAL =
  /^(?!.*\b(?:not|never|cannot|can't|don't|only|at most|no more|avoid|without|single|forbidden|instead of|rather than)\b).*(?:\b(?:may|can|could|free to|able to|allowed to|welcome to|feel free|(?:is|are|it's) (?:fine|ok|okay|allowed|permitted|possible))\b.*\b(?:several|multiple|parallel|more than one)\b|\b(?:several|multiple|parallel|more than one)\b.*\b(?:fine|ok|okay|allowed|permitted|possible|acceptable|welcome|encouraged|good)\b)/;

export const MANNERS: RuleTexts = {
  several_calls: {
    must: [
      /\b(one|single|only)\b[^.]{0,30}\b(tool|function)?\s?call|\bcall one tool\b|\b(not|never|no|more than one)\b[^.]{0,40}\b(several|multiple|parallel|simultaneous|more than one)\b[^.]{0,20}\b(calls?|tools?)\b|\b(more than one|several|multiple) (tool|function|call)/,
    ],
    may: [/\b(at a time|at most|at once|per (turn|message)|in one turn)\b/],
    never: ALLOWS_SEVERAL,
  },
  text_beside_call: {
    must: [
      /\b(call|tool|function)\b/,
      /\b(speak|respond|reply|text|message|write|talk|say|answer)\w*/,
      /\b(not|never|either|without|instead|don't|or)\b/,
    ],
    may: [/\b(same time|simultaneous|both|one turn|beside|together|at once|alongside)/],
    never: /^(?!.*\b(same|simultaneous|both|beside|together|alongside|either|mix|combine)).*$|human|transfer/,
  },
  needless_transfer: {
    must: [/\b(transfer|hand|escalat|forward|pass)\w*/, /\b(only|unless|never|if and only|last resort|solely)\b/],
    may: [/\bhuman\b/, /\b(scope|tool|request|actions?|help)\b/],
    never: /\bbill\b|\bproactive/,
  },
  transfer_message: { must: [/\btransfer/, /\bplease hold on\b|\b(send|say|tell|write|message)\b[^.]*["'“‘]/], may: [/please hold on/] },
};

export interface TransferRules {
  transfers: readonly string[];
  /** What the agent can do for customers, in the customers' words. */
  scope: RegExp;
  /** What a customer says whom only a human can help. */
  outside?: RegExp;
}

const HUMAN =
  /\b(human|representative|supervisor|manager|real person|someone (else|real|who)|speak (to|with)|talk (to|with)|transfer|escalat\w*|operator|agent)\b/i;
/** Beside a call, an agent may note what it thinks. Only words for the customer break the rule. */
const FOR_CUSTOMER = /\b(you|your|yours|please|thank|thanks|sorry|let me|one moment|hello|hi|i'll|i will|i'm going to|sure)\b|\?/i;
const HOLD = /please hold on/i;

/** Checks the calls of each message, and the texts beside them. */
export function checkTurns({ events, messages }: LayeredConversation, log: RuleLog): void {
  if (!messages) return;
  const turns = groupBy(
    events.map((event, place) => ({ event, place })),
    ({ place }) => messages[place]!,
  );
  for (const turn of turns.values()) {
    const calls = turn.filter(({ event }) => event.kind === 'tool');
    if (calls.length === 0) continue;
    const place = calls[0]!.place;
    log.checkSaid('several_calls', place, () => (calls.length > 1 ? `${calls.length} calls in one message` : null));
    const beside = turn
      .flatMap(({ event }) => (event.kind === 'agent' ? [readable(event.text)] : []))
      .find((text) => FOR_CUSTOMER.test(text));
    log.checkSaid('text_beside_call', place, () => (beside === undefined ? null : `spoke beside a call: ${short(beside)}`));
  }
}

/**
 * Checks transfers. A transfer is needless if the agent tried nothing for a request within its scope.
 * @param doable why a request at this place could be served. Null: nothing is known
 */
export function checkTransfers(
  conversation: LayeredConversation,
  log: RuleLog,
  { transfers, scope, outside }: TransferRules,
  doable: (place: number) => string | null = () => null,
): void {
  const { events } = conversation;
  let tried = false;
  let transferred = false;
  for (const [place, event] of events.entries()) {
    if (event.kind === 'agent' && !transferred && HOLD.test(event.text) && /transfer/i.test(event.text))
      log.checkSaid('transfer_message', place, () => 'said that it transfers, without calling the tool before');
    if (event.kind !== 'tool') continue;
    if (!transfers.includes(event.call.name)) {
      tried = true;
      continue;
    }
    if (event.result.error) continue;
    transferred = true;
    const heard = heardBefore(conversation, place).join('\n');
    const asked = HUMAN.test(heard) || outside?.test(heard);
    log.checkSaid('needless_transfer', place, () => {
      if (asked || !scope.test(heard)) return null;
      return tried ? doable(place) : 'transferred without trying to serve the request';
    });
    const said = events.slice(place + 1).flatMap((later) => (later.kind === 'agent' ? [later.text] : []));
    if (said.length > 0 && /please hold on/i.test(log.sentence('transfer_message') ?? ''))
      log.check('transfer_message', place, said.some((text) => HOLD.test(text)) ? null : `said after the transfer: ${short(said[0]!)}`);
  }
}

/** The beginning of a text, for people. */
export const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 80 ? `“${line.slice(0, 77)}…”` : `“${line}”`;
};
