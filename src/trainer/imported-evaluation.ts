/** @file Makes evaluations of conversations that a file recorded: results of a benchmark, Inspect's epochs, a folder of `mua evaluate`. */
import { groupBy } from '../base/group-by.ts';
import { recordedEnding } from '../base/recorded-ending.ts';
import { pairedDifference, type PairedDifference, pairTrials } from '../evaluation/paired.ts';
import { reportOf } from '../evaluation/report.ts';
import { scorecardOf } from '../evaluation/scorecard.ts';
import { withCards } from '../evaluation/trial-card.ts';
import { customerOf, outcomeOf, resultOf } from '../evaluation/trial-result.ts';
import type { EvaluationReport, EvaluationRow, EvaluationSettings } from '../records/evaluation.ts';
import type { Json } from '../records/json.ts';
import type { Scorecard } from '../records/scorecard.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { withScore } from './benchmark-score.ts';
import { type ForeignWords, sayForeign } from './foreign-conversation.ts';
import type { ReadOnlyRollout } from './read-only-run.ts';

export interface ImportedEvaluation {
  row: EvaluationRow;
  trials: Trajectory[];
}

export interface ImportedEvaluationOptions extends ForeignWords {
  createdAt: number;
  /** The tool that recorded the conversations, for people. */
  source: string;
  name: string;
}

/**
 * One evaluation for each part of the conversations. The trials of a task have the numbers of the file, or their places if those are not
 * distinct.
 * @param rollouts must all have the same domain and level
 * @throws InputError if the rule of success cannot be read
 */
export function importedEvaluations(
  rollouts: readonly (ReadOnlyRollout & { part?: string })[],
  { createdAt, source, name, ...words }: ImportedEvaluationOptions,
): ImportedEvaluation[] {
  const parts = [...groupBy(rollouts, ({ part = '' }) => part)];
  return parts.map(([, own], i) => {
    const { conversations, said } = sayForeign(
      own.map(({ trajectory }) => trajectory),
      words,
    );
    const trials = numbered(conversations);
    const { domain, level, split } = trials[0]!.task;
    const figures = figuresOf(trials);
    const { tasks, trials: most } = figures.report;
    return {
      trials,
      row: {
        id: crypto.randomUUID(),
        createdAt,
        run: '',
        model: { kind: 'model', name: source },
        name: parts.length > 1 ? `${name}, customer ${i + 1}` : name,
        // The file has no settings of the playground. The page needs these.
        settings: { domain, level, split, tasks, trials: most, user: { mode: 'scripted' } } as EvaluationSettings,
        foreign: { ...said, source },
        ...figures,
      },
    };
  });
}

/**
 * An imported evaluation after the visitor said something else about its trials.
 * @throws InputError if the rule of success cannot be read
 */
export function saidAgain({ row, trials }: ImportedEvaluation, words: ForeignWords): ImportedEvaluation {
  const { conversations, said } = sayForeign(trials, words);
  const { report, results } = figuresOf(conversations);
  // What was said and called is the same, so the layers are too.
  const cards = new Map(row.results.map(({ id, card }) => [id, card]));
  const carded = results.map((result) => ({ ...result, ...(cards.get(result.id) && { card: cards.get(result.id)! }) }));
  return { trials: conversations, row: { ...row, foreign: { ...said, source: row.foreign!.source }, report, results: carded } };
}

function figuresOf(trials: readonly Trajectory[]): Pick<EvaluationRow, 'report' | 'results'> {
  const most = [...groupBy(trials, ({ group }) => group).values()].reduce((max, { length }) => Math.max(max, length), 0);
  return {
    report: withScore(reportOf(trials, most, 0), trials[0]!.task.domain),
    // The customers of other tools are not audited.
    results: trials.map((own) => (own.foreign ? { ...outcomeOf(own), customer: customerOf(own.task), faults: [] } : resultOf(own))),
  };
}

/** The trials of each task form a group. */
function numbered(conversations: readonly Trajectory[]): Trajectory[] {
  const tasks = [...groupBy(conversations, ({ task }) => task.id).values()];
  const order = new Map(
    tasks.flatMap((own) => {
      const distinct = new Set(own.map(({ index }) => index)).size === own.length;
      return own.map((one, place) => [one, distinct ? one.index : place] as const);
    }),
  );
  const numbers = new Map(tasks.map((own, t) => [own[0]!.task.id, t]));
  return conversations.map((own) => {
    const [t, index] = [numbers.get(own.task.id)!, order.get(own)!];
    return { ...own, id: `${t}-${index}`, group: String(t), index };
  });
}

/** The scorecard of an evaluation. @param more settings that the file does not know */
export async function scorecardOfImport({ row, trials }: ImportedEvaluation, more: Record<string, Json>): Promise<Scorecard> {
  return scorecardOf({ ...row, results: await withCards(row.results, trials) }, more);
}

/** The comparison of two evaluations by the trials of the same tasks with the same numbers. Null if they share none. */
export const comparedWith = (before: ImportedEvaluation, after: ImportedEvaluation): PairedDifference | null =>
  pairedDifference(pairTrials(before.row.results, after.row.results));

/** The endings of the trials by the names that the file gives them. */
export function endingsOf({ trials }: ImportedEvaluation): EvaluationReport['terminations'] {
  const names = trials.map(recordedEnding);
  return Object.fromEntries([...groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
