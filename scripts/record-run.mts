/**
 * Makes a recorded run of the page: public/recorded/NAME.mua.zip, a run bundle with all metrics, all messages of some groups, and an
 * evaluation before and after training. Trains and evaluates into DIR what DIR does not have yet.
 *
 *     npx tsx scripts/record-run.mts recorded DIR --preset nano --seed 42 --tasks 48
 *     npx tsx scripts/record-run.mts recorded-timeouts DIR --preset timeouts --set total_training_steps=40 --seed 50 --tasks 96 --groups 1-3,1-5 --story
 *     npx tsx scripts/record-run.mts recorded-smollm2 DIR --preset smollm2 --model cold-starts/smollm2-135m.gguf --lora cold-starts/smollm2 \
 *       --set train_batch_size=4 --set ppo_mini_batch_size=4 --set lr=1e-4 --set val_before_train=false --set val_tasks=96 --seed 50 --tasks 48
 *
 * Usage: npx tsx scripts/record-run.mts ID DIR --preset NAME --seed S --tasks N [--model FILE --lora DIR] [--set key=value …] [--groups A,B …] [--story]
 *   ID        a run of RECORDED_RUNS
 *   --model   the model, if it is not the preset's bundled one
 *   --lora    the adapter from which the run starts
 *   --tasks   the number of held-out tasks of the two evaluations
 *   --groups  groups to keep in any case, such as those of a lesson
 *   --story   also write the pair of conversations that home plays
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RecordedStory } from '../src/app/home/story.ts';
import { RECORDED_RUNS, recordedEvaluation } from '../src/app/library/recorded-source.ts';
import { readRunBundle } from '../src/exchange/run-bundle.ts';
import { usedVocabulary } from '../src/exchange/used-vocabulary.ts';
import { writeRunBundle } from '../src/exchange/write-run-bundle.ts';
import type { SharedEvaluation, SharedRun, SharedTrial } from '../src/records/bundle.ts';
import type { StepMetrics } from '../src/records/run.ts';
import type { Trajectory } from '../src/records/trajectory.ts';
import { estimateAdvantages, meanAdvantage } from '../src/training/advantages.ts';
import { grpoConfig } from '../src/training/config.ts';
import { outcomeOf } from '../src/training/grpo.ts';
import { heldOutSettings } from '../src/training/evaluation-settings.ts';
import { PRESETS } from '../src/training/presets.ts';
import { runName } from '../src/trainer/run-name.ts';
import { summarize } from '../src/trainer/summary.ts';
import { joinsSkills, storyPair } from './story-pair.ts';

const GROUPS = 11;
const TELLING = 4;
/** Settings of the two evaluations. */
const EVALUATION = { seed: 1, temperature: 1, top_p: 1, top_k: 0, first_stream: 0 };
const MAX_BYTES = 400_000;
const STORY = 'src/app/home/recorded-story.json';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    preset: { type: 'string' },
    seed: { type: 'string' },
    tasks: { type: 'string' },
    model: { type: 'string' },
    lora: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    groups: { type: 'string', default: '' },
    story: { type: 'boolean', default: false },
  },
});
const [id, directory, ...more] = positionals;
const recording = RECORDED_RUNS.find((run) => run.id === id);
const preset = PRESETS[values.preset ?? ''];
const [seed, tasks] = [Number(values.seed), Number(values.tasks)];
if (!recording) throw new Error(`ID is "${id}": expected one of ${RECORDED_RUNS.map((run) => run.id).join(', ')}`);
if (!directory || more.length > 0) throw new Error(`${positionals.length - 1} folders are given: expected one, DIR`);
if (!preset) throw new Error(`--preset is "${values.preset}": expected one of ${Object.keys(PRESETS).join(', ')}`);
for (const [name, value] of Object.entries({ seed, tasks }))
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is "${value}": expected a whole number from 1`);
const overrides = Object.fromEntries(values.set.map((pair) => pair.split(/=(.*)/s).slice(0, 2))) as Record<string, string>;
const config = grpoConfig(values.preset!, { ...overrides, seed: String(seed) });

/** Runs the command line, unless its output exists. */
function mua(output: string, ...args: string[]): void {
  if (existsSync(output)) return;
  const { status } = spawnSync(process.execPath, ['bin/mua.mjs', ...args], { stdio: 'inherit' });
  if (status !== 0) throw new Error(`mua ${args.join(' ')} ended with status ${status}`);
}
const at = (file: string) => join(directory, file);
mkdirSync(directory, { recursive: true });
const [level, settings] = [config.level, values.set.flatMap((pair) => ['--set', pair])];
const base = values.model ?? `models/${preset.model}`;
const from = values.lora === undefined ? ['--model', base] : ['--model', base, '--lora', values.lora];
const training = [...from, '--preset', values.preset!, '--seed', String(seed), ...settings];
mua(at('run/result.json'), 'train', ...training, '--out', at('run'), '--force');
const trained = values.lora === undefined ? ['--model', at('run')] : ['--model', base, '--lora', at('run')];
const evaluated = (['before', 'after'] as const).map((when) => {
  const output = at(`${when}.jsonl`);
  const place = ['--preset', values.preset!, '--level', level, '--tasks', String(tasks), '--seed', String(EVALUATION.seed)];
  const weights = when === 'before' ? from : trained;
  mua(output, 'evaluate', ...weights, '--precision', config.precision, ...place, '--output', output);
  return { when, trials: lines<Trajectory>(output) };
});

function lines<T>(path: string): T[] {
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}
const metrics = lines<StepMetrics>(at('run/metrics.jsonl'));
const groups = new Map<string, Trajectory[]>();
for (const trajectory of lines<Trajectory>(at('run/trajectories.jsonl'))) {
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
/** The first group in which only both skills together succeed. If it can be, its tokens were scored again. */
const joined = [...inspected, ...mixed].find((group) => joinsSkills(groups.get(group)!));
const asked = values.groups.split(',').filter(Boolean);
for (const group of asked) if (!groups.has(group)) throw new Error(`--groups has "${group}": expected groups of the run, such as 1-0`);
const found = [plain, unasked, ...spread(telling, TELLING)].filter((group) => group !== undefined);
const shown = [...new Set([...asked, ...(joined === undefined ? [] : [joined]), ...new Set(found.slice(0, TELLING))])];
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
const conversations = [...trajectories, ...evaluated.flatMap(({ trials: own }) => own)];
const vocabulary =
  values.model === undefined ? undefined : await usedVocabulary(JSON.parse(readFileSync(at('run/tokenizer.json'), 'utf8')), conversations);
const run: SharedRun = {
  id: recording.id,
  name: runName(config.seed, createdAt),
  createdAt,
  status: 'done',
  step: metrics.at(-1)!.step,
  request: { model: preset.model, preset: values.preset!, overrides, user: { mode: 'scripted' } },
  config: { ...config, total_training_steps: metrics.at(-1)!.step },
  ...(vocabulary && { vocabulary }),
};
const trials = evaluated.flatMap(({ when, trials: played }) =>
  played.map((t): SharedTrial => ({ ...rounded(t), evaluation: recordedEvaluation(run.id, when) })),
);
const evaluations = evaluated.map(({ when, trials: played }, i): SharedEvaluation => {
  const seconds = played.reduce((sum, t) => sum + t.seconds.generate + t.seconds.tool + t.seconds.user, 0);
  const settings = { ...heldOutSettings(config, { mode: 'scripted' }, tasks), ...EVALUATION };
  return { id: recordedEvaluation(run.id, when), step: when === 'before' ? 0 : run.step, createdAt: createdAt + i, seconds, settings };
});
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const bundle = await writeRunBundle(
  { run, metrics, rollouts, trajectories, branches: [], evaluations, trials, model: null },
  { appVersion: version, created: new Date(createdAt) },
);
const bytes = new Uint8Array(await bundle.arrayBuffer());
await readRunBundle(bytes); // throws if the page could not read the file
if (bytes.length > MAX_BYTES) throw new Error(`the bundle has ${bytes.length} bytes: expected at most ${MAX_BYTES}`);
const file = `public/recorded/${recording.file}.mua.zip`;
writeFileSync(file, bytes);
console.log(
  `${file}: ${metrics.length} records, ${rollouts.length} rollouts, ${trials.length} trials, ${(bytes.length / 1024).toFixed(0)} KiB`,
);
if (joined !== undefined) console.log(`group ${joined}: only the rollouts with both skills are correct`);

if (values.story) {
  const pair = storyPair(evaluated[0]!.trials, evaluated[1]!.trials);
  if (!pair) throw new Error('no customer was told “done” after a timeout before training, and served after it: record another run');
  writeFileSync(STORY, `${JSON.stringify(storyFile(run, metrics, pair), null, 2)}\n`);
  console.log(`${STORY}: task ${pair[0].task.id}`);
}

/** What home plays: the pair without its tokens, and the metrics of the chart of the reward. */
function storyFile({ id: of }: SharedRun, all: StepMetrics[], [before, after]: [Trajectory, Trajectory]): RecordedStory {
  const bare = (t: Trajectory): Trajectory => ({
    ...t,
    nodes: t.nodes.map(({ annotations: _, ...node }) => ({ ...node, tokens: [], mask: [], logprobs: [] })),
  });
  const kept = (name: string) => name === 'step' || name === 'critic/score/mean' || name.startsWith('val-core/');
  return {
    run: of,
    evaluations: { before: recordedEvaluation(of, 'before'), after: recordedEvaluation(of, 'after') },
    before: bare(before),
    after: bare(after),
    metrics: all.map((step) => Object.fromEntries(Object.entries(step).filter(([name]) => kept(name))) as StepMetrics),
  };
}
