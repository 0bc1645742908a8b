/** @file The work of `mua report`: pass^k of conversations that a file recorded, and their paired difference. */
import { InputError } from '../base/input-error.ts';
import type { EvaluationReport } from '../records/evaluation.ts';
import { comparedWith, endingsOf, type ImportedEvaluation, importedEvaluations } from '../trainer/imported-evaluation.ts';
import type { EvaluateResult } from '../trainer/messages.ts';
import { readForeignPath } from './foreign-path.ts';

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
}

/**
 * @returns a report for each evaluation of `path`, then those of `against`; the difference of the first evaluation of `path` from the
 * first of `against`; `compared`: the names of these two, the one of `against` first, or nothing without `against`
 * @throws InputError if the files do not say which conversations succeeded; also the errors of the readers
 */
export async function reportPaths(
  path: string,
  { success, data, against }: ReportOptions,
): Promise<{ reports: PathReport[]; compared: string[]; difference: EvaluateResult['differences'][number]; notes: string[] }> {
  const notes: string[] = [];
  const read = async (file: string): Promise<ImportedEvaluation[]> => {
    const { rollouts, source, name, createdAt, notes: own } = await readForeignPath(file, data);
    notes.push(...own);
    const found = importedEvaluations(rollouts, { source, name, createdAt, ...(success !== undefined && { success }) });
    if (!found.some(({ trials }) => trials.some(({ reward }) => reward !== null)))
      throw new InputError(`${file} does not say which conversations succeeded: expected --success RULE, such as --success 'reward>=1'`);
    return found;
  };
  const [own, other] = [await read(path), against === undefined ? [] : await read(against)];
  const [after, before] = [own[0]!, other[0]];
  return {
    reports: [...own, ...other].map(reportOf),
    compared: before ? [before.row.name, after.row.name] : [],
    difference: before ? comparedWith(before, after) : null,
    notes,
  };
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
