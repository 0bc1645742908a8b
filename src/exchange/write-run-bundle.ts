/** @file Writes a run bundle. `run-bundle.ts` describes the format. */
import type { RunContent, SharedEvaluation, SharedRun } from '../records/bundle.ts';
import type { RunRow, StepMetrics } from '../records/run.ts';
import type { Trajectory } from '../records/trajectory.ts';
import type { UserConfig } from '../records/user.ts';
import { Breath } from '../base/breath.ts';
import { checked } from './checked.ts';
import { type ImportLimits, megabytes } from './file-source.ts';
import { digest } from '../base/sha256.ts';
import { BUNDLE_LIMITS, FILES, FORMAT, FORMAT_VERSION, scenarioFile } from './run-bundle.ts';
import { evaluationSchema, type ManifestFields, runSchema } from './run-schema.ts';
import { publicUrl, withoutKeys, withoutSecrets } from './secrets.ts';
import { zipFiles } from './zip.ts';

interface WriteOptions {
  appVersion: string;
  created?: Date;
  /** API keys to remove from messages, because an endpoint's error message may repeat them. */
  keys?: readonly string[];
  /** The limits of the reader that will read the bundle. */
  limits?: Partial<ImportLimits>;
}

/** The run without secrets. */
export function sharedRun(row: RunRow | SharedRun, keys: readonly string[] = []): SharedRun {
  const { val_user } = row.request;
  return checked<SharedRun>(
    runSchema,
    {
      ...row,
      name: withoutKeys(row.name, keys),
      ...(row.note !== undefined && { note: withoutKeys(row.note, keys) }),
      ...(row.tags && { tags: row.tags.map((tag) => withoutKeys(tag, keys)) }),
      ...(row.message !== undefined && { message: withoutSecrets(row.message, keys) }),
      request: { ...row.request, user: sharedUser(row.request.user), ...(val_user && { val_user: sharedUser(val_user) }) },
    },
    FILES.run,
  );
}

function sharedUser(user: UserConfig): UserConfig {
  if (user.mode === 'endpoint') return { ...user, baseUrl: publicUrl(user.baseUrl) };
  return user.mode === 'local' && user.hub !== undefined ? { ...user, hub: publicUrl(user.hub) } : user;
}

/** The evaluation without secrets. The schema drops an API key. */
function sharedEvaluation(evaluation: SharedEvaluation): SharedEvaluation {
  const { settings } = evaluation;
  return checked<SharedEvaluation>(
    evaluationSchema,
    { ...evaluation, settings: { ...settings, user: sharedUser(settings.user) } },
    FILES.evaluations,
  );
}

/** @throws Error if the bundle is too large for `readRunBundle`; the message says which parts to omit */
export async function writeRunBundle(
  { run, metrics, rollouts, trajectories, branches, evaluations, trials, model, scenarios = [] }: RunContent,
  { appVersion, created = new Date(), keys = [], limits }: WriteOptions,
): Promise<Blob> {
  const files: Record<string, Uint8Array<ArrayBuffer>> = {
    [FILES.run]: new TextEncoder().encode(JSON.stringify(sharedRun(run, keys), null, 2)),
    [FILES.metrics]: await jsonl(metrics, finiteMetrics),
    [FILES.rollouts]: await jsonl(rollouts, withoutRun),
    [FILES.trajectories]: await jsonl(trajectories, (trajectory) => sharedTrajectory(trajectory, keys)),
    ...(branches.length > 0 && {
      [FILES.branches]: await jsonl(branches, (branch) => ({ ...branch, trajectory: sharedTrajectory(branch.trajectory, keys) })),
    }),
    ...(evaluations.length > 0 && {
      [FILES.evaluations]: await jsonl(evaluations, sharedEvaluation),
      [FILES.trials]: await jsonl(trials, (trial) => sharedTrajectory(trial, keys)),
    }),
    ...Object.fromEntries(scenarios.map((text, i) => [scenarioFile(i), new TextEncoder().encode(text)])),
    ...Object.fromEntries(Object.entries(model ?? {}).map(([name, bytes]) => [`model/${name}`, bytes])),
  };
  const { fileBytes, totalBytes } = { ...BUNDLE_LIMITS, ...limits };
  const refuse = (what: string, size: number, most: number, names = Object.keys(files)) => {
    const advice = names.some((name) => name.startsWith('model/'))
      ? 'leave out the weights: the Models page exports them separately'
      : names.includes(FILES.trials)
        ? 'delete evaluations of the run first'
        : 'the run can only stay in this browser';
    throw new Error(`this run is too large for a file: ${what} ${megabytes(size)}, at most ${megabytes(most)} can be read back; ${advice}`);
  };
  for (const [name, { length }] of Object.entries(files)) if (length > fileBytes) refuse(`${name} has`, length, fileBytes, [name]);
  const total = Object.values(files).reduce((sum, { length }) => sum + length, 0);
  if (total > totalBytes) refuse('the files together have', total, totalBytes);
  const listed: ManifestFields['files'] = {};
  for (const [name, bytes] of Object.entries(files)) listed[name] = { sha256: await digest(bytes), bytes: bytes.length };
  const manifest = {
    format: FORMAT,
    format_version: FORMAT_VERSION,
    app_version: appVersion,
    created: created.toISOString(),
    files: listed,
  };
  const zip = await zipFiles({ [FILES.manifest]: new TextEncoder().encode(JSON.stringify(manifest, null, 2)), ...files }, created);
  if (zip.size > fileBytes) refuse('the zip has', zip.size, fileBytes);
  return zip;
}

/** The metrics that JSON can express: values that are not finite are dropped. */
export const finiteMetrics = (metrics: StepMetrics) =>
  Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));

/** Removes the run's id. The rows in the storage have it, the rows in a bundle do not. */
function withoutRun<T extends object>(row: T): Omit<T, 'run'> {
  const { run: _, ...rest } = row as T & { run?: string };
  return rest;
}

function sharedTrajectory(trajectory: Trajectory, keys: readonly string[]): Omit<Trajectory, 'run'> {
  const own = withoutRun(trajectory);
  return own.error === undefined ? own : { ...own, error: withoutSecrets(own.error, keys) };
}

/** JSON Lines: each line has one JSON value. */
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
