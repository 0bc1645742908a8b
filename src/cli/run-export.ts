/** @file Makes the files of `mua export-run`: a run, or conversations that another tool recorded, in the formats of other tools. */
import { version } from '../../package.json';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { openTokenizer } from '../agent/tokenizer.ts';
import { recordedReward } from '../base/total-reward.ts';
import type { Tokenizer } from '../agent/types.ts';
import { InputError, parserReason, shown } from '../base/input-error.ts';
import { importedParts } from '../benchmarks/imported-benchmark.ts';
import { findBenchmark } from '../benchmarks/named.ts';
import { GENERATED_DOMAINS } from '../domains/registry.ts';
import { createEnvironments } from '../environments/index.ts';
import { readRunBundle } from '../exchange/run-bundle.ts';
import { readMetrics } from '../exchange/run-schema.ts';
import { readTrajectory } from '../exchange/trajectory-schema.ts';
import { usedVocabulary } from '../exchange/used-vocabulary.ts';
import { writeRunBundle } from '../exchange/write-run-bundle.ts';
import { inspectFileName } from '../formats/inspect-events.ts';
import { advantageOf, stepOf } from '../formats/rollout-lines.ts';
import { EVENT_FILE } from '../formats/tensorboard.ts';
import { isOfMetrics, type RunFormat, writeRun } from '../formats/write-run.ts';
import type { RunContent } from '../records/bundle.ts';
import type { StepMetrics } from '../records/run.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { type ReadOnlyRollout, readOnlyRun } from '../trainer/read-only-run.ts';
import { ROOT } from './build.ts';
import { findModel, readJson } from './files.ts';
import { readForeignPath } from './foreign-path.ts';
import { readBytes, readLines } from './read.ts';
import { keptWorld } from './world.ts';
import { tokenizerFiles } from './tokenizer-files.ts';

export interface ExportOptions {
  /** The folder or GGUF file of the model that played the agent, whose tokenizer the format `verl` needs. */
  model?: string | undefined;
  /** A rule of success, and the tools that write, for files of another tool. */
  success?: string | null | undefined;
  writes?: readonly string[] | undefined;
  /** The folder or zip of a benchmark, whose tasks, policy and tools its results get. */
  data?: string | undefined;
  /** Only conversations with at least this reward. */
  minReward?: number | undefined;
  /** Only conversations that succeeded. */
  successes?: boolean | undefined;
}

/**
 * @param path a folder of `--out`, a `*.mua.zip`, or a file or folder of another tool (`readForeign`)
 * @returns the file, its number of conversations or steps, and the name under which Inspect lists it
 * @throws InputError if nothing at the path fits the format, or if the tokenizer is not known; also the errors of the readers
 */
export async function exportRun(
  path: string,
  format: RunFormat | 'bundle',
  out: string,
  { model, minReward, successes, ...words }: ExportOptions = {},
): Promise<{ content: Uint8Array<ArrayBuffer>; lines: number; name: string; notes: string[] }> {
  if (format === 'tensorboard' && !basename(out).includes('tfevents'))
    throw new InputError(
      `the file is "${basename(out)}": expected a name with "tfevents", such as ${EVENT_FILE}.1.run, or TensorBoard does not read it`,
    );
  const notes: string[] = [];
  const content = filtered(await readRun(path, notes, words, format === 'bundle'), { minReward, successes }, notes);
  const { run, metrics, trajectories } = content;
  if (format !== 'bundle' && isOfMetrics(format) && metrics.length === 0) throw new InputError(`${path} has no metrics: expected a run`);
  if ((format === 'bundle' || !isOfMetrics(format)) && trajectories.length === 0) throw new InputError(`${path} has no conversations`);
  const name = inspectFileName(run);
  if (format === 'bundle') {
    const places = [...new Set(trajectories.map(({ task }) => `${task.domain} ${task.level}`))];
    if (places.length > 1) throw new InputError(`${path} has conversations of ${places.join(' and ')}: expected one domain and level`);
    const bundle = await writeRunBundle(content, { appVersion: version });
    return { content: new Uint8Array(await bundle.arrayBuffer()), lines: trajectories.length, name, notes };
  }
  const rollouts = new Map(content.rollouts.map((rollout) => [rollout.id, rollout]));
  const tools = ['verl', 'chat'].includes(format) ? await toolsOfEach(trajectories) : undefined;
  // A conversation without a turn of the agent, such as a row that could not be read, is nothing to train on.
  const kept = format === 'chat' ? trajectories.filter(({ nodes }) => nodes.some(({ role }) => role === 'assistant')) : trajectories;
  if (kept.length < trajectories.length)
    notes.push(`${trajectories.length - kept.length} conversations without a turn of the agent are left out`);
  const tokenizer = format === 'verl' ? await tokenizerOf(path, content, model) : undefined;
  return {
    content: await writeRun(format, {
      run,
      metrics,
      trajectories: kept,
      rollouts,
      ...(tools && { tools }),
      ...(tokenizer && { tokenizer }),
    }),
    lines: isOfMetrics(format) ? metrics.length : kept.length,
    name,
    notes,
  };
}

/** The run with the conversations that the options ask for. Its metrics are those of the whole run. */
function filtered(
  content: RunContent,
  { minReward, successes }: Pick<ExportOptions, 'minReward' | 'successes'>,
  notes: string[],
): RunContent {
  if (minReward === undefined && !successes) return content;
  const { trajectories, rollouts } = content;
  if (successes && !trajectories.some(({ reward }) => reward !== null))
    throw new InputError('--successes is given, but the file does not say which conversations succeeded: expected --success RULE with it');
  const kept = trajectories.filter(
    (own) => (minReward === undefined || (recordedReward(own) ?? -Infinity) >= minReward) && (!successes || own.reward === 1),
  );
  if (kept.length === 0 && trajectories.length > 0)
    throw new InputError(`none of the ${trajectories.length} conversations is kept: expected a lower --min-reward, or no --successes`);
  notes.push(`${kept.length} of ${trajectories.length} conversations are kept`);
  const ids = new Set(kept.map(({ id }) => id));
  return { ...content, trajectories: kept, rollouts: rollouts.filter(({ id }) => ids.has(id)) };
}

/** The tokenizer of the model that played the agent: of the model that is given, of the run, or of a bundled model. */
async function tokenizerOf(path: string, { run, model }: RunContent, given: string | undefined): Promise<Tokenizer> {
  if (given !== undefined) return openTokenizer((await tokenizerFiles((await findModel(given, { tokenizer: true })).files))!);
  if (model?.[TOKENIZER]) return openTokenizer(model);
  for (const folder of [path, join(ROOT, 'models', basename(run.request.model))]) {
    const files = await tokenizerFiles(folder);
    if (files) return openTokenizer(files);
  }
  throw new InputError(
    `the format verl needs the tokenizer of the model that played the agent (${shown(run.request.model)}), and ${path} does not have it: expected --model DIR, or --model FILE.gguf`,
  );
}

/** The tools of each conversation: those of its task, else those of its domain. The domain of a conversation from another tool is unknown. */
async function toolsOfEach(trajectories: readonly Trajectory[]): Promise<Map<Trajectory, readonly ToolSchema[]>> {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const known = new Map<string, Promise<readonly ToolSchema[]> | null>();
  const found = new Map<Trajectory, readonly ToolSchema[]>();
  for (const trajectory of trajectories) {
    const { domain, level } = trajectory.task;
    const key = `${domain}/${level}`;
    if (!known.has(key)) {
      const imported = importedParts(domain);
      const generated = GENERATED_DOMAINS.some(({ name }) => name === domain);
      const own = generated ? environments.domain(domain, level).then(({ tools }) => tools) : null;
      const ofBenchmark = findBenchmark(imported?.benchmark)?.domains.find(({ name }) => name === imported!.domain);
      known.set(key, ofBenchmark ? Promise.resolve(ofBenchmark.tools) : own);
    }
    const tools = trajectory.task.tools ?? (await known.get(key));
    if (tools) found.set(trajectory, tools);
  }
  return found;
}

/** @param notes what of files of other tools has an error or was read differently @param forPage whether to read the texts of the tokens, which the page shows */
async function readRun(
  path: string,
  notes: string[],
  { data, ...words }: Pick<ExportOptions, 'success' | 'writes' | 'data'>,
  forPage: boolean,
): Promise<RunContent> {
  const info = await stat(path);
  const names = info.isDirectory() ? (await readdir(path)).sort() : [''];
  const isOurs = path.endsWith('.zip') || names.some((name) => OURS.test(name));
  const given = Object.entries({ ...words, data }).find(([, value]) => value !== undefined);
  if (isOurs && given) throw new InputError(`--${given[0]} is given, but ${path} is of the playground: expected files of another tool`);
  if (path.endsWith('.zip')) return readRunBundle(await readBytes(path));
  if (isOurs) return ownRun(path, names, info.birthtimeMs, forPage);
  const { source, rollouts, notes: own, name, createdAt } = await readForeignPath(path, data);
  notes.push(...own);
  const called = new Set(rollouts.flatMap(({ trajectory }) => Object.keys(trajectory.toolCalls)));
  const strange = words.writes?.filter((tool) => !called.has(tool)) ?? [];
  if (strange.length > 0)
    notes.push(`--writes names ${strange.join(', ')}, which no conversation calls (called: ${[...called].join(', ')})`);
  return readOnlyRun(rollouts, { createdAt, source, name, notes, ...words });
}

const TOKENIZER = 'tokenizer.json';
const OURS = /^(trajectories(-\d+)?|metrics)\.jsonl$/;

/** Reads a folder of `--out` as a run. Its conversations keep their ids, groups and rewards. */
async function ownRun(path: string, names: readonly string[], createdAt: number, forPage: boolean): Promise<RunContent> {
  const metrics: StepMetrics[] = [];
  const rollouts: ReadOnlyRollout[] = [];
  for (const name of names.filter((name) => OURS.test(name)))
    for await (const [value, where] of lines(join(path, name)))
      if (name === 'metrics.jsonl') metrics.push(readMetrics(value, name, where));
      else {
        const trajectory = readTrajectory(value, name, where);
        const step = stepOf(trajectory);
        rollouts.push({ trajectory, advantage: advantageOf(trajectory.nodes), ...(step !== null && { step }) });
      }
  const scenario = (await keptWorld(path, false))?.text;
  const content = readOnlyRun(rollouts, { createdAt, source: 'mua train', name: basename(path) });
  const vocabulary =
    forPage && names.includes(TOKENIZER) ? await usedVocabulary(await readJson(join(path, TOKENIZER)), content.trajectories) : undefined;
  const run = { ...content.run, ...(vocabulary && { vocabulary }) };
  return { ...content, run, metrics, ...(scenario !== undefined && { scenarios: [scenario] }) };
}

async function* lines(file: string): AsyncGenerator<[value: unknown, where: string]> {
  for await (const { text, number } of readLines(file)) {
    if (text.trim() === '') continue;
    const where = `line ${number}`;
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      throw new InputError(`${basename(file)}, ${where} is not JSON: ${parserReason(error)}`);
    }
    yield [value, where];
  }
}
