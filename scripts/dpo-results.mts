/**
 * @file Writes `docs/results/dpo.json` from the evaluations of `scripts/dpo.sh`, which are in the folders `on-ARM-SEED-RATE` and `on-start-SEED`.
 *
 *     npx tsx scripts/dpo-results.mts --results cold-starts/dpo --tuned 60
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { resultOf } from '../src/evaluation/trial-result.ts';
import { experimentRun } from '../src/experiments/collect.ts';
import type { EvaluationReport } from '../src/records/evaluation.ts';
import type { Trajectory } from '../src/records/trajectory.ts';
import { ARMS, type DpoArm, type DpoFile } from './dpo-table.ts';

const { values } = parseArgs({ options: { results: { type: 'string' }, tuned: { type: 'string' } } });
if (!values.results || !values.tuned) throw new Error('usage: npx tsx scripts/dpo-results.mts --results DIR --tuned SEED');

const file: DpoFile = { tried: {}, chosen: {}, runs: [] };
const rateOf = (name: string) => Number(name.match(/-\d+-(.+)$/)?.[1] ?? 0);
for (const name of readdirSync(values.results).sort((a, b) => rateOf(a) - rateOf(b))) {
  const found = name.match(/^on-(dpo|sft|start)-(\d+)(?:-(.+))?$/);
  // The evaluation may not be finished.
  if (!found || !existsSync(`${values.results}/${name}/result.json`)) continue;
  const [, arm, seed, rate] = found as unknown as [string, DpoArm, string, string | undefined];
  if (seed === values.tuned) {
    const { pass_hat } = JSON.parse(readFileSync(`${values.results}/${name}/result.json`, 'utf8')) as EvaluationReport;
    (file.tried[arm] ??= {})[rate!] = pass_hat[0]!.value;
    continue;
  }
  if (rate !== undefined && (file.chosen[arm] ??= rate) !== rate)
    throw new Error(
      `${values.results} has ${arm} with two learning rates, ${file.chosen[arm]} and ${rate}: expected one; remove the other folders`,
    );
  const lines = readFileSync(`${values.results}/${name}/trajectories-1.jsonl`, 'utf8').trim().split('\n');
  const results = lines.map((line) => resultOf(JSON.parse(line) as Trajectory));
  const { intents: _, ...run } = experimentRun({
    variant: arm,
    seed: Number(seed),
    config: { use_kl_loss: false },
    metrics: [],
    evaluations: [{ step: 0, seconds: 0, results }],
  });
  file.runs.push(run);
}
// A seed counts when all arms have it.
file.runs = file.runs.filter(({ seed }) => file.runs.filter((run) => run.seed === seed).length === ARMS.length);
writeFileSync(new URL('../docs/results/dpo.json', import.meta.url), `${JSON.stringify(file)}\n`);
