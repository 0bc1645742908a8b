/** @file Writes an experiment's definition as TOML, so that a visitor can change it or give it to `mua experiment`. */
import { stringify } from 'smol-toml';
import type { Experiment } from '../records/experiment.ts';

export function writeToml({ id, name, question, base, variants, baseline, seeds, evaluation }: Experiment): string {
  return stringify({ id, name, question, seeds, baseline, base, evaluation, variants });
}
