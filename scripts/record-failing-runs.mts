/**
 * Records runs that fail in the ways that alarms find: src/app/learn/failing-runs/NAME.json, with the command and the metrics
 * that alarms read. The lesson “When training goes wrong” shows them, and a test reads them. Usage: npx tsx scripts/record-failing-runs.mts [NAME …]   (about a minute a run on two idle cores)
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StepMetrics } from '../src/records/run.ts';
import { ALARM_METRICS } from '../src/training/alarms.ts';

const FOLDER = 'src/app/learn/failing-runs';
/** Settings that all runs share. The preset has changed since they were recorded, so they name what they need of it. */
const SHARED = {
  val_tasks: 0,
  inspect: false,
  lr_scheduler_type: 'linear',
  'customers.upfront': 0.15,
  'customers.changes_mind': 0.8,
  'customers.impossible': 0.05,
};
/** Settings of each run, in place of those of the preset `glimpse`. */
const RUNS: Record<string, Record<string, string | number | boolean>> = {
  // The reference is kept and every group is in the update, so that KL and entropy are measured at every step.
  'high-learning-rate': { lr: 0.01, lr_scheduler_type: 'constant', use_kl_loss: true, filter_groups: false, total_training_steps: 16 },
  // The reward pays for short conversations alone. Customers let the agent write at once.
  'price-on-length-alone': {
    'reward.outcome': 0,
    'reward.length': 2,
    'customers.upfront': 0.75,
    'customers.changes_mind': 0,
    'customers.impossible': 0.25,
    total_training_steps: 20,
  },
  // Greedy rollouts of a group are equal.
  'greedy-rollouts': { temperature: 0, total_training_steps: 6 },
  // The model imitates its own successes, again and again.
  'own-successes-alone': { algorithm: 'rft', lr: 3e-3, rft_epochs: 3, total_training_steps: 20 },
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(RUNS, name));
if (unknown !== undefined) throw new Error(`unknown run "${unknown}": expected one of ${Object.keys(RUNS).join(', ')}`);
mkdirSync(FOLDER, { recursive: true });
for (const [name, settings] of Object.entries(RUNS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const sets = Object.entries({ ...SHARED, ...settings }).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const args = ['train', '--preset', 'glimpse', '--seed', '60', ...sets];
  const scratch = mkdtempSync(join(tmpdir(), 'failing-run-'));
  const { status } = spawnSync(process.execPath, ['bin/mua.mjs', ...args, '--out', join(scratch, 'run')], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`the run "${name}" ended with status ${status}`);
  const lines = readFileSync(join(scratch, 'run', 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n');
  rmSync(scratch, { recursive: true });
  const metrics = lines.map((line) => {
    const step = JSON.parse(line) as StepMetrics;
    const kept = ALARM_METRICS.flatMap((metric) => (step[metric] === undefined ? [] : [[metric, Number(step[metric].toPrecision(4))]]));
    return { step: step.step, ...Object.fromEntries(kept) };
  });
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify({ command: `./mua ${args.join(' ')} --out DIR`, metrics }, null, 2)}\n`);
}
