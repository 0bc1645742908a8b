/** @file How a data set was written, for its card. */
import { wilson } from '../base/wilson.ts';
import type { AgentUsage } from '../records/agent-server.ts';
import { STEPS } from '../records/written.ts';
import type { SynthesisReport, WriterReport } from './funnel.ts';
import { number, percent, plain, table } from './markdown.ts';

export function writtenText({ places, tried, solved, kept, dropped, seconds, writers }: SynthesisReport): string {
  const rows = places.map((own) => [`${own.domain} ${own.level}`, number(own.tried), number(own.solved), number(own.kept)]);
  const all = rows.length > 1 ? [['all', number(tried), number(solved), number(kept)]] : [];
  return [
    table(['task', 'played', 'reward 1', 'written'], [...rows, ...all]),
    ...(dropped === undefined ? [] : [`Of those that were played, ${number(dropped)} had no outcome, because a simulated tool failed.`]),
    ...(writers ? writersText(writers, tried) : []),
    `Written in ${seconds.toFixed(0)} seconds.`,
    ...new Set(
      places.flatMap(({ domain, world_sha256: sha256 }) => (sha256 ? [`SHA-256 of the scenario ${plain(domain)}: \`${sha256}\`.`] : [])),
    ),
  ].join('\n\n');
}

const TITLES = {
  failed: 'scored: no server failed',
  not_ended: 'ended properly',
  reward: 'reward 1',
  leak: 'the agent says nothing that nobody had told',
  audit: 'no finding of the rules and audits',
  duplicate: 'different from the earlier ones',
} as const;

function writersText({ agent, customer, refused, reasons, wishes, spent }: WriterReport, tried: number): string[] {
  const who = [
    agent
      ? `The agent: ${plain(agent.model)}, temperature ${agent.temperature}, ${agent.hint ? 'with' : 'without'} the right calls as a hidden hint.`
      : 'The agent: demonstrators.',
    customer ? `The customer: ${plain(customer.model)}, temperature ${customer.temperature}.` : 'The customer: scripts.',
  ].join(' ');
  let left = tried;
  const steps = STEPS.map((step) => [TITLES[step], number((left -= refused[step]))]);
  const why = Object.entries(reasons).sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)); // prettier-ignore
  const rates = Object.entries(wishes).sort(([a], [b]) => (a < b ? -1 : 1)).map(([wish, own]) => [wish, rate(own)]); // prettier-ignore
  return [
    who,
    table(['step', 'conversations left'], [['played', number(tried)], ...steps]),
    ...(why.length > 0 ? [table(['refused because', 'conversations'], why.map(([reason, n]) => [reason, number(n)]))] : []), // prettier-ignore
    table(['wish', 'pass rate of the writer'], rates),
    ...(['agent', 'customer'] as const).flatMap((side) => (spent[side] ? [usage(side, spent[side])] : [])),
  ];
}

/** For example `3 of 4: 75.0 % (30.1 % to 95.4 %)`. */
function rate({ tried, solved }: { tried: number; solved: number }): string {
  const ends = wilson(solved, tried);
  return `${solved} of ${tried}${ends ? `: ${percent(solved / tried)} (${percent(ends.low)} to ${percent(ends.high)})` : ''}`;
}

const usage = (side: string, { calls, retries, prompt_tokens, completion_tokens, cost }: AgentUsage): string =>
  `The ${side}'s model: ${number(calls)} requests (${number(retries)} retries), ${number(prompt_tokens)} prompt and ${number(completion_tokens)} completion tokens${cost === undefined ? '' : `, cost ${Number(cost.toPrecision(4))}`}.`;
