/** @file Reads the conversations of a file that another tool wrote. It finds out the tool from the content, not from the file's name. */
import { isObject } from '../base/json.ts';
import { parserReason, shown } from '../base/input-error.ts';
import type { BenchmarkDefinition } from '../benchmarks/definition.ts';
import { BENCHMARKS } from '../benchmarks/index.ts';
import { benchmarkOfResults } from '../benchmarks/recorded-results.ts';
import type { RecordedRun } from '../benchmarks/recorded-conversation.ts';
import { ImportError } from '../exchange/import-error.ts';
import { LIMITS, openFiles } from '../exchange/file-source.ts';
import { readTrajectory } from '../exchange/trajectory-schema.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { Json } from '../records/json.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { type ForeignRollout, foreignTrajectory } from './foreign-rollout.ts';
import { isInspectLog, readInspectSamples, readSample } from './inspect-log.ts';
import { isParquet, MOST_ROWS, readParquet } from './parquet.ts';
import { kindOf, readRow, type RowKind } from './read-rows.ts';

export interface ForeignFile {
  /** The name of the tool that wrote the file, for display. */
  source: string;
  rollouts: { trajectory: Trajectory; step?: number; advantage: number | null }[];
}

const ROW_SOURCES: Record<RowKind, string> = { trl: 'TRL', verl: 'verl', chat: 'Chat messages' };
const RESULTS = BENCHMARKS.flatMap(({ title, results }) => (results ? [title] : [])).join(' or ');
const EXPECTED = `rows of TRL (prompt, completion), verl (input, output) or chats (messages), Inspect’s log, or results of ${RESULTS}`;

/** Reads files in the order of the numbers in their names, because verl and TRL name a file after its step. @throws as `readForeign` */
export async function readForeignFiles(files: readonly { name: string; read: () => Promise<Uint8Array> }[]): Promise<ForeignFile> {
  const sources = new Set<string>();
  const rollouts: ForeignFile['rollouts'] = [];
  for (const { name, read } of files.toSorted((a, b) => byNumber(a.name, b.name))) {
    const found = await readForeign(name, await read());
    sources.add(found.source);
    for (const rollout of found.rollouts) rollouts.push(rollout);
  }
  return { source: [...sources].join(' and '), rollouts };
}

const byNumber = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

/** @throws ImportError naming file, position and reason */
export async function readForeign(file: string, bytes: Uint8Array): Promise<ForeignFile> {
  if (isParquet(bytes))
    return fromRows(
      (await readParquet(bytes, file)).map((row, i) => [row, `row ${i + 1}`]),
      file,
    );
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return fromEval(file, bytes);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ImportError(file, '', `it is neither text nor Parquet: expected ${EXPECTED}`);
  }
  const whole = tryJson(text);
  if (whole === undefined) return fromRows(jsonLines(text, file), file);
  if (isInspectLog(whole)) return { source: 'Inspect', rollouts: readInspectSamples(whole.samples, file).map(placed) };
  const benchmark = benchmarkOfResults(whole);
  if (benchmark) return fromResults(benchmark, whole as Json, file);
  return fromRows(Array.isArray(whole) ? whole.map((row, i) => [row, `entry ${i + 1}`]) : [[whole, 'line 1']], file);
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonLines(text: string, file: string): [unknown, string][] {
  const lines = text.split('\n');
  if (lines.length > MOST_ROWS) throw new ImportError(file, '', `it has more than ${MOST_ROWS} lines`);
  return lines.flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      return [[JSON.parse(line) as unknown, `line ${i + 1}`]];
    } catch (error) {
      throw new ImportError(file, `line ${i + 1}`, `it is not JSON: ${parserReason(error)}`);
    }
  });
}

function fromRows(rows: readonly (readonly [unknown, string])[], file: string): ForeignFile {
  if (rows.length === 0) throw new ImportError(file, '', `it is empty: expected ${EXPECTED}`);
  const sources = new Set<string>();
  const rollouts = rows.map(([row, where], i) => {
    if (!isObject(row)) throw new ImportError(file, where, `is ${shown(row)}: expected ${EXPECTED}`);
    if ('nodes' in row && 'leaf' in row) {
      sources.add('mua env-serve');
      // In the server's file each session has a different group. Here all conversations of one task become one group.
      const trajectory = readTrajectory(row, file, where);
      return { trajectory: { ...trajectory, group: trajectory.task.id }, advantage: null };
    }
    const kind = kindOf(row);
    if (!kind) throw new ImportError(file, where, `has the fields ${Object.keys(row).slice(0, 8).join(', ')}: expected ${EXPECTED}`);
    sources.add(ROW_SOURCES[kind]);
    return placed(readRow(row, kind, file, where), i);
  });
  return { source: [...sources].join(' and '), rollouts };
}

function placed(rollout: ForeignRollout, i: number): ForeignFile['rollouts'][number] {
  const { id = String(i), group = id, index = 0, step, advantage = null } = rollout;
  return { trajectory: foreignTrajectory(rollout, { id, group, index }), ...(step !== undefined && { step }), advantage };
}

/** Reads Inspect's `.eval`, a zip with a header and one file for each sample. */
async function fromEval(file: string, bytes: Uint8Array): Promise<ForeignFile> {
  const { paths, read } = await openFiles(bytes, LIMITS);
  const samples = paths.filter((path) => /^samples\/[^/]+\.json$/.test(path)).sort(byNumber);
  if (!paths.includes('header.json') || samples.length === 0)
    throw new ImportError(file, '', 'it is a zip without the header.json and the samples/ of Inspect’s log');
  const rollouts: ForeignFile['rollouts'] = [];
  for (const path of samples) {
    const value = tryJson(new TextDecoder().decode(await read(path)));
    if (value === undefined) throw new ImportError(file, path, 'it is not JSON');
    rollouts.push(placed(readSample(value, file, path), rollouts.length));
  }
  return { source: 'Inspect', rollouts };
}

function fromResults({ title, results }: BenchmarkDefinition, value: Json, file: string): ForeignFile {
  const runs = results!.read(file, value);
  if (runs.length === 0) throw new ImportError(file, '', 'it has no conversations');
  return { source: title, rollouts: runs.map(fromResult).map(placed) };
}

/** Turns a recorded run of a benchmark into a rollout. The assistant's calls become messages. The user's calls become `userCalls`. */
function fromResult({ task, trial, conversation, reward, gold }: RecordedRun): ForeignRollout {
  const messages: ChatMessage[] = [];
  const userCalls: NonNullable<ForeignRollout['userCalls']>[number][] = [];
  for (const turn of conversation.turns) {
    if (turn.kind === 'said') {
      messages.push({ role: turn.role, content: turn.text });
      continue;
    }
    const { name, arguments: args, requestor = 'assistant', recorded } = turn.call;
    if (requestor === 'user') {
      userCalls.push({ after: messages.length, call: { name, arguments: args as Record<string, Json>, requestor }, text: recorded ?? '' });
      continue;
    }
    messages.push({ role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name, arguments: args } }] });
    if (recorded !== undefined) messages.push({ role: 'tool', content: recorded, name });
  }
  return {
    task,
    group: task,
    index: trial,
    messages: messages.length > 0 ? messages : [{ role: 'system', content: '' }],
    userCalls,
    reward,
    ...(gold && { gold }),
  };
}
