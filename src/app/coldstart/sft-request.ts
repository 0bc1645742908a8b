/** @file The request of a run that trains on a dataset, from the form's values. */
import type { DatasetRow } from '../../records/dataset.ts';
import type { GrpoConfig, RunRequest } from '../../records/run.ts';
import type { UserConfig } from '../../records/user.ts';
import { SFT_DEFAULTS } from '../../training/defaults.ts';
import { DEFAULT_PRESET, limitsFor, presetFor, PRESETS } from '../../training/presets.ts';

export interface SftForm {
  steps: number;
  /** Conversations in a step: one of `STEP_SIZES`. */
  perStep: number;
  perUpdate: number;
  lr: number;
  seed: number;
  /** `valTasks`: held-out tasks in an evaluation. `testFreq`: steps between evaluations. */
  valTasks: number;
  testFreq: number;
  /** The domain and level of the held-out tasks. */
  domain: string;
  level: string;
}

const GROUP = 8;
export const STEP_SIZES = [16, 32, 64, 128, 256];

const presetOf = ({ domain, level }: Pick<SftForm, 'domain' | 'level'>): string => presetFor(domain, level) ?? DEFAULT_PRESET;

/** The form's first values: two passes over the kept conversations, as in MUA-RL's cold start. */
export function defaultForm(dataset: DatasetRow, kept: number): SftForm {
  const { domain, level } = dataset.made ?? PRESETS[DEFAULT_PRESET]!.config;
  const { seed, val_tasks } = PRESETS[presetOf({ domain, level })]!.config;
  const perStep = [64, 32, 16].find((size) => size <= kept) ?? 16;
  const steps = Math.max(1, Math.ceil((2 * kept) / perStep));
  const perUpdate = SFT_DEFAULTS.train_batch_size;
  return {
    steps,
    perStep,
    perUpdate,
    lr: SFT_DEFAULTS.lr,
    seed,
    valTasks: val_tasks,
    testFreq: Math.max(1, Math.ceil(steps / 8)),
    domain,
    level,
  };
}

/** Why the form cannot be sent, in one sentence; '' if it can. */
export function formProblem(form: SftForm): string {
  const whole = (label: string, value: number, low: number, high: number) =>
    Number.isInteger(value) && value >= low && value <= high ? '' : `${label} must be a whole number from ${low} to ${high}.`;
  return (
    whole('Steps', form.steps, 1, 100_000) ||
    whole('Conversations per update', form.perUpdate, 1, 4096) ||
    (form.lr > 0 && form.lr <= 1 ? '' : 'The learning rate must be above 0 and at most 1.') ||
    whole('Seed', form.seed, 0, 0xffffffff) ||
    whole('Held-out tasks', form.valTasks, 0, 2000) ||
    whole('Steps between evaluations', form.testFreq, 0, 100_000)
  );
}

/** @param model the name of a bundled model or the id of a stored model */
export function sftRequest(form: SftForm, dataset: string, model: string, user: UserConfig): RunRequest {
  const preset = presetOf(form);
  const base = PRESETS[preset]!.config;
  const { lr_scheduler_type, weight_decay, beta2 } = SFT_DEFAULTS;
  const limits = limitsFor(form.domain, form.level);
  const overrides: Partial<GrpoConfig> = {
    ...((base.domain !== form.domain || base.level !== form.level) && {
      domain: form.domain,
      level: form.level,
      max_model_len: limits.max_model_len,
      response_length_one_turn: limits.response_length_one_turn,
      max_turns: limits.max_turns,
    }),
    algorithm: 'sft',
    total_training_steps: form.steps,
    // Only n × train_batch_size matters to supervised fine-tuning.
    n: GROUP,
    train_batch_size: form.perStep / GROUP,
    sft_mini_batch_size: form.perUpdate,
    lr: form.lr,
    lr_scheduler_type,
    lr_warmup_steps: Math.min(base.lr_warmup_steps, Math.floor(form.steps / 10)),
    weight_decay,
    beta2,
    train_split: 'train',
    seed: form.seed,
    val_tasks: form.valTasks,
    test_freq: form.testFreq,
  };
  return { model, preset, overrides, user, dataset };
}
