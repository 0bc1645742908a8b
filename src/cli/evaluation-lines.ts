/** @file The lines that `mua evaluate` prints about its report. */
import type { AgentUsage } from '../records/agent-server.ts';
import type { Interval, Overlap } from '../records/evaluation.ts';
import type { EvaluateReport, EvaluateResult } from '../trainer/messages.ts';
import { correctedText, holm } from '../base/holm.ts';
import { percent } from './commands/shared.ts';

const points = (x: number) => `${x < 0 ? '−' : '+'}${Math.abs(100 * x).toFixed(1)}`;

/** A line for each customer after the first: its difference from the first. With several, p-values are after Holm's correction. */
export function differenceLines([first, ...others]: readonly string[], differences: EvaluateResult['differences']): string[] {
  const corrected = holm(differences.map((difference) => difference?.p ?? null));
  const comparisons = corrected.filter((p) => p !== null).length;
  return differences.map((difference, i) => {
    if (!difference) return `${others[i]} − ${first}: no trial was scored with both`;
    const { difference: value, low, high, tasks } = difference;
    return `${others[i]} − ${first}: ${points(value)} points  (95 %: ${points(low)} to ${points(high)}; ${tasks} tasks, paired; ${correctedText(corrected[i]!, comparisons)})`;
  });
}

export const passLines = (pass: EvaluateReport['pass_hat']): string[] =>
  pass.map(({ k, value, low, high }) => `pass^${k}  ${percent(value)}  (95 %: ${percent(low)} to ${percent(high)})`);

export const reportLines = (report: EvaluateReport): string[] => [
  ...derivedLine(report),
  ...passLines(report.pass_hat),
  `TCR     ${percent(report.tcr.value)}  (95 %: ${percent(report.tcr.low)} to ${percent(report.tcr.high)}): share of a task's criteria that are met`,
  `${report.tasks} tasks × ${report.trials}; ${report.noop_tasks} are no-op tasks${report.noop_skipped ? `, ${report.noop_skipped} more no-op tasks skipped` : ''}; ${report.unscored} episodes unscored${report.unscored_reason ? ` (${report.unscored_reason})` : ''}; ${report.turns_mean.toFixed(1)} turns; ${report.seconds.toFixed(0)} s`,
  ...tallyLine('ended by', report.terminations),
  ...(report.agent ? [agentLine(report.agent)] : []),
  ...(report.violations ? tallyLine('violations', report.violations) : ['violations: not audited']),
  ...shareLine("writes with the customer's yes", report.confirmed_writes),
  ...shareLine('arguments of calls copied from the conversation', report.copied_arguments),
  ...intentLines(report.by_intent),
  ...(report.score ? [`${report.score.name}: ${percent(report.score.value)}, the mean of these`] : []),
  ...tallyLine('tools', report.tool_calls),
  ...(report.customer ? customerLines(report.customer) : []),
  ...(report.seen_utterances ? [`customers: ${overlapText(report.seen_utterances)}`] : []),
];

/** For example `agent: 12 calls (1 retries), 3,400 prompt and 120 completion tokens, 14 s of waiting for answers, cost 0.02`. */
export function agentLine({ calls, retries, unreported, prompt_tokens, completion_tokens, seconds, cost }: AgentUsage): string {
  const count = (value: number) => value.toLocaleString('en-US');
  const missing = unreported > 0 ? ` (${count(unreported)} answers report none)` : '';
  return [
    `agent: ${count(calls)} calls (${count(retries)} retries)`,
    `${count(prompt_tokens)} prompt and ${count(completion_tokens)} completion tokens${missing}`,
    `${seconds.toFixed(0)} s of waiting for answers`,
    ...(cost === undefined ? [] : [`cost ${Number(cost.toPrecision(4))}`]),
  ].join(', ');
}

/** For example `0.0 % of 883 utterances occur in training (ids masked)`. */
export const overlapText = ({ seen, of }: Overlap): string =>
  `${percent(of === 0 ? 0 : seen / of)} of ${of} utterances occur in training (ids masked)`;

export const derivedLine = ({ derived }: Pick<EvaluateReport, 'derived'>): string[] =>
  derived === undefined ? [] : [`${derived}: these are no official figures`];

const shareLine = (title: string, share: Interval | null | undefined) =>
  share ? [`${title}: ${percent(share.value)}  (95 %: ${percent(share.low)} to ${percent(share.high)})`] : [];

/** A line for each intent of the tasks with one wish. */
function intentLines(groups: EvaluateReport['by_intent']): string[] {
  const single = Object.entries(groups).filter(([intent]) => !intent.includes('+'));
  if (single.length < 2) return [];
  return single.map(([intent, { tasks, pass_hat_1, writes }]) => {
    const asked = writes && writes.of > 0 ? `, ${writes.confirmed} of ${writes.of} writes with a yes` : '';
    return `  ${intent || 'no wish'}: pass^1 ${percent(pass_hat_1)} of ${tasks} tasks${asked}`;
  });
}

const customerLines = ({ rate, faulty, episodes, judged, kinds, denied, wrong }: NonNullable<EvaluateReport['customer']>): string[] =>
  rate
    ? [
        `customer: faults in ${faulty} of ${episodes} conversations, ${percent(rate.value)}  (95 %: ${percent(rate.low)} to ${percent(rate.high)}); reward denied in ${denied} of ${wrong} wrong ones`,
        ...tallyLine('faults of the customer', kinds),
        ...(judged > 0 ? [`a model did a part of the audit in ${judged} of ${episodes} conversations`] : []),
      ]
    : [];

export function tallyLine(title: string, table: Partial<Record<string, number>>): string[] {
  const entries = (Object.entries(table) as [string, number][]).sort((a, b) => b[1] - a[1]);
  return [`${title}: ${entries.map(([name, n]) => `${name} ${n}`).join(', ') || 'none'}`];
}
