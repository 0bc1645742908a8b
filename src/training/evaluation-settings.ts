/** @file The settings of an evaluation, from a request or from a run's configuration. */
import type { Sampling } from '../records/episode.ts';
import type { EvaluationSettings } from '../records/evaluation.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { Split } from '../records/task.ts';
import type { UserConfig } from '../records/user.ts';
import { conditionsOf, readNames } from '../environments/conditions.ts';
import { limitsOf } from '../evaluation/types.ts';
import { EVALUATION_STREAM, limitsFor } from './presets.ts';

type Asked = Pick<
  EvaluationSettings,
  'domain' | 'level' | 'split' | 'tasks' | 'trials' | 'temperature' | 'seed' | 'conditions' | 'user' | 'agent' | 'next_call'
>;

/** Makes the settings of a requested evaluation. The limits are those of the domain's preset. top_p and top_k exclude no token. */
export function evaluationSettings(asked: Asked): EvaluationSettings {
  return {
    ...asked,
    protocol: 2,
    top_p: 1,
    top_k: 0,
    limits: limitsOf(limitsFor(asked.domain, asked.level)),
    conversation_rules: 'domain',
    first_stream: 0,
  };
}

/** The split of a run's evaluations. Runs from before the setting existed play held-out tasks. */
export const valSplit = ({ val_split = 'heldout' }: Partial<Pick<GrpoConfig, 'val_split'>>): Split => val_split;

/** The domains of a run's evaluations, in order. Runs from before the setting existed play their own domain. */
export function valDomains({ domain, val_domains = '' }: Pick<GrpoConfig, 'domain'> & Partial<Pick<GrpoConfig, 'val_domains'>>): string[] {
  const named = readNames(val_domains);
  return named.length > 0 ? named : [domain];
}

/** The number of tasks of an evaluation, in all its domains. */
export const heldOutTasks = (config: Parameters<typeof valDomains>[0] & Pick<GrpoConfig, 'val_tasks'>): number =>
  config.val_tasks * valDomains(config).length;

/** Whether the model plays the held-out tasks before step 1. */
export const evaluatesFirst = ({
  val_tasks,
  val_before_train,
  total_training_steps,
}: Pick<GrpoConfig, 'val_tasks' | 'val_before_train' | 'total_training_steps'>): boolean =>
  val_tasks > 0 && (val_before_train || total_training_steps === 0);

/** Whether the model plays the held-out tasks after this step. */
export const evaluatesAfter = (
  { val_tasks, test_freq, total_training_steps }: Pick<GrpoConfig, 'val_tasks' | 'test_freq' | 'total_training_steps'>,
  step: number,
): boolean => val_tasks > 0 && (step === total_training_steps || (test_freq > 0 && step % test_freq === 0));

/** How the evaluations of a run sample: greedily, or with the same sampling settings as its rollouts. */
export function validationSampling(config: Sampling & Pick<GrpoConfig, 'val_kwargs.do_sample'>): Sampling {
  const { temperature, top_p, top_k, 'val_kwargs.do_sample': sample } = config;
  return sample ? { temperature, top_p, top_k } : { temperature: 0, top_p: 1, top_k: 0 };
}

/**
 * The settings of a run's own held-out evaluation. Another evaluation with these settings plays the same tasks with the same seeds. If the
 * run evaluates several domains, these are the settings for the first one.
 */
export function heldOutSettings(config: GrpoConfig, user: UserConfig, tasks = config.val_tasks): EvaluationSettings {
  const { level, seed, conversation_rules } = config;
  return {
    domain: valDomains(config)[0]!,
    level,
    split: valSplit(config),
    tasks,
    trials: 1,
    ...validationSampling(config),
    seed,
    protocol: 2,
    conditions: conditionsOf(config, 'val'),
    limits: limitsOf(config),
    conversation_rules,
    first_stream: EVALUATION_STREAM,
    user,
    ...(config.val_agent !== 'model' && { agent: config.val_agent }),
  };
}
