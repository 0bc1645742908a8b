/** @file Compares the labels of a person with the judges of an evaluation. */
import { domainOf } from '../../domains/registry.ts';
import { type Calibration, calibrate, type Verdicts, verdictsOf } from '../../evaluation/labels/calibration.ts';
import type { EvaluationRow } from '../../records/evaluation.ts';
import type { LabelingRow } from '../../records/labeling.ts';
import type { Library } from '../library/library.ts';

/** @returns an entry for each judge of the question */
export async function calibrationsOf(
  library: Pick<Library, 'trial'>,
  { id, settings }: Pick<EvaluationRow, 'id' | 'settings'>,
  labeling: LabelingRow,
): Promise<Calibration[]> {
  const layers = (await domainOf(settings.domain)?.layers?.()) ?? {};
  const verdicts = new Map<string, Verdicts>();
  for (const { conversation, label } of labeling.labels) {
    const trajectory = label === null ? undefined : await library.trial(id, conversation);
    if (trajectory) verdicts.set(conversation, verdictsOf(labeling.question, trajectory, layers));
  }
  return calibrate(labeling, verdicts);
}

/** Of all questions for which an evaluation has labels. */
export async function allCalibrations(
  library: Pick<Library, 'trial' | 'labels'>,
  row: Pick<EvaluationRow, 'id' | 'settings'>,
): Promise<Calibration[]> {
  const labelings = await library.labels.all(row.id);
  return (await Promise.all(labelings.map((labeling) => calibrationsOf(library, row, labeling)))).flat();
}
