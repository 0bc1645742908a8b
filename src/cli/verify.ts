/** @file The checks of `mua verify`: of the folders of runs, experiments and models, and of files that the playground exports. */
import { openAsBlob } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { auditProblem } from '../agent/audit-log.ts';
import { CHAIN } from '../serve/conversation-log.ts';
import { verifyChain } from './verify-chain.ts';
import { parserReason } from '../base/input-error.ts';
import { isBaseWeights } from '../exchange/adapter-folder.ts';
import { checked } from '../exchange/checked.ts';
import { readRunBundle } from '../exchange/run-bundle.ts';
import { isModelFile } from '../exchange/model-files.ts';
import { readTrajectory } from '../exchange/trajectory-schema.ts';
import { readExperiment } from '../experiments/file.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { inspectModel } from '../trainer/stored-models.ts';
import { readText } from './files.ts';
import { fileSha256 } from './out-folder.ts';
import { expectRegular, type Line, readBytes, readLines } from './read.ts';
import { LOGS, STATUS, verifiedSchema, type VerifiedStatus } from './status.ts';

export interface Verified {
  /** The number of files that were read. */
  checked: number;
  problems: { file: string; problem: string }[];
}

/** The name of a log of `mua evaluate --out`. */
const EVALUATION_LOG = /^trajectories-\d+\.jsonl$/;

/** The name of a file of `mua env-serve --audit`. */
const SERVED = /^conversations-\d+(-\d+)?\.jsonl$/;

/** Reads a file, or every file of a folder, to its end. @param onFile gets each path @returns null if nothing at the path has a format of the playground */
export async function verify(path: string, onFile: (file: string) => void = () => {}): Promise<Verified | null> {
  const result: Verified = { checked: 0, problems: [] };
  const attempt = async <T>(file: string, read: () => Promise<T>): Promise<T | undefined> => {
    result.checked++;
    onFile(file);
    try {
      return await read();
    } catch (error) {
      result.problems.push({ file, problem: parserReason(error) });
      return undefined;
    }
  };
  const known = (await stat(path)).isDirectory() ? await verifyFolder(path, attempt) : await verifyFile(path, attempt);
  return known ? result : null;
}

/**
 * Checks the audit log of every conversation in a JSONL file, with its chain if `mua env-serve` wrote it, a bundle of a run, or the JSONL files of a folder. A line
 * without a log is counted but is no error, because conversations of other tools have no log.
 */
export async function verifyLogs(
  path: string,
  onFile: (file: string) => void = () => {},
): Promise<Verified & { conversations: number; calls: number; unlogged: number; unfinished: number }> {
  const result = { checked: 0, conversations: 0, calls: 0, unlogged: 0, unfinished: 0, problems: [] as Verified['problems'] };
  const check = (file: string, where: string, read: () => Trajectory) => {
    try {
      const trajectory = read();
      result.conversations++;
      if (!trajectory.audit) result.unlogged++;
      result.calls += trajectory.audit?.hashes.length ?? 0;
      const problem = auditProblem(trajectory);
      if (problem !== null) result.problems.push({ file, problem: `${where}: ${problem}` });
    } catch (error) {
      result.problems.push({ file, problem: parserReason(error) });
    }
  };
  const isFolder = (await stat(path)).isDirectory();
  const names = isFolder ? await readdir(path) : [];
  const chained = names.filter((name) => name.endsWith(CHAIN)).map((name) => name.replace(CHAIN, '.jsonl'));
  const files = isFolder
    ? [...new Set([...names, ...chained])].filter((name) => /(trajectories|conversations|trials|rollouts).*\.jsonl$/.test(name)).sort()
    : [''];
  for (const name of files) {
    const file = join(path, name);
    result.checked++;
    onFile(file);
    if (file.endsWith('.zip')) {
      const { trajectories, trials } = await readRunBundle(await readBytes(file));
      for (const trajectory of [...trajectories, ...trials]) check(file, trajectory.id, () => trajectory);
      continue;
    }
    try {
      for await (const { text, number } of readLines(file))
        if (text.trim() !== '')
          check(file, `line ${number}`, () => readTrajectory(parseLine(text, `line ${number}`), name || basename(file), `line ${number}`));
      const chain = file.replace(/\.jsonl$/, CHAIN);
      if (chained.includes(name) || (name === '' && (await stat(chain).catch(() => null)))) {
        const { problems, unfinished } = await verifyChain(file, chain);
        result.unfinished += unfinished;
        for (const problem of problems) result.problems.push({ file: chain, problem });
      } else if (chained.length > 0 && SERVED.test(name)) throw new Error('it has no chain, as other files of the folder have');
    } catch (error) {
      result.problems.push({ file, problem: parserReason(error) });
    }
  }
  return result;
}

type Attempt = <T>(file: string, read: () => Promise<T>) => Promise<T | undefined>;

async function verifyFolder(folder: string, attempt: Attempt): Promise<boolean> {
  const names = await readdir(folder);
  if (names.includes('experiment.json')) {
    const content = await verifyExperiment(join(folder, 'experiment.json'), attempt);
    for (const { variant, seed } of content?.runs ?? []) {
      const run = join(folder, variant, String(seed));
      if (!(await attempt(run, () => readdir(run)))?.includes(STATUS)) continue;
      await verifyRun(run, attempt);
    }
    return true;
  }
  if (names.includes(STATUS)) return verifyRun(folder, attempt);
  return names.includes('config.json') && verifyModel(folder, names, attempt);
}

async function verifyFile(path: string, attempt: Attempt): Promise<boolean> {
  if (path.endsWith('.zip')) {
    await attempt(path, async () => readRunBundle(await readBytes(path)));
    return true;
  }
  if (!/\.mua-experiment\.json$|^experiment\.json$/.test(basename(path))) return false;
  await verifyExperiment(path, attempt);
  return true;
}

const verifyExperiment = (path: string, attempt: Attempt) =>
  attempt(path, async () => readExperiment(await readText(path), basename(path)));

async function verifyRun(folder: string, attempt: Attempt): Promise<true> {
  const place = join(folder, STATUS);
  const status = await attempt(place, async () => {
    try {
      return checked<VerifiedStatus>(verifiedSchema, JSON.parse(await readText(place)), '');
    } catch (error) {
      throw new Error(`is not the status of a run: ${parserReason(error)}`);
    }
  });
  const isEvaluation = status?.command === 'evaluate';
  const logs = isEvaluation ? (await readdir(folder)).filter((name) => EVALUATION_LOG.test(name)) : LOGS;
  for (const log of logs) {
    const file = join(folder, log);
    await attempt(file, async () => {
      const check = ({ text, number }: Line) => {
        const value = parseLine(text, `line ${number}`);
        if (log.includes('trajectories')) readTrajectory(value, log, `line ${number}`);
      };
      // A killed process can leave an incomplete last line. `--resume` drops it, so it is no damage.
      for await (const line of readLines(file)) if (line.whole || status?.state === 'done') check(line);
    });
  }
  for (const { file, sha256, bytes } of status?.checkpoints ?? []) {
    await attempt(join(folder, file), () => expectHash(join(folder, file), sha256));
    for (const [log, length] of Object.entries(bytes)) {
      const { size } = await stat(join(folder, log)).catch(() => ({ size: 0 }));
      if (size < length)
        await attempt(join(folder, log), () => Promise.reject(new Error(`has ${size} bytes: expected at least the ${length} of ${file}`)));
    }
  }
  for (const [file, sha256] of Object.entries(status?.sha256 ?? {}))
    await attempt(join(folder, file), () => expectHash(join(folder, file), sha256));
  if (status?.state === 'done' && !isEvaluation) await verifyModel(folder, await readdir(folder), attempt);
  return true;
}

async function verifyModel(folder: string, names: readonly string[], attempt: Attempt): Promise<true> {
  await attempt(folder, async () => {
    const files = names.filter((name) => isModelFile(name) && !name.startsWith('checkpoint-'));
    const read = async (name: string) => {
      const path = join(folder, name);
      await expectRegular(path);
      return [name, isBaseWeights(name) ? await openAsBlob(path) : await readBytes(path)] as const;
    };
    await inspectModel(Object.fromEntries(await Promise.all(files.map(read))));
  });
  return true;
}

function parseLine(line: string, where: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Error(`${where} is not JSON: ${parserReason(error)}`);
  }
}

async function expectHash(path: string, sha256: string): Promise<void> {
  const found = await fileSha256(path);
  if (found !== sha256) throw new Error(`its SHA-256 is ${found}: expected ${sha256}`);
}
