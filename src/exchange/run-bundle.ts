/**
 * @file A run as one file, `*.mua.zip`:
 *
 * - `manifest.json`: format, its version, the app's version, when it was made, size and SHA-256 of every other file
 * - `run.json`: the row of the run with its whole configuration; never a key, nor what an address may hold in secret
 * - `metrics.jsonl`: a step a line, verl's names
 * - `rollouts.jsonl`: a rollout a line, as lists show it
 * - `trajectories.jsonl`: the conversations that are kept, with tokens, annotations and every changed row
 * - `evaluations.jsonl`, `trials.jsonl`: evaluations of its weights and the conversations of each, if there are any
 * - `branches.jsonl`: what was played or rolled out from its conversations and from those trials, if anything was
 * - `model/`: the trained weights as a Hugging Face folder, if they were to be part of it
 *
 * A file that is read is hostile until it is checked: every limit, name, hash and field.
 */
import type { Trajectory } from '../agent/types.ts';
import { sha256 } from '../environments/sha256.ts';
import type { RunRow } from '../storage/database.ts';
import type { RolloutSummary, StepMetrics } from '../training/types.ts';
import type { UserConfig } from '../users/types.ts';
import { type FileData, type ImportLimits, LIMITS, megabytes, openFiles } from './benchmark-files.ts';
import { Breath } from './breath.ts';
import { ImportError } from './import-error.ts';
import {
  checked, evaluationSchema, type ManifestFields, manifestSchema, readBranch, readMetrics, readTrajectory, readTrial, rolloutSchema, runSchema,
  type SharedBranch, type SharedEvaluation, type SharedRun, type SharedTrial,
} from './run-schema.ts';
import { publicUrl, withoutSecrets } from './secrets.ts';
import { zipFiles } from './zip.ts';

const FORMAT = 'mua-run';
const FORMAT_VERSION = 1;
const BUNDLE_SUFFIX = '.mua.zip';

/** A bundle has a handful of files. */
export const BUNDLE_LIMITS: ImportLimits = { ...LIMITS, files: 100, rows: 1_000_000 };

type Files = Record<string, Uint8Array<ArrayBuffer>>;

export interface RunContent {
  run: SharedRun;
  metrics: StepMetrics[];
  rollouts: RolloutSummary[];
  trajectories: Trajectory[];
  branches: SharedBranch[];
  evaluations: SharedEvaluation[];
  /** Of all evaluations. */
  trials: SharedTrial[];
  /** The trained weights as a Hugging Face folder. */
  model: Files | null;
}

export interface RunBundle extends RunContent {
  manifest: ManifestFields;
}

interface WriteOptions {
  appVersion: string;
  created?: Date;
  /** Keys that are known now: messages of an endpoint may repeat them. */
  keys?: readonly string[];
  /** Of whoever is to read it. */
  limits?: Partial<ImportLimits>;
}

const RUN = 'run.json', METRICS = 'metrics.jsonl', ROLLOUTS = 'rollouts.jsonl', TRAJECTORIES = 'trajectories.jsonl', BRANCHES = 'branches.jsonl', EVALUATIONS = 'evaluations.jsonl', TRIALS = 'trials.jsonl', MANIFEST = 'manifest.json';
const REQUIRED = [RUN, METRICS, ROLLOUTS, TRAJECTORIES];
const OPTIONAL = [BRANCHES, EVALUATIONS, TRIALS];
const MODEL_FILE = /^model\/([A-Za-z0-9_][\w.-]{0,100})$/;

/** The row as it may leave this browser. */
export function sharedRun(row: RunRow | SharedRun, keys: readonly string[] = []): SharedRun {
  return checked<SharedRun>(runSchema, {
    ...row,
    ...(row.message !== undefined && { message: withoutSecrets(row.message, keys) }),
    request: { ...row.request, user: sharedUser(row.request.user) },
  }, RUN);
}

function sharedUser(user: UserConfig): UserConfig {
  return user.mode === 'endpoint' ? { ...user, baseUrl: publicUrl(user.baseUrl) } : user;
}

/** As it may leave this browser: the schema leaves out a key. */
function sharedEvaluation(evaluation: SharedEvaluation): SharedEvaluation {
  const { settings } = evaluation;
  return checked<SharedEvaluation>(evaluationSchema, { ...evaluation, settings: { ...settings, user: sharedUser(settings.user) } }, EVALUATIONS);
}

/** @throws Error when `readRunBundle` would refuse it for its size, with what to leave out */
export async function writeRunBundle({ run, metrics, rollouts, trajectories, branches, evaluations, trials, model }: RunContent, { appVersion, created = new Date(), keys = [], limits }: WriteOptions): Promise<Blob> {
  const files: Files = {
    [RUN]: new TextEncoder().encode(JSON.stringify(sharedRun(run, keys), null, 2)),
    [METRICS]: await jsonl(metrics, finiteMetrics),
    [ROLLOUTS]: await jsonl(rollouts, withoutRun),
    [TRAJECTORIES]: await jsonl(trajectories, (trajectory) => sharedTrajectory(trajectory, keys)),
    ...(branches.length > 0 && { [BRANCHES]: await jsonl(branches, (branch) => ({ ...branch, trajectory: sharedTrajectory(branch.trajectory, keys) })) }),
    ...(evaluations.length > 0 && { [EVALUATIONS]: await jsonl(evaluations, sharedEvaluation), [TRIALS]: await jsonl(trials, (trial) => sharedTrajectory(trial, keys)) }),
    ...Object.fromEntries(Object.entries(model ?? {}).map(([name, bytes]) => [`model/${name}`, bytes])),
  };
  const { fileBytes, totalBytes } = { ...BUNDLE_LIMITS, ...limits };
  const refuse = (what: string, size: number, most: number, names = Object.keys(files)) => {
    const advice = names.some((name) => name.startsWith('model/')) ? 'leave out the weights: the page of models exports them alone'
      : names.includes(TRIALS) ? 'delete evaluations of the run first'
      : 'it can only stay in this browser';
    throw new Error(`this run is too large for a file: ${what} ${megabytes(size)}, at most ${megabytes(most)} can be read back; ${advice}`);
  };
  for (const [name, { length }] of Object.entries(files)) if (length > fileBytes) refuse(`${name} has`, length, fileBytes, [name]);
  const total = Object.values(files).reduce((sum, { length }) => sum + length, 0);
  if (total > totalBytes) refuse('its files together have', total, totalBytes);
  const listed: ManifestFields['files'] = {};
  for (const [name, bytes] of Object.entries(files)) listed[name] = { sha256: await digest(bytes), bytes: bytes.length };
  const manifest = { format: FORMAT, format_version: FORMAT_VERSION, app_version: appVersion, created: created.toISOString(), files: listed };
  const zip = await zipFiles({ [MANIFEST]: new TextEncoder().encode(JSON.stringify(manifest, null, 2)), ...files }, created);
  if (zip.size > fileBytes) refuse('packed it has', zip.size, fileBytes);
  return zip;
}

/** JSON has no NaN: such a figure is left out. */
export const finiteMetrics = (metrics: StepMetrics) => Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));

/** Rows of storage also say whose they are. */
function withoutRun<T extends object>(row: T): Omit<T, 'run'> {
  const { run: _, ...rest } = row as T & { run?: string };
  return rest;
}

function sharedTrajectory(trajectory: Trajectory, keys: readonly string[]): Omit<Trajectory, 'run'> {
  const own = withoutRun(trajectory);
  return own.error === undefined ? own : { ...own, error: withoutSecrets(own.error, keys) };
}

/** One JSON value a line. */
export async function jsonl<T>(rows: readonly T[], line: (row: T) => unknown): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const breath = new Breath();
  const lines: Uint8Array<ArrayBuffer>[] = [];
  for (const row of rows) {
    lines.push(encoder.encode(`${JSON.stringify(line(row))}\n`));
    await breath.take();
  }
  return new Uint8Array(await new Blob(lines).arrayBuffer());
}

/** `crypto.subtle` is absent outside secure contexts, where a recorded run is read all the same. */
async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!globalThis.crypto?.subtle) return sha256(bytes);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export interface ReadOptions {
  limits?: Partial<ImportLimits>;
  onProgress?: (done: number, total: number, file: string) => void;
  signal?: AbortSignal;
}

/** Reads and checks a whole bundle; stores nothing. @throws ImportError naming file, path and reason */
export async function readRunBundle(source: FileData, { limits, onProgress, signal }: ReadOptions = {}): Promise<RunBundle> {
  const all = { ...BUNDLE_LIMITS, ...limits };
  const { paths, read } = await openFiles(source, all);
  const manifest = await readManifest(paths, read);
  const total = Object.values(manifest.files).reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const contents = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const [name, { sha256: expected, bytes: size }] of Object.entries(manifest.files)) {
    signal?.throwIfAborted();
    onProgress?.(done, total, name);
    const bytes = (await read(name)) as Uint8Array<ArrayBuffer>;
    if (bytes.length !== size) throw new ImportError(name, '', `it has ${bytes.length} bytes: the manifest says ${size}`);
    if ((await digest(bytes)) !== expected) throw new ImportError(name, '', 'its SHA-256 is not the one in the manifest: the file was changed or damaged');
    contents.set(name, bytes);
    done += size;
  }
  onProgress?.(total, total, '');

  const take = (name: string) => {
    const bytes = contents.get(name)!;
    contents.delete(name); // what has been read is not needed twice in memory
    return bytes;
  };
  const run = checked<SharedRun>(runSchema, parse(take(RUN), RUN, ''), RUN);
  const metrics = await readLines(take(METRICS), METRICS, all, readMetrics, signal);
  distinct(metrics, METRICS, 'step', ({ step }) => step);
  const rollouts = await readLines(take(ROLLOUTS), ROLLOUTS, all, (value, file, where) => checked<RolloutSummary>(rolloutSchema, value, file, where), signal);
  const listed = distinct(rollouts, ROLLOUTS, 'id', ({ id }) => id);
  const trajectories = await readLines(take(TRAJECTORIES), TRAJECTORIES, all, readTrajectory, signal);
  distinct(trajectories, TRAJECTORIES, 'id', ({ id }) => id);
  known(listed, trajectories, TRAJECTORIES, 'id', ({ id }) => id, `a rollout in ${ROLLOUTS}`);
  const optional = <T>(name: string, readLine: LineReader<T>) => (contents.has(name) ? readLines(take(name), name, all, readLine, signal) : []);
  const evaluations = await optional(EVALUATIONS, (value, file, where) => checked<SharedEvaluation>(evaluationSchema, value, file, where));
  const played = distinct(evaluations, EVALUATIONS, 'id', ({ id }) => id);
  const trials = await optional(TRIALS, readTrial);
  known(played, trials, TRIALS, 'evaluation', ({ evaluation }) => evaluation, `an evaluation in ${EVALUATIONS}`);
  // An id has no comma.
  const ended = distinct(trials, TRIALS, 'evaluation,id', ({ evaluation, id }) => `${evaluation},${id}`);
  const branches = await optional(BRANCHES, readBranch);
  known(new Set([...listed, ...ended]), branches, BRANCHES, 'rollout', ({ evaluation, rollout }) => (evaluation === undefined ? rollout : `${evaluation},${rollout}`), `a rollout in ${ROLLOUTS} or a trial in ${TRIALS}`);
  const model = Object.fromEntries([...contents].map(([name, bytes]) => [MODEL_FILE.exec(name)![1]!, bytes]));
  return { manifest, run, metrics, rollouts, trajectories, branches, evaluations, trials, model: contents.size === 0 ? null : model };
}

async function readManifest(paths: readonly string[], read: (path: string) => Promise<Uint8Array>): Promise<ManifestFields> {
  if (!paths.includes(MANIFEST)) throw new ImportError(MANIFEST, '', `it is missing: expected a run bundle (*${BUNDLE_SUFFIX})`);
  const value = parse(await read(MANIFEST), MANIFEST, '') as { format?: unknown; format_version?: unknown } | null;
  if (value?.format !== FORMAT) throw new ImportError(MANIFEST, 'format', `is ${JSON.stringify(value?.format) ?? 'missing'}: expected "${FORMAT}"`);
  const version = value.format_version;
  if (typeof version === 'number' && version > FORMAT_VERSION) {
    throw new ImportError(MANIFEST, 'format_version', `is ${version}: this page reads up to ${FORMAT_VERSION}; reload it to get the newest, or open the bundle where it was made`);
  }
  if (version !== FORMAT_VERSION) throw new ImportError(MANIFEST, 'format_version', `is ${JSON.stringify(version) ?? 'missing'}: expected ${FORMAT_VERSION}`);
  const manifest = checked<ManifestFields>(manifestSchema, value, MANIFEST);
  for (const name of REQUIRED) if (!Object.hasOwn(manifest.files, name)) throw new ImportError(MANIFEST, 'files', `${name} is missing`);
  for (const name of Object.keys(manifest.files)) {
    if (!REQUIRED.includes(name) && !OPTIONAL.includes(name) && !MODEL_FILE.test(name)) throw new ImportError(MANIFEST, 'files', `${JSON.stringify(name.slice(0, 200))} is no file of a run bundle`);
    if (!paths.includes(name)) throw new ImportError(name, '', 'it is in the manifest, but not in the zip');
  }
  const extra = paths.find((path) => path !== MANIFEST && !Object.hasOwn(manifest.files, path));
  if (extra !== undefined) throw new ImportError(extra.slice(0, 200), '', 'it is in the zip, but not in the manifest');
  return manifest;
}

function parse(bytes: Uint8Array, file: string, where: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ImportError(file, where, `it is not JSON: ${(cause as Error).message.slice(0, 200)}`);
  }
}

const NEWLINE = 10;

type LineReader<T> = (value: unknown, file: string, where: string) => T;

async function readLines<T>(bytes: Uint8Array, file: string, { rows: most }: ImportLimits, read: LineReader<T>, signal?: AbortSignal): Promise<T[]> {
  const rows: T[] = [];
  const breath = new Breath();
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    const where = `line ${rows.length + 1}`;
    if (rows.length === most) throw new ImportError(file, '', `it has more than ${most} lines`);
    rows.push(read(parse(bytes.subarray(at, end), file, where), file, where));
    at = end + 1;
    signal?.throwIfAborted();
    await breath.take();
  }
  return rows;
}

/** Whether every row names something that was listed before. */
function known<T>(listed: ReadonlySet<string>, rows: readonly T[], file: string, field: string, key: (row: T) => string, what: string): void {
  const stray = rows.findIndex((row) => !listed.has(key(row)));
  if (stray >= 0) throw new ImportError(file, `line ${stray + 1}, ${field}`, `is ${JSON.stringify(key(rows[stray]!))}: expected the id of ${what}`);
}

function distinct<T, K extends string | number>(rows: readonly T[], file: string, field: string, key: (row: T) => K): Set<K> {
  const seen = new Set<K>();
  for (const [i, row] of rows.entries()) {
    const own = key(row);
    if (seen.has(own)) throw new ImportError(file, `line ${i + 1}, ${field}`, `${JSON.stringify(own)} was on an earlier line`);
    seen.add(own);
  }
  return seen;
}
