/**
 * Records runs that fail in ways that alarms detect. It writes src/app/learn/failing-runs/NAME.json, with the command of the run and the
 * metrics that alarms read. The lesson “When training goes wrong” shows these runs, and a test reads them.
 * Usage: npx tsx scripts/record-failing-runs.mts [NAME …]
 * Without a GPU, a run takes about a minute on two idle cores, and that of SmolLM2 a quarter of an hour. Before that one, run
 * scripts/smollm2-cold-start.sh.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StepMetrics } from '../src/records/run.ts';
import { ALARM_METRICS } from '../src/training/alarms.ts';

const FOLDER = 'src/app/learn/failing-runs';
/** Settings that all runs with our own model share. The preset has changed since they were recorded, so its old values are given here. */
const SHARED = {
  val_tasks: 0,
  inspect: false,
  lr_scheduler_type: 'linear',
  'customers.upfront': 0.15,
  'customers.changes_mind': 0.8,
  'customers.impossible': 0.05,
};
type Settings = Record<string, string | number | boolean>;
const glimpse = (settings: Settings): string[] => ['--preset', 'glimpse', '--seed', '60', ...set({ ...SHARED, ...settings })];
const set = (settings: Settings): string[] => Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);

/** The arguments of each run. */
const RUNS: Record<string, string[]> = {
  // With the KL loss and without the filter of groups, KL and entropy are measured at every step.
  'high-learning-rate': glimpse({
    lr: 0.01,
    lr_scheduler_type: 'constant',
    use_kl_loss: true,
    filter_groups: false,
    total_training_steps: 16,
  }),
  // The reward only punishes long conversations. Most customers tell everything at once, so the agent can write early.
  'price-on-length-alone': glimpse({
    'reward.outcome': 0,
    'reward.length': 2,
    'customers.upfront': 0.75,
    'customers.changes_mind': 0,
    'customers.impossible': 0.25,
    total_training_steps: 20,
  }),
  // All greedy rollouts of a group are equal.
  'greedy-rollouts': glimpse({ temperature: 0, total_training_steps: 6 }),
  // The model imitates only its own successes, several times in each step.
  'own-successes-alone': glimpse({ algorithm: 'rft', lr: 3e-3, rft_epochs: 3, total_training_steps: 20 }),
  // A pretrained model after its cold start. The KL loss counts nothing, but KL is measured. The run stops at the first alarm.
  'pretrained-high-rate': [
    ...['--preset', 'smollm2', '--model', 'cold-starts/smollm2-135m.gguf', '--lora', 'cold-starts/smollm2', '--seed', '60'],
    ...set({ lr: 3e-3, lr_warmup_steps: 0, use_kl_loss: true, kl_loss_coef: 0, val_tasks: 0 }),
    '--stop-on-alarm',
  ],
};

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(RUNS, name));
if (unknown !== undefined) throw new Error(`unknown run "${unknown}": expected one of ${Object.keys(RUNS).join(', ')}`);
mkdirSync(FOLDER, { recursive: true });
for (const [name, settings] of Object.entries(RUNS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const args = ['train', ...settings];
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
