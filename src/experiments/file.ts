/** @file Reads and writes `*.mua-experiment.json`: an experiment with its results in one file. The page and `mua experiment` use it. */
import { parserReason } from '../base/input-error.ts';
import * as z from 'zod/mini';
import type { ExperimentContent, ExperimentEvaluation, ExperimentRun } from '../records/experiment.ts';
import { checked } from '../exchange/checked.ts';
import { ImportError } from '../exchange/import-error.ts';
import { type Fields, id, name, natural, number, text } from '../exchange/schema-fields.ts';
import { checkExperiment, experimentName, MOST_SEEDS, MOST_VARIANTS } from './check.ts';
import { samePair } from './plan.ts';

const FORMAT = 'mua-experiment';
const VERSION = 1;
export const FILE_ENDING = '.mua-experiment.json';
/** The largest size of a file, in bytes. */
export const MOST_BYTES = 64 * 2 ** 20;
const MOST_RUNS = MOST_VARIANTS * MOST_SEEDS;
const MOST_STEPS = 100_000;

const most = (count: number, what: string) => z.maxLength(count, `at most ${count} ${what}`);
const columns = z.record(z.string().check(z.maxLength(200)), z.array(z.nullable(number)).check(most(MOST_STEPS, 'values')));

const outcomes = z.array(z.nullable(z.literal([0, 1]))).check(most(10_000, 'tasks'));

const runSchema = z.object({
  variant: experimentName,
  seed: natural,
  run: z.optional(id),
  steps: natural,
  seconds: z.number().check(z.minimum(0)),
  tasks: z.array(name).check(most(10_000, 'tasks')),
  intents: z.optional(z.array(text).check(most(10_000, 'tasks'))),
  evaluations: z
    .array(
      z.object({
        step: natural,
        success: outcomes,
        greedy: z.optional(outcomes),
        writes: z.optional(z.array(z.tuple([natural, natural])).check(most(10_000, 'tasks'))),
        figures: z.record(z.string(), number),
      } satisfies Fields<ExperimentEvaluation>),
    )
    .check(most(10_000, 'evaluations')),
  metricSteps: z.array(natural).check(most(MOST_STEPS, 'steps')),
  metrics: columns,
} satisfies Fields<ExperimentRun>);

const fileSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  experiment: z.unknown(),
  runs: z.array(z.unknown()).check(most(MOST_RUNS, 'runs')),
});

/** The text of the file. The runs are in the order of the experiment. */
export function writeExperiment({ experiment, runs }: ExperimentContent): string {
  const { id, name: title, question, base, variants, baseline, seeds, evaluation } = experiment;
  const definition = { id, name: title, question, base, variants, baseline, seeds, evaluation };
  return `${JSON.stringify({ format: FORMAT, version: VERSION, experiment: definition, runs })}\n`;
}

/** @param file the name of the file, for error messages @throws ImportError that names the field, its value and what was expected */
export function readExperiment(text: string, file: string): ExperimentContent {
  if (text.length > MOST_BYTES) throw new ImportError(file, '', `has ${text.length} characters: expected at most ${MOST_BYTES}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ImportError(file, '', `is not JSON: ${parserReason(error)}`);
  }
  const { experiment: definition, runs: rows } = checked<{ experiment: unknown; runs: unknown[] }>(fileSchema, value, file);
  const experiment = checkExperiment(definition, file);
  const runs = rows.map((row, i) => readRun(row, file, `runs[${i}]`));
  for (const [i, run] of runs.entries()) {
    if (!experiment.variants.some((variant) => variant.name === run.variant))
      throw new ImportError(file, `runs[${i}].variant`, `is "${run.variant}": expected a variant of the experiment`);
    if (!experiment.seeds.includes(run.seed))
      throw new ImportError(file, `runs[${i}].seed`, `is ${run.seed}: expected one of ${experiment.seeds.join(', ')}`);
    if (runs.findIndex((other) => samePair(other, run)) < i)
      throw new ImportError(file, `runs[${i}]`, `repeats variant "${run.variant}" with seed ${run.seed}: expected each pair once`);
  }
  return { experiment, runs };
}

/** Reads the result of one run. @throws ImportError */
function readRun(value: unknown, file: string, where = ''): ExperimentRun {
  const run = checked<ExperimentRun>(runSchema, value, file, where);
  const fail = (path: string, reason: string): never => {
    throw new ImportError(file, where ? `${where}.${path}` : path, reason);
  };
  if (run.intents && run.intents.length !== run.tasks.length)
    fail('intents', `has ${run.intents.length} values: expected ${run.tasks.length}, one for each task`);
  for (const [i, { success, greedy, writes }] of run.evaluations.entries())
    for (const [field, values] of Object.entries({ success, ...(greedy && { greedy }), ...(writes && { writes }) }))
      if (values.length !== run.tasks.length)
        fail(`evaluations[${i}].${field}`, `has ${values.length} values: expected ${run.tasks.length}, one for each task`);
  for (const [metric, values] of Object.entries(run.metrics))
    if (values.length !== run.metricSteps.length)
      fail(`metrics.${metric}`, `has ${values.length} values: expected ${run.metricSteps.length}, one for each step`);
  const ascending = (steps: readonly number[]) => steps.every((step, i) => i === 0 || step > steps[i - 1]!);
  if (!ascending(run.metricSteps)) fail('metricSteps', 'do not rise: expected each step once, in order');
  if (!ascending(run.evaluations.map(({ step }) => step))) fail('evaluations', 'do not rise by step: expected each step once, in order');
  if (new Set(run.tasks).size < run.tasks.length) fail('tasks', 'repeat a task: expected each task once');
  return run;
}
