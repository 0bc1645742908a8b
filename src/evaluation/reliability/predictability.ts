/**
 * @file Predictability: whether the agent's confidence says if it will succeed. The formulas are those of the code that the authors of
 * arXiv 2602.16666 published (princeton-pli/hal-harness, `reliability_eval/metrics/predictability.py`). The authors ask the agent for its
 * confidence. Here it comes from the probabilities of its tokens.
 */
import type { Interval } from '../../records/evaluation.ts';
import type { CalibrationBin } from '../../records/reliability.ts';
import { clustersOf, meanInterval } from '../intervals.ts';

/** A conversation with a known confidence from 0 to 1. */
export interface Rated {
  customer: string;
  confidence: number;
  success: boolean;
}

const BINS = 10;
/** The last bin includes 1. */
const binOf = ({ confidence }: Rated) => Math.min(BINS - 1, Math.floor(confidence * BINS));
const excess = ({ confidence, success }: Rated) => Number(success) - confidence;

/** The bins of the reliability diagram that are not empty. */
export function calibrationBins(trials: readonly Rated[]): CalibrationBin[] {
  return Array.from({ length: BINS }, (_, bin) => trials.filter((trial) => binOf(trial) === bin)).flatMap((own, bin) => {
    if (own.length === 0) return [];
    const mean = (value: (trial: Rated) => number) => own.reduce((sum, trial) => sum + value(trial), 0) / own.length;
    const [confidence, success] = [mean((trial) => trial.confidence), mean((trial) => Number(trial.success))];
    return [{ from: bin / BINS, to: (bin + 1) / BINS, n: own.length, confidence, success }];
  });
}

/**
 * 1 − the expected calibration error over ten bins of equal width. Given in which bins the agent is too sure, the error is a mean over
 * trials. The interval is `meanInterval` of this mean, so it takes these signs as known.
 */
export function calibration(trials: readonly Rated[]): Interval | null {
  const signs = new Map(
    calibrationBins(trials).map(({ from, confidence, success }) => [Math.round(from * BINS), success < confidence ? -1 : 1]),
  );
  const error = meanInterval(
    clustersOf(
      trials,
      ({ customer }) => customer,
      (trial) => signs.get(binOf(trial))! * excess(trial),
    ),
    [-1, 1],
  );
  return error && { value: 1 - error.value, low: 1 - error.high, high: Math.min(1, 1 - error.low) };
}

/** 1 − the mean squared difference between confidence and success (1 or 0). */
export const brier = (trials: readonly Rated[]): Interval | null =>
  meanInterval(
    clustersOf(
      trials,
      ({ customer }) => customer,
      (trial) => 1 - excess(trial) ** 2,
    ),
    [0, 1],
  );

/**
 * The area under the ROC curve: the share of pairs of a success and a failure in which the success has more confidence; ties count half. Null
 * without both. The interval has the values whose variance by Hanley and McNeil (1982) allows the measured one, as in Newcombe (2006), so
 * it holds at 0 and 1 too. Its sample sizes are the customers with a success and those with a failure.
 */
export function discrimination(trials: readonly Rated[]): Interval | null {
  const [won, lost] = [trials.filter(({ success }) => success), trials.filter(({ success }) => !success)];
  if (won.length === 0 || lost.length === 0) return null;
  const pairs = won.flatMap((a) => lost.map((b) => (Math.sign(a.confidence - b.confidence) + 1) / 2));
  const value = pairs.reduce((sum, pair) => sum + pair, 0) / pairs.length;
  const customers = (of: readonly Rated[]) => new Set(of.map(({ customer }) => customer)).size;
  const [m, n] = [customers(won), customers(lost)];
  const allows = (area: number) => {
    const spread = 1 + ((m - 1) * (1 - area)) / (2 - area) + ((n - 1) * area) / (1 + area);
    return (value - area) ** 2 <= (1.959964 ** 2 * area * (1 - area) * spread) / (m * n);
  };
  return { value, low: lastAllowed(value, 0, allows), high: lastAllowed(value, 1, allows) };
}

/** The end of the allowed values between `from`, which is allowed, and `end`. */
function lastAllowed(from: number, end: number, allows: (value: number) => boolean): number {
  let [inside, outside] = [from, end];
  for (let i = 0; i < 50; i++) {
    const middle = (inside + outside) / 2;
    if (allows(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}
