/** @file Reads the file of a reliability card (`records/reliability.ts`). Files come from strangers too. */
import * as z from 'zod/mini';
import { parserReason } from '../base/input-error.ts';
import {
  type CalibrationBin,
  type ConditionSummary,
  type Measured,
  type Metric,
  PERTURBATIONS,
  RELIABILITY,
  type ReliabilityCard,
} from '../records/reliability.ts';
import { checked } from './checked.ts';
import { ImportError } from './import-error.ts';
import { type Fields, name, natural, number, text } from './schema-fields.ts';

const share = z.number().check(z.minimum(0), z.maximum(1));
const interval = { value: share, low: share, high: share };
const na = { na: text };
const about = { title: name, definition: text, source: text } satisfies Fields<Pick<Metric, 'title' | 'definition' | 'source'>>;
const value = { ...interval, n: natural, of: z.enum(['tasks', 'conversations']) } satisfies Fields<Exclude<Measured, { na: string }>>;
const metric = z.union([z.object({ ...value, ...about }), z.object({ ...na, ...about })]);
const condition = z.union([
  z.object({ episodes: natural, unscored: natural, pass_1: z.nullable(z.object(interval)) } satisfies Fields<
    Exclude<ConditionSummary, { na: string }>
  >),
  z.object(na),
]);
const bin = z.object({ from: share, to: share, n: natural, confidence: share, success: share } satisfies Fields<CalibrationBin>);

const fieldsOf = (names: readonly string[], schema: z.ZodMiniType) => z.object(Object.fromEntries(names.map((one) => [one, schema])));

const card = z.object({
  format: z.literal('mua-reliability-card'),
  version: z.literal(1),
  agent: name,
  domain: name,
  level: name,
  split: name,
  seed: natural,
  temperature: number,
  tasks: natural,
  trials: natural,
  conditions: fieldsOf(['plain', ...PERTURBATIONS], condition) as z.ZodMiniType as z.ZodMiniType<ReliabilityCard['conditions']>,
  metrics: z.object(
    Object.fromEntries(Object.entries(RELIABILITY).map(([dimension, names]) => [dimension, fieldsOf(names, metric)])),
  ) as z.ZodMiniType as z.ZodMiniType<ReliabilityCard['metrics']>,
  calibration_bins: z.array(bin).check(z.maxLength(100)),
} satisfies Fields<ReliabilityCard>);

/** @throws ImportError naming the field, its value and what is expected */
export function readReliability(file: string, content: string): ReliabilityCard {
  let parsed: unknown;
  try {
    parsed = JSON.parse(content.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new ImportError(file, '', `is not JSON (${parserReason(error)}): expected a card, as mua robust writes it`);
  }
  return checked<ReliabilityCard>(card, parsed, file);
}
