/** @file Writes what a run needs: bytes and estimated times. */
import type { RunPlan } from '../../trainer/run-plan.ts';

export const inBytes = (bytes: number): string => (bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`);

/** An estimated time, rounded: to seconds, to minutes or, from 90 minutes on, to a tenth of an hour. */
export function inTime(seconds: number): string {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `about ${Math.round(seconds / 60)} min` : `about ${(seconds / 3600).toFixed(1)} h`;
}

export const ESTIMATED = 'Times are estimates from a short probe of this GPU; the true times differ.';

/** The lines of `mua train --plan`. */
export function planLines({ plan, problem, advice, seconds }: RunPlan): string[] {
  return [
    ...(plan ? [`GPU memory         ${inBytes(plan.total)}`] : [`this run does not fit: ${problem ?? ''}`]),
    ...advice.map(
      ({ settings, total }) =>
        `  with ${Object.entries(settings)
          .map(([name, value]) => `${name}=${String(value)}`)
          .join(', ')}: ${inBytes(total)}`,
    ),
    ...(seconds
      ? [
          `a step             ${inTime(seconds.step)}`,
          ...(seconds.evaluation > 0 ? [`an evaluation      ${inTime(seconds.evaluation)}`] : []),
          ...(seconds.first > 0
            ? [`before step 1      ${inTime(seconds.first)}, one of the evaluations (--set val_before_train=false leaves it out)`]
            : []),
          `the whole run      ${inTime(seconds.run)}`,
          ESTIMATED,
        ]
      : []),
  ];
}
