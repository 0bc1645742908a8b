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
  ...processLines(report),
  `${report.tasks} tasks × ${report.trials}; ${report.noop_tasks} are no-op tasks${report.noop_skipped ? `, ${report.noop_skipped} more no-op tasks skipped` : ''}; ${report.unscored} episodes unscored${report.unscored_reason ? ` (${report.unscored_reason})` : ''}; ${report.turns_mean.toFixed(1)} turns; ${report.seconds.toFixed(0)} s`,
  ...tallyLine('ended by', report.terminations),
  ...(report.agent ? [agentLine(report.agent)] : []),
  ...(report.violations ? tallyLine('violations', report.violations) : ['violations: not audited']),
  ...shareLine("writes with the customer's yes", report.confirmed_writes),
  ...shareLine('arguments of calls copied from the conversation', report.copied_arguments),
  ...scoreLines(report),
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

/** What was right on the way, where the success is all or nothing. */
export function processLines({
  process,
  turns_before_failure: turns,
  next_call: next,
}: Pick<EvaluateReport, 'process' | 'turns_before_failure' | 'next_call'>): string[] {
  const [unread, unscored] = [next?.unread ?? 0, next?.unscored ?? 0];
  const missing = `${unread > 0 ? `, ${unread} beyond the context` : ''}${unscored > 0 ? `; ${unscored} tasks unscored` : ''}`;
  return [
    ...shareLine('process score', process),
    ...(turns
      ? [`turns before the first failure: ${turns.value.toFixed(2)}  (95 %: ${turns.low.toFixed(2)} to ${turns.high.toFixed(2)})`]
      : []),
    ...shareLine(`next call right after the right conversation (${next?.right} of ${next?.of} calls${missing})`, next),
    ...(next?.agent ? [agentLine(next.agent)] : []),
  ];
}

/** At most three decimals, as upstream's scores of a set have. */
const shortened = (value: number) => String(Number(value.toFixed(3)));

export const derivedLine = ({ derived }: Pick<EvaluateReport, 'derived'>): string[] =>
  derived === undefined ? [] : [`${derived}: these are no official figures`];

const shareLine = (title: string, share: Interval | null | undefined) =>
  share ? [`${title}: ${percent(share.value)}  (95 %: ${percent(share.low)} to ${percent(share.high)})`] : [];

/** The groups of tasks, and the benchmark's own number. */
export const scoreLines = ({ by_intent = {}, score }: Partial<Pick<EvaluateReport, 'by_intent' | 'score'>>): string[] => [
  ...intentLines(by_intent),
  ...(score ? [`${score.name}: ${percent(score.value)}, the mean of these`] : []),
];

/** A line for each intent of the tasks with one wish. */
function intentLines(groups: EvaluateReport['by_intent']): string[] {
  const single = Object.entries(groups).filter(([intent]) => !intent.includes('+'));
  if (single.length < 2) return [];
  return single.map(([intent, { tasks, pass_hat_1, process, writes }]) => {
    const asked = writes && writes.of > 0 ? `, ${writes.confirmed} of ${writes.of} writes with a yes` : '';
    const way = process === undefined ? '' : `, process ${shortened(process)}`;
    return `  ${intent || 'no wish'}: pass^1 ${percent(pass_hat_1)} of ${tasks} tasks${way}${asked}`;
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
