/**
 * @file The results of an experiment by domain or by intent: whether what was learned in some tasks holds for others. If the evaluations
 * play several domains, each domain is a part, else each intent.
 */
import { holm } from '../base/holm.ts';
import { intentGroup, SEVERAL } from '../evaluation/by-intent.ts';
import type { Experiment, ExperimentRun } from '../records/experiment.ts';
import { analyse, SHOWN } from './analysis.ts';
import { type Estimate, overSeeds } from './estimate.ts';

export interface PartResult {
  /** The held-out success in the tasks of the part, at the last evaluation. */
  success: Estimate | null;
  /** The share of the writes in these tasks to which the customer had said yes. Null if nothing was written, or without an audit. */
  asked: Estimate | null;
  /** The success minus that of the experiment's baseline, paired by task and seed. Null for the baseline. */
  difference: Estimate | null;
  /** Whether the difference is shown: its p-value is below 0.05 after Holm's correction for all differences of all parts. */
  shown: boolean;
}

export interface ByPart {
  kind: 'domain' | 'intent';
  /** Domains in the order of the evaluation. Intents in alphabetical order; tasks with wishes of several intents are last. */
  parts: string[];
  /** For each variant: a result for each of `parts`. */
  variants: { name: string; results: PartResult[] }[];
}

const domainOf = (task: string) => task.slice(0, task.indexOf('/'));
const domainsOf = ({ tasks }: ExperimentRun) => tasks.map(domainOf);
/** Files of earlier versions have no intents. */
const intentsOf = ({ intents = [] }: ExperimentRun) => intents.map(intentGroup);

/** Null if all tasks are of one domain, and all are of one intent or their intents are unknown. */
export function byPart(experiment: Experiment, runs: readonly ExperimentRun[]): ByPart | null {
  const named = (of: typeof domainsOf) => [...new Set(runs.flatMap(of))];
  const domains = named(domainsOf);
  const kind = domains.length > 1 ? 'domain' : 'intent';
  const rank = (intent: string) => (intent === SEVERAL ? 1 : 0);
  const parts = kind === 'domain' ? domains : named(intentsOf).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  if (parts.length < 2) return null;
  const partsOf = runs.map(kind === 'domain' ? domainsOf : intentsOf);
  const ofParts = parts.map((part) => runs.map((run, i) => onlyTasks(run, (task) => partsOf[i]![task] === part)));
  const analyses = ofParts.map((own) => analyse(experiment, own));
  const comparisons = analyses.flatMap((analysis) => analysis.comparisons);
  const corrected = holm(comparisons.map(({ p }) => p));
  const resultOf = (name: string, part: number): PartResult => {
    const comparison = analyses[part]!.comparisons.find(({ variant }) => variant === name);
    const p = comparison ? corrected[comparisons.indexOf(comparison)]! : null;
    return {
      success: analyses[part]!.variants.find((variant) => variant.name === name)!.figures.held_out,
      asked: askedOf(ofParts[part]!.filter((run) => run.variant === name && experiment.seeds.includes(run.seed))),
      difference: comparison?.difference ?? null,
      shown: p !== null && p < SHOWN,
    };
  };
  return {
    kind,
    parts,
    variants: experiment.variants.map(({ name }) => ({ name, results: parts.map((_, part) => resultOf(name, part)) })),
  };
}

/** The run with those tasks for whose index `wanted` is true. */
function onlyTasks(run: ExperimentRun, wanted: (index: number) => boolean): ExperimentRun {
  const kept = <T>(values: readonly T[]): T[] => values.filter((_, i) => wanted(i));
  return {
    ...run,
    tasks: kept(run.tasks),
    ...(run.intents && { intents: kept(run.intents) }),
    evaluations: run.evaluations.map((evaluation) => ({
      ...evaluation,
      success: kept(evaluation.success),
      ...(evaluation.greedy && { greedy: kept(evaluation.greedy) }),
      ...(evaluation.writes && { writes: kept(evaluation.writes) }),
    })),
  };
}

function askedOf(runs: readonly ExperimentRun[]): Estimate | null {
  const shares = runs.flatMap(({ evaluations }) => {
    const writes = evaluations.at(-1)?.writes ?? [];
    const [asked, of] = writes.reduce(([a, b], [confirmed, all]) => [a + confirmed, b + all], [0, 0]);
    return of > 0 ? [asked / of] : [];
  });
  return overSeeds(shares, [0, 1]);
}
