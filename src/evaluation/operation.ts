/** @file What the conversations of an evaluation needed: turns, calls, seconds, tokens and cost. */
import type { AgentUsage } from '../records/agent-server.ts';
import type { TrialResult } from '../records/evaluation.ts';
import type { Figure, Figures, TrialCard } from '../records/scorecard.ts';
import { type CardedTrial, meanOf, shareOf, shareWithin } from './figures.ts';

/** The tools that belong to no domain, beside those that hand over. */
const GENERIC = ['calculate', 'think'];

/** How often the agent called tools. @param names only these tools */
const callsIn = ({ calls }: TrialCard, names?: readonly string[]): number =>
  Object.entries(calls).reduce((sum, [name, n]) => sum + (!names || names.includes(name) ? n : 0), 0);

/** The calls of tools. @param transfers the tools that hand the customer over to a human */
export function callFigures(trials: readonly CardedTrial[], transfers: readonly string[]): Figures {
  const names = [...new Set(trials.flatMap(({ card }) => Object.keys(card.calls)))].sort();
  const generic = shareWithin(trials, 'calls', ({ card }) => ({ sum: callsIn(card, [...GENERIC, ...transfers]), of: callsIn(card) }));
  return {
    calls: meanOf(trials, ({ card }) => callsIn(card)),
    calls_by_tool: Object.fromEntries(names.map((name) => [name, meanOf(trials, ({ card }) => callsIn(card, [name]))])),
    generic_calls: generic ?? { na: 'No tool was called.' },
    hand_overs:
      transfers.length > 0
        ? shareOf(trials, 'conversations', ({ card }) => callsIn(card, transfers) > 0)
        : { na: 'The domain has no tool that hands over.' },
  };
}

/** The seconds of sampling, of tools, and of waiting for the customer. */
export function timeFigures(trials: readonly CardedTrial[]): Record<string, Figure> {
  const timed = trials.flatMap(({ card: { seconds } }) => (seconds ? [seconds] : []));
  const figure = (part: 'generate' | 'tool' | 'user'): Figure =>
    timed.length === 0 && trials.length > 0 ? { na: 'The file has no times.' } : meanOf(timed, (seconds) => seconds[part]);
  return { generate: figure('generate'), tool: figure('tool'), user: figure('user') };
}

/** Tokens, requests and cost. Conversations of our own models have tokens of their own. A server reports those of its requests. */
export function usageFigures(played: readonly TrialResult[]): Figures {
  const own = played.filter(({ tokens }) => tokens > 0);
  const served = played.flatMap(({ agent }) => agent ?? []);
  const priced = served.filter(({ cost }) => cost !== undefined);
  const local = served.length === 0 ? { na: 'No model behind a server played.' } : null;
  const reported = (number: (usage: AgentUsage) => number): Figure => {
    if (local) return local;
    return served.some(({ unreported }) => unreported > 0)
      ? { na: 'The server did not report the tokens of all answers.' }
      : meanOf(served, number);
  };
  return {
    tokens: {
      own: own.length > 0 ? meanOf(own, ({ tokens }) => tokens) : { na: 'No conversation has tokens of its own.' },
      prompt: reported((usage) => usage.prompt_tokens),
      completion: reported((usage) => usage.completion_tokens),
    },
    requests: local ?? meanOf(served, ({ calls }) => calls),
    cost: !local && priced.length === 0 ? { na: 'No prices were given.' } : reported(({ cost = 0 }) => cost),
  };
}
