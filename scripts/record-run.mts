/**
 * Turns the output of `mua train --out DIR` into the recorded run of the home page, public/recorded/run.mua.zip: a run
 * bundle as the page exports it, with every metric, some groups, and the whole trajectories of three that show something.
 * Usage: npx tsx scripts/record-run.mts DIR [--preset nano] [--set key=value …]
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Trajectory } from '../src/agent/types.ts';
import { readRunBundle, writeRunBundle } from '../src/exchange/run-bundle.ts';
import type { SharedRun } from '../src/exchange/run-schema.ts';
import { groupAdvantages } from '../src/training/advantages.ts';
import { grpoConfig } from '../src/training/config.ts';
import { DEFAULT_PRESET, PRESETS } from '../src/training/presets.ts';
import { runName } from '../src/training/run-name.ts';
import { summarize } from '../src/training/summary.ts';
import type { StepMetrics } from '../src/training/types.ts';

const GROUPS_LISTED = 40;
const GROUPS_WHOLE = 3;
const MAX_BYTES = 400_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { preset: { type: 'string', default: DEFAULT_PRESET }, set: { type: 'string', multiple: true, default: [] } },
});
const directory = positionals[0];
if (!directory) throw new Error('usage: npx tsx scripts/record-run.mts DIR [--preset NAME] [--set key=value …]');
const lines = <T,>(name: string): T[] => readFileSync(join(directory, name), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as T);

const config = grpoConfig(values.preset, Object.fromEntries(values.set.map((pair) => pair.split(/=(.*)/s).slice(0, 2))));
const metrics = lines<StepMetrics>('metrics.jsonl');
const groups = new Map<string, Trajectory[]>();
for (const trajectory of lines<Trajectory>('trajectories.jsonl')) {
  if (trajectory.reward !== null) groups.set(trajectory.group, [...(groups.get(trajectory.group) ?? []), trajectory]);
}
const stepOf = (group: string) => Number(group.split('-')[0]);

/** `n` of `items`, evenly spread, the first and the last among them. */
function spread<T>(items: T[], n: number): T[] {
  if (items.length <= n) return items;
  return Array.from({ length: n }, (_, i) => items[Math.round((i * (items.length - 1)) / (n - 1))]!);
}
const mixed = [...groups.keys()].filter((group) => new Set(groups.get(group)!.map((t) => t.reward)).size > 1);
/** Groups that were scored again for the token view: those whose every channel has values. */
const inspected = mixed.filter((group) => groups.get(group)!.some(({ nodes }) => nodes.some(({ annotations }) => annotations?.delta_p)));
const telling = [inspected, mixed, [...groups.keys()]].find(({ length }) => length > 0)!;
const failed = (group: string, why: (trajectory: Trajectory) => boolean) => groups.get(group)!.some((t) => t.reward === 0 && !t.task.noop && why(t));
/** One that is easily played right, and the paper's case: written without asking. */
const plain = telling.find((group) => failed(group, ({ task: { scenario } }) => scenario.wishes.length === 1 && !scenario.wishes[0]!.insteadOf));
const unasked = telling.findLast((group) => failed(group, ({ violations, verdict }) => verdict!.changes.length > 0 && violations.some(({ rule }) => rule === 'unconfirmed_write')));
const whole = [...new Set([plain, unasked, ...spread(telling, GROUPS_WHOLE)])].filter((group) => group !== undefined).slice(0, GROUPS_WHOLE).sort((a, b) => stepOf(a) - stepOf(b));
const listed = [...new Set([...spread([...groups.keys()], GROUPS_LISTED - GROUPS_WHOLE), ...whole])].sort((a, b) => stepOf(a) - stepOf(b));

const rollouts = listed.flatMap((group) => {
  const members = groups.get(group)!;
  const advantages = groupAdvantages(members.map((t) => t.reward!), config.norm_adv_by_std_in_grpo);
  return members.map((t, i) => summarize(t, stepOf(group), advantages[i]!));
});
// Integers are token ids.
const round = (value: number | null) => (value === null || Number.isInteger(value) ? value : Number(value.toPrecision(4)));
const trajectories = whole.flatMap((group) =>
  groups.get(group)!.map((t) => ({
    ...t,
    nodes: t.nodes.map((node) => ({
      ...node,
      logprobs: node.logprobs.map(round),
      ...(node.annotations && { annotations: Object.fromEntries(Object.entries(node.annotations).map(([name, list]) => [name, list.map(round)])) }),
    })),
  })),
);
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
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const bundle = await writeRunBundle({ run, metrics, rollouts, trajectories, branches: [], model: null }, { appVersion: version, created: new Date(createdAt) });
const bytes = new Uint8Array(await bundle.arrayBuffer());
await readRunBundle(bytes); // what the page could not read is not written
if (bytes.length > MAX_BYTES) throw new Error(`the bundle has ${bytes.length} bytes: expected at most ${MAX_BYTES}, as it is loaded on the first page`);
mkdirSync('public/recorded', { recursive: true });
writeFileSync('public/recorded/run.mua.zip', bytes);
console.log(`public/recorded/run.mua.zip: ${metrics.length} records, ${rollouts.length} rollouts, ${trajectories.length} whole trajectories, ${(bytes.length / 1024).toFixed(0)} KiB`);
