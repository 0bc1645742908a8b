/**
 * @file The format of a run bundle, `*.mua.zip`, and its reader:
 *
 * - `manifest.json`: format, format version, app version and creation time, and the size and SHA-256 of every other file
 * - `run.json`: the row of the run with its whole configuration, without API keys and without secrets in URLs. If the page may lack the
 *   run's model, the row has the tokens of the conversations
 * - `metrics.jsonl`: one line for each step, with verl's names
 * - `rollouts.jsonl`: one line for each rollout, with the fields that lists show
 * - `trajectories.jsonl`: the stored conversations, with tokens, annotations and every changed row
 * - `evaluations.jsonl`, `trials.jsonl`: evaluations of the run's weights and their conversations (optional)
 * - `branches.jsonl`: conversations that continue a rollout or a trial (optional)
 * - `scenario.json`, `scenario-2.json` and so on: the visitor's own scenarios in which the run and its evaluations were played (optional)
 * - `model/`: the trained weights as a Hugging Face folder (optional)
 *
 * The reader trusts nothing: it checks every limit, name, hash and field.
 */
import type { RunContent, SharedEvaluation, SharedRun } from '../records/bundle.ts';
import { measuredMetrics } from '../records/run.ts';
import type { RolloutSummary } from '../records/rollout.ts';
import { digest } from '../base/sha256.ts';
import { type FileData, type ImportLimits, LIMITS, openFiles } from './file-source.ts';
import { Breath } from '../base/breath.ts';
import { checked } from './checked.ts';
import { ImportError } from './import-error.ts';
import {
  evaluationSchema,
  type ManifestFields,
  manifestSchema,
  readBranch,
  readMetrics,
  readTrial,
  rolloutSchema,
  runSchema,
} from './run-schema.ts';
import { parserReason, shown } from '../base/input-error.ts';
import { readTrajectory } from './trajectory-schema.ts';

export const FORMAT = 'mua-run';
export const FORMAT_VERSION = 1;
const BUNDLE_SUFFIX = '.mua.zip';

/** A bundle has about ten files. */
export const BUNDLE_LIMITS: ImportLimits = { ...LIMITS, files: 100, rows: 200_000 };
/** The page has a chart for each metric. A run has about 100. */
const MOST_METRICS = 1000;

export interface RunBundle extends RunContent {
  manifest: ManifestFields;
}

/** The files of a bundle. The weights are in the folder `model/`. */
export const FILES = {
  manifest: 'manifest.json',
  run: 'run.json',
  metrics: 'metrics.jsonl',
  rollouts: 'rollouts.jsonl',
  trajectories: 'trajectories.jsonl',
  branches: 'branches.jsonl',
  evaluations: 'evaluations.jsonl',
  trials: 'trials.jsonl',
} as const;
/** The name of a scenario's file, by its index. */
export const scenarioFile = (i: number): string => (i === 0 ? 'scenario.json' : `scenario-${i + 1}.json`);
const SCENARIO_FILE = /^scenario(-([2-9]|[1-9]\d))?\.json$/;
const REQUIRED: string[] = [FILES.run, FILES.metrics, FILES.rollouts, FILES.trajectories];
const OPTIONAL: string[] = [FILES.branches, FILES.evaluations, FILES.trials];
const MODEL_FILE = /^model\/([A-Za-z0-9_][\w.-]{0,100})$/;

export interface ReadOptions {
  limits?: Partial<ImportLimits>;
  onProgress?: (done: number, total: number, file: string) => void;
  signal?: AbortSignal;
}

/** Reads and checks a whole bundle. Stores nothing. @throws ImportError naming file, path and reason */
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
    if ((await digest(bytes)) !== expected)
      throw new ImportError(name, '', 'its SHA-256 is not the one in the manifest: the file was changed or damaged');
    contents.set(name, bytes);
    done += size;
  }
  onProgress?.(total, total, '');

  const take = (name: string) => {
    const bytes = contents.get(name)!;
    contents.delete(name); // frees memory: the parsed rows replace the bytes
    return bytes;
  };
  const run = checked<SharedRun>(runSchema, parse(take(FILES.run), FILES.run, ''), FILES.run);
  const measured = (...line: Parameters<typeof readMetrics>) => measuredMetrics(readMetrics(...line), run.config);
  const metrics = await readLines(take(FILES.metrics), FILES.metrics, all, measured, signal);
  distinct(metrics, FILES.metrics, 'step', ({ step }) => step);
  // A chart adds steps at its end. The file may have them in another order.
  metrics.sort((a, b) => a.step - b.step);
  const names = new Set(metrics.flatMap((row) => Object.keys(row)));
  if (names.size > MOST_METRICS)
    throw new ImportError(FILES.metrics, '', `it has ${names.size} metrics: expected at most ${MOST_METRICS}, which the page can show`);
  const rollouts = await readLines(
    take(FILES.rollouts),
    FILES.rollouts,
    all,
    (value, file, where) => checked<RolloutSummary>(rolloutSchema, value, file, where),
    signal,
  );
  const listed = distinct(rollouts, FILES.rollouts, 'id', ({ id }) => id);
  const trajectories = await readLines(take(FILES.trajectories), FILES.trajectories, all, readTrajectory, signal);
  distinct(trajectories, FILES.trajectories, 'id', ({ id }) => id);
  known(listed, trajectories, FILES.trajectories, 'id', ({ id }) => id, `a rollout in ${FILES.rollouts}`);
  const optional = <T>(name: string, readLine: LineReader<T>) =>
    contents.has(name) ? readLines(take(name), name, all, readLine, signal) : [];
  const evaluations = await optional(FILES.evaluations, (value, file, where) =>
    checked<SharedEvaluation>(evaluationSchema, value, file, where),
  );
  const played = distinct(evaluations, FILES.evaluations, 'id', ({ id }) => id);
  const trials = await optional(FILES.trials, readTrial);
  known(played, trials, FILES.trials, 'evaluation', ({ evaluation }) => evaluation, `an evaluation in ${FILES.evaluations}`);
  // An id contains no comma, so two different pairs give different texts.
  const ended = distinct(trials, FILES.trials, 'evaluation,id', ({ evaluation, id }) => `${evaluation},${id}`);
  const branches = await optional(FILES.branches, readBranch);
  known(
    new Set([...listed, ...ended]),
    branches,
    FILES.branches,
    'rollout',
    ({ evaluation, rollout }) => (evaluation === undefined ? rollout : `${evaluation},${rollout}`),
    `a rollout in ${FILES.rollouts} or a trial in ${FILES.trials}`,
  );
  const scenarios = [...contents.keys()]
    .filter((name) => SCENARIO_FILE.test(name))
    .map((name) => {
      const bytes = take(name);
      // Who stores the run checks the scenario.
      parse(bytes, name, '');
      return decode(bytes);
    });
  const model = Object.fromEntries([...contents].map(([name, bytes]) => [MODEL_FILE.exec(name)![1]!, bytes]));
  return {
    manifest,
    ...{ run, metrics, rollouts, trajectories, branches, evaluations, trials },
    ...(scenarios.length > 0 && { scenarios }),
    model: contents.size === 0 ? null : model,
  };
}

async function readManifest(paths: readonly string[], read: (path: string) => Promise<Uint8Array>): Promise<ManifestFields> {
  if (!paths.includes(FILES.manifest))
    throw new ImportError(FILES.manifest, '', `it is missing: expected a run bundle (*${BUNDLE_SUFFIX})`);
  const value = parse(await read(FILES.manifest), FILES.manifest, '') as { format?: unknown; format_version?: unknown } | null;
  if (value?.format !== FORMAT) throw new ImportError(FILES.manifest, 'format', `is ${shown(value?.format)}: expected "${FORMAT}"`);
  const version = value.format_version;
  if (typeof version === 'number' && version > FORMAT_VERSION) {
    throw new ImportError(
      FILES.manifest,
      'format_version',
      `is ${version}: this page reads versions up to ${FORMAT_VERSION}; reload the page to update it, or open the bundle where it was made`,
    );
  }
  if (version !== FORMAT_VERSION)
    throw new ImportError(FILES.manifest, 'format_version', `is ${shown(version)}: expected ${FORMAT_VERSION}`);
  const manifest = checked<ManifestFields>(manifestSchema, value, FILES.manifest);
  for (const name of REQUIRED)
    if (!Object.hasOwn(manifest.files, name)) throw new ImportError(FILES.manifest, 'files', `${name} is missing`);
  for (const name of Object.keys(manifest.files)) {
    if (!REQUIRED.includes(name) && !OPTIONAL.includes(name) && !SCENARIO_FILE.test(name) && !MODEL_FILE.test(name))
      throw new ImportError(FILES.manifest, 'files', `${JSON.stringify(name.slice(0, 200))} is not a file of a run bundle`);
    if (!paths.includes(name)) throw new ImportError(name, '', 'it is in the manifest, but not in the zip');
  }
  const extra = paths.find((path) => path !== FILES.manifest && !Object.hasOwn(manifest.files, path));
  if (extra !== undefined) throw new ImportError(extra.slice(0, 200), '', 'it is in the zip, but not in the manifest');
  return manifest;
}

/** @throws if the bytes are no UTF-8 */
const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

function parse(bytes: Uint8Array, file: string, where: string): unknown {
  try {
    return JSON.parse(decode(bytes));
  } catch (cause) {
    throw new ImportError(file, where, `it is not JSON: ${parserReason(cause)}`);
  }
}

const NEWLINE = 10;

type LineReader<T> = (value: unknown, file: string, where: string) => T;

async function readLines<T>(
  bytes: Uint8Array,
  file: string,
  { rows: most }: ImportLimits,
  read: LineReader<T>,
  signal?: AbortSignal,
): Promise<T[]> {
  const rows: T[] = [];
  const breath = new Breath();
  for (let at = 0; at < bytes.length;) {
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

/** @throws ImportError if a row's key is not in `listed` */
function known<T>(
  listed: ReadonlySet<string>,
  rows: readonly T[],
  file: string,
  field: string,
  key: (row: T) => string,
  what: string,
): void {
  const stray = rows.findIndex((row) => !listed.has(key(row)));
  if (stray >= 0)
    throw new ImportError(file, `line ${stray + 1}, ${field}`, `is ${JSON.stringify(key(rows[stray]!))}: expected the id of ${what}`);
}

/** The keys of all rows. @throws ImportError if two rows have the same key */
function distinct<T, K extends string | number>(rows: readonly T[], file: string, field: string, key: (row: T) => K): Set<K> {
  const seen = new Set<K>();
  for (const [i, row] of rows.entries()) {
    const own = key(row);
    if (seen.has(own)) throw new ImportError(file, `line ${i + 1}, ${field}`, `${JSON.stringify(own)} was on an earlier line`);
    seen.add(own);
  }
  return seen;
}
