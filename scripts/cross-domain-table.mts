/**
 * @file Writes `docs/results/cross-domain.json` from the evaluations of `scripts/cross-domain.sh`: for each arm and domain its pass^1 and its share
 * of writes with the customer's yes, as means over seeds with 95 % intervals, and the gain of pass^1 from the start, paired by task and seed.
 *
 *     npx tsx scripts/cross-domain-table.mts --results cross-domain --seeds 50,51,52
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { confirmedWrites, resultOf } from '../src/evaluation/trial-result.ts';
import { pairTrials } from '../src/evaluation/paired.ts';
import { differencesOverSeeds, sharesOverSeeds } from '../src/experiments/estimate.ts';
import type { TrialResult } from '../src/records/evaluation.ts';
import type { Trajectory } from '../src/records/trajectory.ts';
import { ARMS, CROSSED, type CrossDomain, type CrossFigures } from './matrix-table.ts';

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

/** A value for each write of a trial: 1 if the customer had said yes, else 0. */
const writes = (trial: TrialResult): number[] => {
  const { confirmed, of } = confirmedWrites([trial]);
  return Array.from({ length: of }, (_, i) => Number(i < confirmed));
};
const rewards = (trials: readonly TrialResult[]) => trials.flatMap(({ reward }) => reward ?? []);

function figuresOf(domain: string, arm: string): CrossFigures {
  const trials = trialsOf(domain, arm);
  const start = trialsOf(domain, 'start');
  const gains = trials.map((of, i) => pairTrials(start[i]!, of).map(({ before, after }) => after.reward! - before.reward!));
  const [pass, asks] = [sharesOverSeeds(trials.map(rewards)), sharesOverSeeds(trials.map((of) => of.flatMap(writes)))];
  const gain = arm === 'start' ? null : differencesOverSeeds(gains);
  return { ...(pass && { pass }), ...(gain && { gain }), ...(asks && { asks }) };
}

const results = Object.fromEntries(
  ARMS.map((arm) => [arm, Object.fromEntries(CROSSED.map((domain) => [domain, figuresOf(domain, arm)]))]),
) as CrossDomain;
writeFileSync(new URL('../docs/results/cross-domain.json', import.meta.url), `${JSON.stringify(results, null, 1)}\n`);
