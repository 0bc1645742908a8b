/** @file Evaluations as the page lists, filters and pairs them. */
import { countFlips, type Flip, type Pair, pairTrials, violationFlip } from '../../evaluation/paired.ts';
import { type EvaluationSettings, settingsKey, type TrialResult } from '../../evaluation/types.ts';
import type { EvaluationRow } from '../../storage/database.ts';
import type { Query } from '../logic/routes.ts';

/** What was played, in one line. */
export function settingsText({ domain, level, split, seed, temperature, user }: EvaluationSettings): string {
  const who = user.mode === 'scripted' ? '' : `, ${user.model}`;
  return `${domain} ${level}, ${split === 'heldout' ? 'held-out' : 'training'} tasks, seed ${seed}, temperature ${temperature}${who}`;
}

/** `retail/nano/heldout/1/7` → `7`: within one evaluation only the last part differs. */
export const taskLabel = (task: string) => task.split('/').at(-1) ?? task;

/** Other evaluations of the same tasks and seeds: earlier checkpoints of a run first, then the older. */
export function comparable(row: EvaluationRow, rows: readonly EvaluationRow[]): EvaluationRow[] {
  const key = settingsKey(row.settings);
  return rows.filter((other) => other.id !== row.id && settingsKey(other.settings) === key).sort((a, b) => stepOf(a) - stepOf(b) || a.createdAt - b.createdAt);
}

const stepOf = ({ model }: EvaluationRow) => (model.kind === 'run' ? model.step : -1);

/** The two as before and after: of one run by step, a bundled model before a run, else by time. */
export function inOrder(a: EvaluationRow, b: EvaluationRow): [EvaluationRow, EvaluationRow] {
  return (stepOf(a) - stepOf(b) || a.createdAt - b.createdAt) <= 0 ? [a, b] : [b, a];
}

export function flipsBetween(before: EvaluationRow, after: EvaluationRow): Record<Flip, number> {
  return countFlips(pairTrials(before.results, after.results));
}

/** Why two evaluations cannot be paired, or ''. */
export function pairingProblem(a: EvaluationRow, b: EvaluationRow): string {
  if (a.id === b.id) return 'Choose two different evaluations.';
  if (settingsKey(a.settings) === settingsKey(b.settings)) return '';
  const [left, right] = [a.settings, b.settings];
  const names = (['domain', 'level', 'split', 'tasks', 'trials', 'seed', 'temperature'] as const).filter((name) => left[name] !== right[name]);
  return `These two did not play the same tasks under the same conditions${names.length > 0 ? `: ${names.map((name) => `${name} ${left[name]} and ${right[name]}`).join(', ')}` : ''}.`;
}

/** The widest span of a run that was evaluated on the same tasks: its earliest against its newest weights. */
export function runSpan(rows: readonly EvaluationRow[]): [EvaluationRow, EvaluationRow] | null {
  const byStep = rows.toSorted((a, b) => stepOf(a) - stepOf(b) || a.createdAt - b.createdAt);
  for (const after of byStep.toReversed()) {
    const before = byStep.find((row) => settingsKey(row.settings) === settingsKey(after.settings));
    if (before && stepOf(before) < stepOf(after)) return [before, after];
  }
  return null;
}

export type PairFilter = Pick<Query<'compare'>, 'flip' | 'violation' | 'intent'>;

/** Pairs that the filter leaves; of a rule, those where one side only breaks it, first those that stopped. */
export function filterPairs(pairs: readonly Pair[], { flip, violation, intent }: PairFilter): Pair[] {
  const kept = pairs.filter((pair) => (flip === '' || pair.flip === flip) && (intent === '' || pair.intent === intent) && (violation === '' || violationFlip(pair, violation) !== null));
  if (violation === '') return kept;
  return [...kept.filter((pair) => violationFlip(pair, violation) === 'stopped'), ...kept.filter((pair) => violationFlip(pair, violation) === 'started')];
}

/** Trials of one evaluation that its page's filter leaves. */
export function filterResults(results: readonly TrialResult[], { reward, violation, intent, end }: Pick<Query<'eval'>, 'reward' | 'violation' | 'intent' | 'end'>): TrialResult[] {
  return results.filter(
    (result) =>
      (reward === '' || String(result.reward) === reward) &&
      (violation === '' || (result.violations as string[]).includes(violation)) &&
      (intent === '' || result.intent === intent) &&
      (end === '' || result.termination === end),
  );
}

export interface GridRow {
  task: string;
  intent: string;
  /** By trial. */
  trials: TrialResult[];
}

/** A row a task, in the order of the evaluation's tasks. */
export function taskGrid(results: readonly TrialResult[]): GridRow[] {
  const rows = new Map<string, GridRow>();
  for (const result of results) {
    const row = rows.get(result.task);
    if (row) row.trials.push(result);
    else rows.set(result.task, { task: result.task, intent: result.intent, trials: [result] });
  }
  for (const { trials } of rows.values()) trials.sort((a, b) => a.index - b.index);
  return [...rows.values()].sort((a, b) => a.task.localeCompare(b.task, 'en', { numeric: true }));
}

/** As the grid is read. */
export const inTaskOrder = (results: readonly TrialResult[]) => taskGrid(results).flatMap(({ trials }) => trials);

/** Which pass^k a table has room for: 1, 2, 4, 8 and so on. */
export function powers(trials: number): number[] {
  const ks: number[] = [];
  for (let k = 1; k <= trials; k *= 2) ks.push(k);
  return ks;
}
