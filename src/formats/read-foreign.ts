/** @file Reads the conversations of a file that another tool wrote. It finds out the tool from the content, not from the file's name. */
import { isObject } from '../base/json.ts';
import { firstReasons, type JsonRow, readJsonFile, RowNotes } from '../base/json-rows.ts';
import { withNumbers } from '../base/tolerant-json.ts';
import { parserReason, shown } from '../base/input-error.ts';
import { BENCHMARKS } from '../benchmarks/index.ts';
import { benchmarkOfResults } from '../benchmarks/recorded-results.ts';
import { ImportError } from '../exchange/import-error.ts';
import { LIMITS, openFiles } from '../exchange/file-source.ts';
import { readTrajectory } from '../exchange/trajectory-schema.ts';
import type { Json } from '../records/json.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { type ForeignRollout, foreignTrajectory } from './foreign-rollout.ts';
import { isInspectLog, readSample, samplesOf } from './read-inspect.ts';
import { isParquet, MOST_ROWS, readParquet } from './parquet.ts';
import { type LoadWorlds, readResultRollouts } from './read-results.ts';
import { kindOf, readRow, rewardOf, REWARDS, type RowKind } from './read-rows.ts';
import { flatRow, rewardColumns, rewardParts } from './reward-columns.ts';
import { numberOf, type Row, RowFields } from './row-fields.ts';

export interface ForeignFile {
  /** The name of the tool that wrote the file, for display. */
  source: string;
  rollouts: {
    trajectory: Trajectory;
    step?: number;
    advantage: number | null;
    /** The file, if each file is an evaluation. */
    part?: string;
  }[];
  /** What has an error, was left out or was read differently, one sentence each. */
  notes: string[];
  /** True if the conversations are trials of tasks, as in an evaluation, and not steps of a training. */
  trials?: boolean;
  /** The model that was evaluated, if the files name it. */
  model?: string;
}

const ROW_SOURCES: Record<RowKind, string> = { trl: 'TRL', verl: 'verl', chat: 'Chat messages' };
const RESULTS = BENCHMARKS.flatMap(({ title, results }) => (results ? [title] : [])).join(' or ');
const EXPECTED = `rows of TRL (prompt, completion), verl (input, output) or chats (messages, conversations), Inspect’s log, or results of ${RESULTS}`;

/**
 * Reads files in the order of the numbers in their names, because verl and TRL name a file after its step. A file that cannot be read is
 * left out and noted. In a folder of `mua evaluate`, each file of trajectories is an evaluation, and `status.json` names the model.
 * @throws as `readForeign` if no file can be read
 */
export async function readForeignFiles(
  files: readonly { name: string; read: () => Promise<Uint8Array> }[],
  loadWorlds?: LoadWorlds,
): Promise<ForeignFile> {
  const sources = new Set<string>();
  const rollouts: ForeignFile['rollouts'] = [];
  const notes: string[] = [];
  const problems: ImportError[] = [];
  const isFolder = files.some(({ name }) => TRIALS.test(name));
  const chosen = isFolder ? files.filter(({ name }) => TRIALS.test(name)) : files;
  const strangers = isFolder ? files.filter(({ name }) => !TRIALS.test(name) && !BESIDE.test(name)).map(({ name }) => name) : [];
  const model = isFolder ? await evaluatedModel(files) : undefined;
  let trials = true;
  for (const { name, read } of chosen.toSorted((a, b) => byNumber(a.name, b.name))) {
    const bytes = await read();
    try {
      const found = await readForeign(name, bytes, loadWorlds);
      sources.add(isFolder ? 'mua evaluate' : found.source);
      trials &&= isFolder || found.trials === true;
      for (const rollout of found.rollouts) rollouts.push(isFolder ? { ...rollout, part: name } : rollout);
      for (const note of found.notes) notes.push(files.length > 1 ? `${name}: ${note}` : note);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      problems.push(error);
    }
  }
  const [first] = problems;
  if (first && rollouts.length === 0) throw first;
  return {
    source: [...sources].join(' and '),
    rollouts,
    notes: [
      ...problems.map(({ message }) => `left out: ${message}`),
      ...strangers.map((name) => `left out: ${name}: mua evaluate did not write it into this folder`),
      ...notes,
    ],
    trials,
    ...(model !== undefined && { model }),
  };
}

/** The files of trajectories in a folder of `mua evaluate`, and the other files that it writes there. */
const TRIALS = /^trajectories-\d{1,6}\.jsonl$/;
const BESIDE = /^(status|result)\.json$|^superseded-|\.lock$/;

/** The name of the model in the folder's `status.json`, as far as it can be read. */
async function evaluatedModel(files: readonly { name: string; read: () => Promise<Uint8Array> }[]): Promise<string | undefined> {
  const status = files.find(({ name }) => name === 'status.json');
  const { whole } = status ? readJsonFile(await status.read()) : {};
  const settings = isObject(whole) ? whole.settings : undefined;
  const flags = isObject(settings) ? settings.flags : undefined;
  if (!isObject(flags)) return undefined;
  const { model, agentModel } = flags;
  if (typeof agentModel === 'string') return agentModel;
  return typeof model === 'string' ? model.split(/[/\\]/).at(-1) : undefined;
}

const byNumber = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

/** @throws ImportError naming file, position and reason if no conversation can be read */
export async function readForeign(file: string, bytes: Uint8Array, loadWorlds?: LoadWorlds): Promise<ForeignFile> {
  if (isParquet(bytes))
    return fromRows(
      (await readParquet(bytes, file)).map((value, i) => ({ where: `row ${i + 1}`, value })),
      file,
    );
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return fromEval(file, bytes);
  const { rows, whole } = readJsonFile(bytes);
  if (rows.length > 0 && rows.every(({ text, value }) => text === undefined && value === undefined))
    throw new ImportError(file, '', `it is neither text nor Parquet: expected ${EXPECTED}`);
  if (rows.length > MOST_ROWS) throw new ImportError(file, '', `it has more than ${MOST_ROWS} lines`);
  if (isInspectLog(whole)) return fromSamples(samplesOf(whole, file), file);
  const benchmark = benchmarkOfResults(whole);
  if (benchmark)
    try {
      const { rollouts, notes } = await readResultRollouts(benchmark, withNumbers(whole) as Json, file, loadWorlds);
      const entries = rollouts.map((rollout) => ({ where: `task ${rollout.task}`, rollout }));
      return { source: benchmark.title, trials: true, ...collect(entries, file, notes, ({ rollout }) => rollout) };
    } catch (error) {
      throw importError(error, file);
    }
  return fromRows(rows, file);
}

/** Reads each row. A row that cannot be read becomes a conversation with an error. @throws ImportError if none can be read */
function fromRows(rows: readonly JsonRow[], file: string): ForeignFile {
  if (rows.length === 0) throw new ImportError(file, '', `it is empty: expected ${EXPECTED}`);
  const sources = new Set<string>();
  const values = rows.map(({ value }) => value).filter(isObject);
  const rewards = rewardColumns(values.filter((row) => kindOf(row) === 'trl'));
  const parts = rewardParts(values.flatMap(rewarded));
  const named = rewards.length > 1 || rewards.some((name) => !/reward/i.test(name));
  const notes =
    named && values.some((row) => row.reward === undefined && row.score === undefined) ? [`the reward is ${rewards.join(' + ')}`] : [];
  if (!parts.add && parts.names.length > 1)
    notes.push(`${parts.names.join(', ')} do not add up to the reward, so the page shows them as columns`);
  const collected = collect(rows, file, notes, ({ where, value, problem }, note) => {
    if (problem !== undefined) throw new ImportError(file, where, problem);
    if (!isObject(value)) throw new ImportError(file, where, `is ${shown(value)}: expected ${EXPECTED}`);
    if ('nodes' in value && 'leaf' in value) {
      sources.add('mua env-serve');
      // In the server's file each session has a different group. Here all conversations of one task become one group.
      const trajectory = readTrajectory(value, file, where);
      return { trajectory: { ...trajectory, group: trajectory.task.id }, advantage: null };
    }
    const kind = kindOf(value);
    if (!kind) throw new ImportError(file, where, `has the fields ${Object.keys(value).slice(0, 8).join(', ')}: expected ${EXPECTED}`);
    sources.add(ROW_SOURCES[kind]);
    return readRow(value, kind, { file, where, rewards, parts: parts.add ? parts.names : [], note });
  });
  return { source: [...sources].join(' and '), ...collected };
}

/** The values and the reward of a row. Empty if it has no reward as a number. */
function rewarded(row: Row): { flat: Row; reward: number }[] {
  const kind = kindOf(row);
  if (!kind || row.error) return [];
  const fields = new RowFields(row, '', '', () => {});
  const { reward } = rewardOf(fields, fields.first(REWARDS[kind]), []);
  return reward === null ? [] : [{ flat: flatRow(row), reward }];
}

type Rollouts = ForeignFile['rollouts'];

/**
 * Reads each entry of a file. An entry with a problem becomes a conversation with an error, at the step of the entry before it.
 * @throws ImportError with the first reasons if all have problems
 */
function collect<T extends { where: string; text?: string }>(
  entries: readonly T[],
  file: string,
  known: readonly string[],
  read: (entry: T, note: (line: string) => void) => Rollouts[number] | ForeignRollout,
): { rollouts: Rollouts; notes: string[] } {
  const problems: string[] = [];
  const notes = new RowNotes();
  let step: number | undefined;
  const rollouts = entries.map((entry, i) => {
    let found: Rollouts[number] | ForeignRollout;
    try {
      found = read(entry, (line) => notes.add(line, entry.where));
      if ('problem' in found && found.problem !== undefined) problems.push(found.problem);
    } catch (error) {
      const { message } = importError(error, file, entry.where);
      problems.push(message);
      found = unreadable(entry, message, step);
    }
    step = found.step ?? step;
    return 'trajectory' in found ? found : placed(found, i);
  });
  const first = firstReasons(problems.map((problem) => problem.replace(`${file}: `, '')));
  if (problems.length === entries.length)
    throw new ImportError(file, '', entries.length === 1 ? first : `none of its ${entries.length} rows can be read: ${first}`);
  const failed = rollouts.filter(({ trajectory: { error } }) => error !== undefined).length - problems.length;
  return {
    rollouts,
    notes: [
      ...(problems.length > 0 ? [`${problems.length} of ${entries.length} rows have an error: ${first}`] : []),
      ...(failed > 0 ? [`${failed} of ${entries.length} conversations failed when they were recorded`] : []),
      ...known,
      ...[...notes.lines].map(([line, { first: place }]) => `${line} (first in ${place})`),
    ],
  };
}

/** The error of a file, also if a value in it is nested too deeply. @throws other errors */
function importError(error: unknown, file: string, where = ''): ImportError {
  if (error instanceof RangeError) return new ImportError(file, where, parserReason(error));
  if (error instanceof ImportError) return error;
  throw error;
}

/** A row that has no readable conversation shows its beginning. */
const unreadable = ({ where, text = '' }: { where: string; text?: string }, error: string, step: number | undefined): ForeignRollout => ({
  task: where,
  messages: [{ role: 'system', content: text.slice(0, 2000) }],
  reward: null,
  error,
  ...(step !== undefined && { step }),
});

function placed(rollout: ForeignRollout, i: number): ForeignFile['rollouts'][number] {
  const { id = String(i), group = id, index = 0, step, advantage = null } = rollout;
  return { trajectory: foreignTrajectory(rollout, { id, group, index }), ...(step !== undefined && { step }), advantage };
}

/** Reads Inspect's `.eval`, a zip with one file for each sample. The log of a crashed evaluation has no header. */
async function fromEval(file: string, bytes: Uint8Array): Promise<ForeignFile> {
  const { paths, read } = await openFiles(bytes, LIMITS);
  const samples = paths.filter((path) => /^samples\/[^/]+\.json$/.test(path)).sort(byNumber);
  if (samples.length === 0) throw new ImportError(file, '', 'it is a zip without the samples/ of Inspect’s log');
  const entries: JsonRow[] = [];
  for (const path of samples) {
    const { rows, whole } = readJsonFile(await read(path));
    entries.push(whole === undefined ? { where: path, problem: rows[0]?.problem ?? 'it is not JSON' } : { where: path, value: whole });
  }
  const crashed = paths.includes('header.json') ? [] : ['the log has no header.json, because the evaluation did not end'];
  return fromSamples(entries, file, crashed);
}

const fromSamples = (entries: readonly JsonRow[], file: string, notes: readonly string[] = []): ForeignFile => ({
  source: 'Inspect',
  trials: !entries.some(({ value }) => isObject(value) && isObject(value.metadata) && numberOf(value.metadata.step) !== undefined),
  ...collect(entries, file, notes, ({ where, value, problem }, note) => {
    if (problem !== undefined) throw new ImportError(file, where, problem);
    return readSample(value, { file, where, note });
  }),
});
