/** @file Lists, filters and pairs evaluations for the page. */
import { customerName } from '../../base/customer-name.ts';
import { countFlips, type Flip, type Pair, pairTrials, violationFlip } from '../../evaluation/paired.ts';
import type { EvaluationRow, EvaluationSettings, TrialResult } from '../../records/evaluation.ts';
import { derivedName } from '../../domains/registry.ts';
import { canPair } from '../../evaluation/types.ts';
import { conditionsText } from '../labels/conditions.ts';
import { ruleLabel, SPLIT_LABELS } from '../labels/labels.ts';
import type { Query } from '../routes/routes.ts';
import { guardText } from './guards.ts';
import { hasFinding } from './scorecard.ts';

/** Where an imported evaluation comes from, or the settings of another one, in one line. */
export const playedText = ({ foreign, settings }: EvaluationRow): string =>
  foreign
    ? `${derivedPart(settings)}from ${foreign.source}${foreign.success === undefined ? '' : `, success is ${ruleLabel(foreign.success)}`}`
    : settingsText(settings);

/** The name of results that are no official figures. */
const derivedPart = ({ domain, level }: Pick<EvaluationSettings, 'domain' | 'level'>) => {
  const derived = derivedName(domain, level);
  return derived === undefined ? '' : `${derived}, `;
};

/** The settings of an evaluation in one line. */
export function settingsText({ domain, level, split, seed, temperature, conditions, user, agent }: EvaluationSettings): string {
  const customers = conditionsText(conditions, domain, level);
  const who = user.mode === 'scripted' ? '' : `, ${user.mode === 'local' ? customerName(user) : user.model}`;
  const guard = guardText({ ...(agent && { agent }) });
  return `${derivedPart({ domain, level })}${domain} ${level}, ${SPLIT_LABELS[split]} tasks, seed ${seed}, ${temperature === 0 ? 'greedy' : `temperature ${temperature}`}${guard && `, ${guard}`}${who}${customers && `, ${customers}`}`;
}

/** The other evaluations of the same tasks and seeds: by step of the weights, then by date. */
export function comparable(row: EvaluationRow, rows: readonly EvaluationRow[]): EvaluationRow[] {
  return rows
    .filter((other) => other.id !== row.id && pairingProblem(row, other) === '')
    .sort((a, b) => stepOf(a) - stepOf(b) || a.createdAt - b.createdAt);
}

const stepOf = ({ model }: EvaluationRow) => (model.kind === 'run' ? model.step : -1);

/** Orders two evaluations as [before, after]: by the step of the weights, then by date. A model without a run comes before all steps. */
export function inOrder(a: EvaluationRow, b: EvaluationRow): [EvaluationRow, EvaluationRow] {
  return (stepOf(a) - stepOf(b) || a.createdAt - b.createdAt) <= 0 ? [a, b] : [b, a];
}

export function flipsBetween(before: EvaluationRow, after: EvaluationRow): Record<Flip, number> {
  return countFlips(pairTrials(before.results, after.results));
}

/** Why two evaluations cannot be paired; '' if they can. */
export function pairingProblem(a: EvaluationRow, b: EvaluationRow): string {
  if (a.id === b.id) return 'Choose two different evaluations.';
  if (a.foreign || b.foreign)
    return pairTrials(a.results, b.results).length > 0 ? '' : 'These two evaluations have no scored trial of the same task and number.';
  if (canPair(a, b)) return '';
  const [left, right] = [a.settings, b.settings];
  if (left.protocol !== right.protocol) return 'An earlier version of the page played one of these two evaluations, with other tasks.';
  const names = (['domain', 'level', 'split', 'tasks', 'trials', 'seed', 'temperature'] as const).filter(
    (name) => left[name] !== right[name],
  );
  if (conditionsText(left.conditions, left.domain, left.level) !== conditionsText(right.conditions, right.domain, right.level))
    return 'These two evaluations have different customers or tool faults.';
  return `These two evaluations have different settings${names.length > 0 ? `: ${names.map((name) => `${name} ${left[name]} and ${right[name]}`).join(', ')}` : ''}.`;
}

/** The evaluations of a run's earliest and newest weights that have the same settings; null if there is no such pair. */
export function runSpan(rows: readonly EvaluationRow[]): [EvaluationRow, EvaluationRow] | null {
  const byStep = rows.toSorted((a, b) => stepOf(a) - stepOf(b) || a.createdAt - b.createdAt);
  for (const after of byStep.toReversed()) {
    const before = byStep.find((row) => canPair(row, after));
    if (before && stepOf(before) < stepOf(after)) return [before, after];
  }
  return null;
}

export type PairFilter = Pick<Query<'compare'>, 'flip' | 'violation' | 'intent'>;

/** The pairs that match the filter. A rule matches if only one trial of the pair broke it. Pairs in which only `before` did are first. */
export function filterPairs(pairs: readonly Pair[], { flip, violation, intent }: PairFilter): Pair[] {
  const kept = pairs.filter(
    (pair) =>
      (flip === '' || pair.flip === flip) &&
      (intent === '' || pair.intent === intent) &&
      (violation === '' || violationFlip(pair, violation) !== null),
  );
  if (violation === '') return kept;
  return [
    ...kept.filter((pair) => violationFlip(pair, violation) === 'stopped'),
    ...kept.filter((pair) => violationFlip(pair, violation) === 'started'),
  ];
}

/** The trials of an evaluation that match the page's filter. */
export function filterResults(
  results: readonly TrialResult[],
  { reward, violation, finding, intent, end }: Pick<Query<'eval'>, 'reward' | 'violation' | 'finding' | 'intent' | 'end'>,
): TrialResult[] {
  return results.filter(
    (result) =>
      (reward === '' || String(result.reward) === reward) &&
      (violation === '' || (result.violations as string[]).includes(violation)) &&
      (finding === '' || hasFinding(result, finding)) &&
      (intent === '' || result.intent === intent) &&
      (end === '' || result.termination === end),
  );
}

/** The k of pass^k that the table shows: the powers of 2 up to `trials`. */
export function powers(trials: number): number[] {
  const ks: number[] = [];
  for (let k = 1; k <= trials; k *= 2) ks.push(k);
  return ks;
}
