/**
 * Makes the recorded run of the home page (public/recorded/run.mua.zip) from the output of `mua train --out DIR`. It is a run bundle with
 * all metrics, all messages of some groups, and an evaluation before and after training. First make the two evaluations:
 *
 *     ./mua evaluate --model models/nano-retail --tasks 48 --seed 1 --output BEFORE.jsonl
 *     ./mua evaluate --model DIR --tasks 48 --seed 1 --output AFTER.jsonl
 *
 * Usage: npx tsx scripts/record-run.mts DIR BEFORE.jsonl AFTER.jsonl [--preset nano] [--set key=value …]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { StepMetrics } from '../src/records/run.ts';
import type { Trajectory } from '../src/records/trajectory.ts';
import { readRunBundle } from '../src/exchange/run-bundle.ts';
import { writeRunBundle } from '../src/exchange/write-run-bundle.ts';
import type { SharedEvaluation, SharedRun, SharedTrial } from '../src/records/bundle.ts';
import { estimateAdvantages, meanAdvantage } from '../src/training/advantages.ts';
import { grpoConfig } from '../src/training/config.ts';
import { outcomeOf } from '../src/training/grpo.ts';
import { evaluationSettings } from '../src/training/evaluation-settings.ts';
import { DEFAULT_PRESET, PRESETS } from '../src/training/presets.ts';
import { runName } from '../src/trainer/run-name.ts';
import { summarize } from '../src/trainer/summary.ts';

const GROUPS = 11;
const TELLING = 4;
/** Settings of the `./mua evaluate` above. */
const EVALUATION = { seed: 1, trials: 1, temperature: 1 };
const MAX_BYTES = 400_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { preset: { type: 'string', default: DEFAULT_PRESET }, set: { type: 'string', multiple: true, default: [] } },
});
const [directory, ...evaluated] = positionals;
if (!directory || evaluated.length !== 2)
  throw new Error('usage: npx tsx scripts/record-run.mts DIR BEFORE.jsonl AFTER.jsonl [--preset NAME] [--set key=value …]');
const lines = <T,>(path: string): T[] =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);

const config = grpoConfig(values.preset, Object.fromEntries(values.set.map((pair) => pair.split(/=(.*)/s).slice(0, 2))));
const metrics = lines<StepMetrics>(join(directory, 'metrics.jsonl'));
const groups = new Map<string, Trajectory[]>();
for (const trajectory of lines<Trajectory>(join(directory, 'trajectories.jsonl'))) {
  if (trajectory.reward !== null) groups.set(trajectory.group, [...(groups.get(trajectory.group) ?? []), trajectory]);
}
const stepOf = (group: string) => Number(group.split('-')[0]);

/** `n` evenly spread items, with the first and the last item. */
function spread<T>(items: T[], n: number): T[] {
  if (items.length <= n) return items;
  return Array.from({ length: n }, (_, i) => items[Math.round((i * (items.length - 1)) / (n - 1))]!);
}
const mixed = [...groups.keys()].filter((group) => new Set(groups.get(group)!.map((t) => t.reward)).size > 1);
/** Groups whose tokens were scored again after the update. Only in these groups the token view has values for all its channels. */
const inspected = mixed.filter((group) => groups.get(group)!.some(({ nodes }) => nodes.some(({ annotations }) => annotations?.delta_p)));
const telling = [inspected, mixed, [...groups.keys()]].find(({ length }) => length > 0)!;
const failed = (group: string, why: (trajectory: Trajectory) => boolean) =>
  groups.get(group)!.some((t) => t.reward === 0 && !t.task.noop && why(t));
/** A group with a failure at a simple task. `unasked` is a group with the paper's example: the agent writes without asking. */
const plain = telling.find((group) =>
  failed(group, ({ task: { scenario } }) => scenario.wishes.length === 1 && !scenario.wishes[0]!.insteadOf),
);
const unasked = telling.findLast((group) =>
  failed(group, ({ violations, verdict }) => verdict!.changes.length > 0 && violations.some(({ rule }) => rule === 'unconfirmed_write')),
);
const shown = [...new Set([plain, unasked, ...spread(telling, TELLING)])].filter((group) => group !== undefined).slice(0, TELLING);
const listed = [...new Set([...shown, ...spread([...groups.keys()], GROUPS - shown.length)])].sort((a, b) => stepOf(a) - stepOf(b));

/** Id of the rollout → advantage. An advantage depends on all rollouts of a step. */
const advantages = new Map<string, number>();
for (const step of new Set([...groups.keys()].map(stepOf))) {
  const played = [...groups].flatMap(([group, members]) => (stepOf(group) === step ? [members] : []));
  const outcomes = played.map((members) => members.map((t) => outcomeOf(t, config)));
  const estimates = estimateAdvantages(outcomes, config).flat();
  played.flat().forEach((t, i) => advantages.set(t.id, meanAdvantage(estimates[i]!)));
}
const rollouts = listed.flatMap((group) => groups.get(group)!.map((t) => summarize(t, stepOf(group), advantages.get(t.id)!)));
// Does not round integers, because they are token ids.
const round = (value: number | null) => (value === null || Number.isInteger(value) ? value : Number(value.toPrecision(4)));
const rounded = <T extends Trajectory>(t: T): T => ({
  ...t,
  nodes: t.nodes.map((node) => ({
    ...node,
    logprobs: node.logprobs.map(round),
    ...(node.annotations && {
      annotations: Object.fromEntries(Object.entries(node.annotations).map(([name, list]) => [name, list.map(round)])),
    }),
  })),
});
const trajectories = listed.flatMap((group) => groups.get(group)!.map(rounded));
const createdAt = Date.now();
const run: SharedRun = {
  id: 'recorded',
  name: runName(config.seed, createdAt),
  createdAt,
  status: 'done',
  step: metrics.at(-1)!.step,
  request: { model: PRESETS[values.preset]!.model, preset: values.preset, overrides: {}, user: { mode: 'scripted' } },
  config: { ...config, total_training_steps: metrics.at(-1)!.step },
};
const trials = evaluated.flatMap((path, i) =>
  lines<Trajectory>(path).map((t): SharedTrial => ({ ...rounded(t), evaluation: `recorded-${i === 0 ? 'before' : 'after'}` })),
);
const evaluations = [0, run.step].map((step, i): SharedEvaluation => {
  const id = `recorded-${i === 0 ? 'before' : 'after'}`;
  const own = trials.filter(({ evaluation }) => evaluation === id);
  const {
    task: { domain, level },
  } = own[0]!;
  const seconds = own.reduce((sum, t) => sum + t.seconds.generate + t.seconds.tool + t.seconds.user, 0);
  const settings = evaluationSettings({
    domain,
    level,
    split: 'heldout',
    tasks: own.length / EVALUATION.trials,
    ...EVALUATION,
    user: { mode: 'scripted' },
  });
  return { id, step, createdAt: createdAt + i, seconds, settings };
});
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const bundle = await writeRunBundle(
  { run, metrics, rollouts, trajectories, branches: [], evaluations, trials, model: null },
  { appVersion: version, created: new Date(createdAt) },
);
const bytes = new Uint8Array(await bundle.arrayBuffer());
await readRunBundle(bytes); // throws if the page could not read the file
if (bytes.length > MAX_BYTES)
  throw new Error(`the bundle has ${bytes.length} bytes: expected at most ${MAX_BYTES}, as it is loaded on the first page`);
mkdirSync('public/recorded', { recursive: true });
writeFileSync('public/recorded/run.mua.zip', bytes);
console.log(
  `public/recorded/run.mua.zip: ${metrics.length} records, ${rollouts.length} rollouts, ${trials.length} trials, ${(bytes.length / 1024).toFixed(0)} KiB`,
);
