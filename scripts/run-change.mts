/**
 * Prints a Markdown table of what training changed. It has one row for each run folder, computed from the first and the last held-out
 * evaluation in `evaluations.jsonl`, and a last row for the tasks of all folders. Values are percentages and percentage points, with 95 %
 * intervals.
 * Usage: npx tsx scripts/run-change.mts DIR …
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { points } from '../src/experiments/analysis.ts';
import { pairedDifference, pairTrials } from '../src/evaluation/paired.ts';
import type { SinkEvaluation } from '../src/trainer/messages.ts';

const withInterval = (value: number, low: number, high: number): string => `${points(value)} (${points(low)} to ${points(high)})`;
const shareOf = (interval: { value: number; low: number; high: number } | null | undefined): string =>
  interval ? withInterval(interval.value, interval.low, interval.high) : '';

console.log('| run | pass^1 before | after | change | tasks gained, lost | writes with a yes, before | after |');
console.log('|---|--:|--:|--:|--:|--:|--:|');
const all: ReturnType<typeof pairTrials> = [];
const directories = process.argv.slice(2);
for (const directory of directories) {
  const evaluations = readFileSync(join(directory, 'evaluations.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SinkEvaluation);
  const [before, after] = [evaluations[0], evaluations.at(-1)];
  if (!before || !after || before === after) throw new Error(`${directory}: expected two held-out evaluations or more`);
  const pairs = pairTrials(before.results, after.results);
  all.push(...pairs);
  const paired = pairedDifference(pairs);
  if (!paired) throw new Error(`${directory}: the evaluations share no task`);
  const { difference, low, high, better, worse } = paired;
  const [first, last] = [before.report, after.report];
  console.log(
    `| ${basename(directory)} | ${shareOf(first.pass_hat[0])} | ${shareOf(last.pass_hat[0])} | ${withInterval(difference, low, high)} | ${better}, ${worse} | ${shareOf(first.confirmed_writes)} | ${shareOf(last.confirmed_writes)} |`,
  );
}
const paired = pairedDifference(all);
if (paired && directories.length > 1) {
  const { before, after, difference, low, high, better, worse } = paired;
  console.log(
    `| all ${paired.tasks} tasks | ${points(before)} | ${points(after)} | ${withInterval(difference, low, high)} | ${better}, ${worse} | | |`,
  );
}
