/**
 * @file Analyses an experiment: figures for each variant, paired differences from the baseline, curves, and a sentence for
 * each comparison.
 */
import type { Experiment, ExperimentEvaluation, ExperimentRun, ExperimentVariant } from '../records/experiment.ts';
import { mean } from '../evaluation/pass-hat.ts';
import { correctedText, holm } from '../base/holm.ts';
import { differencesOverSeeds, differencesTest, type Estimate, overSeeds, sharesOverSeeds } from './estimate.ts';

/** A difference is shown if its corrected p-value is below this. */
export const SHOWN = 0.05;
/** A figure of training is the mean over this many last steps. */
const LAST_STEPS = 10;
const SHARE = [0, 1] as const;
const DIFFERENCE = [-1, 1] as const;
const AMOUNT = [0, Infinity] as const;

export const FIGURES = [
  { id: 'held_out', label: 'Held-out success (pass^1)', format: 'percent' },
  { id: 'greedy', label: 'Held-out success, greedy', format: 'percent' },
  { id: 'gain', label: 'Change in held-out success', format: 'points' },
  { id: 'confirmed', label: 'Writes with a yes, held-out', format: 'percent' },
  { id: 'confirmed_gain', label: 'Change in writes with a yes', format: 'points' },
  { id: 'called_again', label: 'Calls again after a timeout, held-out', format: 'percent' },
  { id: 'offered_more', label: 'Asks reserved customers for more, held-out', format: 'percent' },
  { id: 'hand_overs', label: 'Hand-overs, held-out', format: 'percent' },
  { id: 'turns', label: 'Turns, held-out', format: 'number' },
  { id: 'tokens', label: `Tokens sampled per rollout, last ${LAST_STEPS} steps`, format: 'number' },
  { id: 'kl', label: `KL to the start, last ${LAST_STEPS} steps`, format: 'number' },
  { id: 'seconds', label: 'Time of a run', format: 'seconds' },
] as const;
export type FigureId = (typeof FIGURES)[number]['id'];

export interface CurvePoint extends Estimate {
  step: number;
}

export interface VariantResult {
  name: string;
  /** The seeds of the finished runs, in the experiment's order. */
  seeds: number[];
  figures: Record<FigureId, Estimate | null>;
  /** The held-out success at each step with an evaluation. */
  heldOut: CurvePoint[];
}

export interface Comparison {
  variant: string;
  baseline: string;
  /** The held-out success of the variant minus that of the baseline. Null if no seed is finished in both. */
  difference: Estimate | null;
  /** The p-value of “no difference” (`differencesTest`), and the same after Holm's correction for all comparisons that have one. */
  p: number | null;
  corrected: number | null;
  /** `better` and `worse` are shown: the corrected p-value is below 0.05. */
  verdict: 'better' | 'worse' | 'not shown';
  /** The conclusion as one sentence. */
  sentence: string;
}

export interface Analysis {
  variants: VariantResult[];
  /** One comparison for each variant, except for the baseline. */
  comparisons: Comparison[];
  finished: number;
  total: number;
}

/** What the analysis reads of an experiment. */
export type Compared = Pick<Experiment, 'seeds' | 'baseline'> & { variants: readonly Pick<ExperimentVariant, 'name'>[] };

export function analyse(experiment: Compared, runs: readonly ExperimentRun[]): Analysis {
  const of = (name: string) => experiment.seeds.flatMap((seed) => runs.find((run) => run.variant === name && run.seed === seed) ?? []);
  const variants = experiment.variants.map(({ name }) => variantResult(name, of(name)));
  const others = experiment.variants.filter(({ name }) => name !== experiment.baseline);
  return {
    variants,
    comparisons: concluded(others.map(({ name }) => compare(name, of(name), experiment.baseline, of(experiment.baseline)))),
    finished: variants.reduce((sum, { seeds }) => sum + seeds.length, 0),
    total: experiment.variants.length * experiment.seeds.length,
  };
}

function variantResult(name: string, runs: readonly ExperimentRun[]): VariantResult {
  const last = (run: ExperimentRun) => run.evaluations.at(-1);
  const plain = (value: (run: ExperimentRun) => number | null | undefined, range: readonly [number, number] = AMOUNT) =>
    overSeeds(
      runs.flatMap((run) => value(run) ?? []),
      range,
    );
  return {
    name,
    seeds: runs.map(({ seed }) => seed),
    figures: {
      held_out: sharesOverSeeds(runs.map((run) => scored(last(run)?.success))),
      greedy: sharesOverSeeds(runs.map((run) => scored(last(run)?.greedy))),
      gain: differencesOverSeeds(
        runs.filter(({ evaluations }) => evaluations.length > 1).map((run) => taskDifferences(run, run, run.evaluations[0])),
      ),
      confirmed: plain((run) => last(run)?.figures.confirmed_writes, SHARE),
      confirmed_gain: plain((run) => confirmedGain(run), DIFFERENCE),
      called_again: plain((run) => last(run)?.figures.called_again, SHARE),
      offered_more: plain((run) => last(run)?.figures.offered_more, SHARE),
      hand_overs: plain((run) => last(run)?.figures.hand_overs, SHARE),
      turns: plain((run) => last(run)?.figures.turns),
      tokens: plain((run) => lastMean(run, 'response_length_only_model/mean')),
      kl: plain((run) => lastMean(run, 'actor/kl_loss')),
      seconds: plain(({ seconds }) => seconds),
    },
    heldOut: curve(runs),
  };
}

/** The outcomes that were scored. */
const scored = (outcomes: ExperimentEvaluation['success'] = []): number[] => outcomes.filter((value) => value !== null);

function confirmedGain({ evaluations }: ExperimentRun): number | null {
  const [first, last] = [evaluations.at(0), evaluations.at(-1)].map((evaluation) => evaluation?.figures.confirmed_writes);
  return evaluations.length < 2 || first === undefined || last === undefined ? null : last - first;
}

function lastMean({ metrics }: ExperimentRun, name: string): number | null {
  const values = (metrics[name] ?? []).filter((value) => value !== null).slice(-LAST_STEPS);
  return values.length === 0 ? null : mean(values);
}

/**
 * The held-out success at the steps that every finished run has evaluated. With other steps, the curve would jump where a run
 * is missing.
 */
function curve(runs: readonly ExperimentRun[]): CurvePoint[] {
  const at = (run: ExperimentRun, step: number) => run.evaluations.find((evaluation) => evaluation.step === step);
  const steps = (runs[0]?.evaluations ?? []).map(({ step }) => step).filter((step) => runs.every((run) => at(run, step)));
  return steps.flatMap((step) => {
    const estimate = sharesOverSeeds(runs.map((run) => scored(at(run, step)?.success)));
    return estimate ? [{ step, ...estimate }] : [];
  });
}

/** A metric of training at each step: its mean and interval over the seeds that have it. */
export function metricCurve(runs: readonly ExperimentRun[], metric: string): CurvePoint[] {
  const steps = [...new Set(runs.flatMap(({ metricSteps }) => metricSteps))].sort((a, b) => a - b);
  return steps.flatMap((step) => {
    const values = runs.flatMap((run) => run.metrics[metric]?.[run.metricSteps.indexOf(step)] ?? []);
    const estimate = overSeeds(values);
    return estimate ? [{ step, ...estimate }] : [];
  });
}

type Tested = Pick<Comparison, 'variant' | 'baseline' | 'difference' | 'p'>;

/** Compares two variants. Their last evaluations are paired by seed and task. A seed whose runs played different tasks is left out. */
function compare(variant: string, ours: readonly ExperimentRun[], baseline: string, theirs: readonly ExperimentRun[]): Tested {
  const pairs = ours.flatMap((run) => {
    const other = theirs.find(({ seed }) => seed === run.seed);
    return other && sameTasks(run, other) ? [taskDifferences(run, other)] : [];
  });
  return { variant, baseline, difference: differencesOverSeeds(pairs), p: differencesTest(pairs) };
}

const sameTasks = (a: ExperimentRun, b: ExperimentRun) =>
  a.tasks.length === b.tasks.length && a.tasks.every((task) => b.tasks.includes(task));

/** Adds the p-values after Holm's correction, and the conclusions from them. */
function concluded(tested: readonly Tested[]): Comparison[] {
  const corrected = holm(tested.map(({ p }) => p));
  const comparisons = corrected.filter((p) => p !== null).length;
  return tested.map((one, i) => ({ ...one, corrected: corrected[i]!, ...conclusion(one, corrected[i]!, comparisons) }));
}

/**
 * For each task: its outcome in the last evaluation of `run` minus its outcome in `evaluation` of `other`, by default the last
 * evaluation of `other`.
 */
function taskDifferences(run: ExperimentRun, other: ExperimentRun, evaluation = other.evaluations.at(-1)): number[] {
  const outcomes = ({ tasks }: ExperimentRun, { success = [] }: Partial<ExperimentEvaluation> = {}) =>
    new Map(tasks.flatMap((task, i) => (success[i] === null || success[i] === undefined ? [] : [[task, success[i]] as const])));
  const [mine, base] = [outcomes(run, run.evaluations.at(-1)), outcomes(other, evaluation)];
  return [...mine].flatMap(([task, value]) => (base.has(task) ? [value - base.get(task)!] : []));
}

/** A share in percentage points, with one decimal and a real minus sign. */
export const points = (share: number): string =>
  (100 * share)
    .toFixed(1)
    .replace(/^-(?=0\.0$)/, '')
    .replace('-', '−');

function conclusion(
  { variant, baseline, difference }: Tested,
  corrected: number | null,
  comparisons: number,
): Pick<Comparison, 'verdict' | 'sentence'> {
  if (!difference)
    return {
      verdict: 'not shown',
      sentence: `\`${variant}\` and \`${baseline}\` have no finished seed with the same tasks in common: nothing is shown yet.`,
    };
  const { value, low, high, seeds } = difference;
  const size = points(Math.abs(value));
  const relation = size === '0.0' ? 'equals' : `is ${size} points ${value > 0 ? 'better than' : 'worse than'}`;
  const interval = `95 % interval ${points(low)} to ${points(high)}`;
  const start = `\`${variant}\` ${relation} \`${baseline}\` in held-out success (${interval}, ${seeds} ${seeds === 1 ? 'seed' : 'seeds'})`;
  if (corrected === null)
    return { verdict: 'not shown', sentence: `${start}: not shown, because one seed says nothing about other seeds.` };
  const p = correctedText(corrected, comparisons);
  if (corrected >= SHOWN) return { verdict: 'not shown', sentence: `${start}: not shown (${p}).` };
  return { verdict: value > 0 ? 'better' : 'worse', sentence: `${start}: shown (${p}).` };
}
