/**
 * @file The table of `scripts/cross-domain.sh`: for each arm its pass^1 and its share of writes with the customer's yes on both domains,
 * in percent, as means over seeds with 95 % intervals. Differences from the start are paired by task and seed for pass^1, and by seed
 * for the share.
 *
 *     npx tsx scripts/cross-domain-table.mts --results cross-domain --seeds 50,51,52
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { confirmedShare, confirmedWrites, resultOf } from '../src/evaluation/trial-result.ts';
import { pairTrials } from '../src/evaluation/paired.ts';
import { points } from '../src/experiments/analysis.ts';
import { differencesOverSeeds, type Estimate, overSeeds, sharesOverSeeds } from '../src/experiments/estimate.ts';
import type { TrialResult } from '../src/records/evaluation.ts';
import type { Trajectory } from '../src/records/trajectory.ts';

const { values } = parseArgs({ options: { results: { type: 'string' }, seeds: { type: 'string' } } });
if (!values.results || !values.seeds) throw new Error('usage: npx tsx scripts/cross-domain-table.mts --results DIR --seeds 50,51,52');
const seeds = values.seeds.split(',');

/** For each seed the trials of an arm. */
const trialsOf = (domain: string, arm: string): TrialResult[][] =>
  seeds.map((seed) =>
    readFileSync(`${values.results}/on-${domain}/${arm}-${seed}/trajectories-1.jsonl`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => resultOf(JSON.parse(line) as Trajectory)),
  );

const shown = (estimate: Estimate | null): string =>
  estimate ? `${points(estimate.value)} (${points(estimate.low)} to ${points(estimate.high)})` : 'no writes';
/** A value for each write of a trial: 1 if the customer had said yes, else 0. */
const writes = (trial: TrialResult): number[] => {
  const { confirmed, of } = confirmedWrites([trial]);
  return Array.from({ length: of }, (_, i) => Number(i < confirmed));
};
const rewards = (trials: readonly TrialResult[]) => trials.flatMap(({ reward }) => reward ?? []);

for (const domain of ['retail', 'telecom']) {
  console.log(`\nOn ${domain}:\n`);
  console.log('| arm | pass^1 | minus start | asked writes | minus start |\n|---|--:|--:|--:|--:|');
  const start = trialsOf(domain, 'start');
  const startShares = start.map(confirmedShare);
  for (const arm of ['start', 'grpo-retail', 'sft-retail', 'grpo-telecom', 'sft-telecom']) {
    const trials = trialsOf(domain, arm);
    const shares = trials.map(confirmedShare);
    const gains = trials.map((of, i) => pairTrials(start[i]!, of).map(({ before, after }) => after.reward! - before.reward!));
    const shareGains = shares.flatMap((share, i) => (share === null || startShares[i] == null ? [] : share - startShares[i]));
    const differences = arm === 'start' ? ['', ''] : [shown(differencesOverSeeds(gains)), shown(overSeeds(shareGains, [-1, 1]))];
    const asked = sharesOverSeeds(trials.map((of) => of.flatMap(writes)));
    console.log(`| ${[arm, shown(sharesOverSeeds(trials.map(rewards))), differences[0], shown(asked), differences[1]].join(' | ')} |`);
  }
}
