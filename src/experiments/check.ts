/** @file Checks the definition of an experiment. Every error names the field, its value and what was expected. */
import * as z from 'zod/mini';
import type { Experiment, ExperimentBase, ExperimentVariant } from '../records/experiment.ts';
import type { GrpoConfig } from '../records/run.ts';
import { local, scripted } from '../exchange/user-schema.ts';
import { checked } from '../exchange/checked.ts';
import { ImportError } from '../exchange/import-error.ts';
import { type Fields, scalar } from '../exchange/schema-fields.ts';
import { valDomains } from '../training/evaluation-settings.ts';
import { ownName } from '../training/settings/index.ts';
import { configOf } from './plan.ts';

export const MOST_VARIANTS = 40;
export const MOST_SEEDS = 100;

/** The name of a variant must be usable as the name of a folder on every file system, and in URLs. */
export const experimentName = z
  .string()
  .check(z.regex(/^[A-Za-z0-9][\w.-]{0,63}$/, '1 to 64 letters, digits, ".", "_" or "-", a letter or digit first'));
const label = z.string().check(z.minLength(1), z.maxLength(200));
const model = z.optional(z.string().check(z.minLength(1), z.maxLength(500)));
const overrides = z._default(z.record(z.string(), scalar), {});
const seeds = z
  .array(z.number().check(z.int(), z.minimum(0), z.maximum(0xffffffff)))
  .check(z.minLength(1, 'at least one seed'), z.maxLength(MOST_SEEDS, `at most ${MOST_SEEDS} seeds`));

/** The customer without an API key, which is only in memory. */
const endpoint = z.object({
  mode: z.literal('endpoint'),
  baseUrl: label,
  model: label,
  temperature: z.optional(z.number()),
  maxTokens: z.optional(z.number()),
  extraBody: z.optional(z.record(z.string(), z.unknown())),
});
const user = z._default(z.union([scripted, local, endpoint]), { mode: 'scripted' });
const browserUser = z.optional(z.union([scripted, local]));

const experimentSchema = z.strictObject({
  id: experimentName,
  name: label,
  question: z.string().check(z.minLength(1), z.maxLength(1000)),
  base: z.strictObject({
    preset: label,
    model,
    lora: model,
    overrides,
    user,
    val_user: browserUser,
  } satisfies Fields<ExperimentBase>),
  variants: z
    .array(
      z.strictObject({
        name: experimentName,
        preset: z.optional(label),
        algorithm: z.optional(label),
        model,
        lora: model,
        overrides,
        user: browserUser,
      } satisfies Fields<ExperimentVariant>),
    )
    .check(z.minLength(1, 'at least one variant'), z.maxLength(MOST_VARIANTS, `at most ${MOST_VARIANTS} variants`)),
  baseline: z.optional(z.string()),
  seeds,
  evaluation: overrides,
});

/** The settings on which it depends which held-out tasks are played and when. They must be the same in all variants. */
const HELD_OUT =
  /^(val_domains|level|conversation_rules|val_tasks|val_split|val_intents|val_before_train|val_greedy|test_freq|val_customers\..*|val_tools\..*)$/;
/** The settings of the evaluation. */
const OF_EVALUATION = /^(val_|test_freq$)/;
/** The settings of the evaluation that a variant may have too: who plays the held-out tasks, and how the model samples. */
const OF_PLAYER = /^val_(agent$|kwargs\.)/;

/** @param file the name of the file, for error messages @throws ImportError */
export function checkExperiment(value: unknown, file: string): Experiment {
  const read = checked<Omit<Experiment, 'baseline'> & { baseline?: string }>(experimentSchema, value, file);
  const experiment: Experiment = { ...read, baseline: read.baseline ?? read.variants[0]!.name };
  const fail = (path: string, reason: string): never => {
    throw new ImportError(file, path, reason);
  };
  const names = experiment.variants.map(({ name }) => name);
  for (const [i, name] of names.entries()) {
    // Names must not differ only in case, because some file systems ignore it.
    const first = names.findIndex((other) => other.toLowerCase() === name.toLowerCase());
    if (first < i) fail(`variants[${i}].name`, `is "${name}": expected a name that differs from variants[${first}].name`);
  }
  if (!names.includes(experiment.baseline)) fail('baseline', `is "${experiment.baseline}": expected a variant, one of ${names.join(', ')}`);
  const repeated = experiment.seeds.findIndex((seed, i) => experiment.seeds.indexOf(seed) < i);
  if (repeated >= 0) fail(`seeds[${repeated}]`, `is ${experiment.seeds[repeated]}: expected each seed once`);
  checkLayers(experiment, fail);
  const configs = experiment.variants.map(({ name }, i) => configOrFail(experiment, name, `variants[${i}]`, fail));
  if (configs[0]!.val_tasks < 1)
    fail('evaluation.val_tasks', `is ${configs[0]!.val_tasks}: expected at least 1 held-out task to compare variants`);
  const stopping = configs.findIndex(({ stop_on_alarm }) => stop_on_alarm);
  if (stopping >= 0)
    fail(`variants[${stopping}]`, `(${names[stopping]}) stop_on_alarm is true: expected false, because an experiment compares whole runs`);
  checkSameTasks(names, configs, fail);
  return experiment;
}

type Fail = (path: string, reason: string) => never;

function checkLayers({ base, variants, evaluation }: Experiment, fail: Fail): void {
  const layers: [string, Record<string, unknown>][] = [
    ['base.overrides', base.overrides],
    ...variants.map(({ overrides }, i): [string, Record<string, unknown>] => [`variants[${i}].overrides`, overrides]),
    ['evaluation', evaluation],
  ];
  for (const [path, layer] of layers)
    for (const [given, value] of Object.entries(layer)) {
      const name = ownName(given);
      const shown = `is ${JSON.stringify(value)}`;
      if (name === 'seed') fail(`${path}.${given}`, `${shown}: expected no seed here, the list \`seeds\` has the seeds`);
      if (path.startsWith('variants') && OF_EVALUATION.test(name) && !OF_PLAYER.test(name))
        fail(`${path}.${given}`, `${shown}: expected in \`evaluation\`, because all variants play the same held-out tasks`);
      if (path === 'evaluation' && !OF_EVALUATION.test(name))
        fail(`${path}.${given}`, `${shown}: expected a setting of the evaluation: test_freq, or a name that begins with val_`);
    }
}

function configOrFail(experiment: Experiment, variant: string, path: string, fail: Fail): GrpoConfig {
  try {
    return configOf(experiment, { variant, seed: experiment.seeds[0]! });
  } catch (error) {
    return fail(path, `(${variant}) ${(error as Error).message}`);
  }
}

function checkSameTasks(names: readonly string[], configs: readonly GrpoConfig[], fail: Fail): void {
  // Variants may train on different domains if the evaluation names its domains.
  const played = configs.map((config) => ({ ...config, val_domains: valDomains(config).join() }) as Record<string, unknown>);
  const first = played[0]!;
  for (const [i, config] of played.entries())
    for (const [name, value] of Object.entries(config))
      if (HELD_OUT.test(name) && value !== first[name])
        fail(
          `variants[${i}]`,
          `(${names[i]}) ${name} is ${JSON.stringify(value)}: expected ${JSON.stringify(first[name])} as in ${names[0]}, because all variants are evaluated on the same tasks`,
        );
}
