/** @file The work of `mua report`: pass^k of conversations that a file recorded, and their paired difference. */
import { basename, dirname, join } from 'node:path';
import { InputError, shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import type { EvaluationReport } from '../records/evaluation.ts';
import type { Json } from '../records/json.ts';
import type { Task } from '../records/task.ts';
import { domainOf, isOwn } from '../domains/registry.ts';
import type { Scorecard } from '../records/scorecard.ts';
import {
  comparedWith,
  endingsOf,
  type ImportedEvaluation,
  importedEvaluations,
  scorecardOfImport,
} from '../trainer/imported-evaluation.ts';
import type { EvaluateResult } from '../trainer/messages.ts';
import { readJson } from './files.ts';
import { readForeignPath } from './foreign-path.ts';
import { STATUS } from './status.ts';
import { checkOpened, keptWorld } from './world.ts';

export interface PathReport extends Pick<
  EvaluationReport,
  'derived' | 'process' | 'turns_before_failure' | 'score' | 'tasks' | 'trials' | 'pass_hat' | 'unscored' | 'tool_calls' | 'turns_mean'
> {
  name: string;
  source: string;
  /** Only with a process score. */
  by_intent?: EvaluationReport['by_intent'];
  /** The rule of success. Absent for conversations of the playground, which have outcomes of their own. */
  success?: string;
  ended: Record<string, number>;
}

export interface ReportOptions {
  success?: string | null | undefined;
  data?: string | undefined;
  against?: string | undefined;
  /** Whether the scorecard is made. */
  card?: boolean | undefined;
}

/**
 * @returns a report for each evaluation of `path`, then those of `against`; the difference of the first evaluation of `path` from the
 * first of `against`; `compared`: the names of these two, the one of `against` first, or nothing without `against`; the scorecard of `path`
 * @throws InputError if the files do not say which conversations succeeded; also the errors of the readers
 */
export async function reportPaths(
  path: string,
  { success, data, against, card }: ReportOptions,
): Promise<{
  reports: PathReport[];
  compared: string[];
  difference: EvaluateResult['differences'][number];
  card?: Scorecard;
  notes: string[];
}> {
  const notes: string[] = [];
  const read = async (file: string): Promise<ImportedEvaluation[]> => {
    const { rollouts, source, name, createdAt, notes: own } = await readForeignPath(file, data);
    notes.push(...own);
    const found = importedEvaluations(rollouts, { source, name, createdAt, ...(success !== undefined && { success }) });
    if (!card && !found.some(({ trials }) => trials.some(({ reward }) => reward !== null)))
      throw new InputError(`${file} does not say which conversations succeeded: expected --success RULE, such as --success 'reward>=1'`);
    return found;
  };
  const [own, other] = [await read(path), against === undefined ? [] : await read(against)];
  const [after, before] = [own[0]!, other[0]];
  if (card) await openScenario(path, after.trials[0]!.task);
  if (card && own.length > 1)
    throw new InputError(`${path} has ${own.length} evaluations: expected one with --card, such as ${join(path, 'trajectories-1.jsonl')}`);
  return {
    reports: [...own, ...other].map(reportOf),
    compared: before ? [before.row.name, after.row.name] : [],
    difference: before ? comparedWith(before, after) : null,
    ...(card && { card: await scorecardOfImport(after, await playedSettings(path)) }),
    notes,
  };
}

/** The folder of `mua evaluate` that a path means. */
const evaluationFolder = (path: string): string => (/^trajectories-\d+\.jsonl$/.test(basename(path)) ? dirname(path) : path);

/** Makes the scenario of a task, which the folder keeps, a domain of this process. @throws UsageError if it is not there */
async function openScenario(path: string, { id, domain }: Pick<Task, 'id' | 'domain'>): Promise<void> {
  if (isOwn(domain) && !domainOf(domain)) await keptWorld(evaluationFolder(path), false);
  checkOpened(domain, `${path}: task ${shown(id)}: domain`);
}

/** The flags of `mua evaluate` that say what was played, beside its tasks. */
const PLAYED = ['temperature', 'seed', 'precision', 'preset', 'set', 'lora', 'agent', 'agentModel', 'agentFormat', 'skipNoop', 'rules'];

/** What the status of a folder of `mua evaluate` says of the evaluation. Of a path, only the last name: a card is meant to be shared. */
async function playedSettings(path: string): Promise<Record<string, Json>> {
  const status = await readJson(join(evaluationFolder(path), STATUS)).catch(() => null);
  const flags = isObject(status) && isObject(status.settings) ? status.settings.flags : null;
  if (!isObject(flags)) return {};
  const given = PLAYED.filter((name) => flags[name] !== undefined && flags[name] !== null);
  const settings = Object.fromEntries(given.map((name) => [name, flags[name] as Json]));
  return { ...settings, ...(typeof settings.lora === 'string' && { lora: basename(settings.lora) }) };
}

function reportOf(evaluation: ImportedEvaluation): PathReport {
  const { name, foreign, report } = evaluation.row;
  const { derived, process, turns_before_failure, score, by_intent, tasks, trials, pass_hat, unscored, tool_calls, turns_mean } = report;
  const { source, success } = foreign!;
  return {
    name,
    source,
    ...(success !== undefined && { success }),
    ...(derived !== undefined && { derived }),
    ...(process && { process, by_intent }),
    ...(turns_before_failure && { turns_before_failure }),
    ...(score && { score }),
    tasks,
    trials,
    pass_hat,
    unscored,
    ended: endingsOf(evaluation),
    tool_calls,
    turns_mean,
  };
}
