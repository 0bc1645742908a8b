/** @file Estimates the memory and the time of a run before it starts. Nothing is allocated or trained. */
import { conversationTokens } from '../bench/conversations.ts';
import type { Speed } from '../bench/rates.ts';
import { stepWork } from '../bench/step-time.ts';
import { parseConfig } from '../engine/config.ts';
import type { EngineSizes } from '../engine/engine-allocations.ts';
import type { Gpu } from '../engine/gpu.ts';
import { GpuOutOfMemoryError } from '../engine/gpu.ts';
import { targetModules } from '../engine/lora.ts';
import { type MemoryPlan, planMemory } from '../engine/memory-plan.ts';
import type { LoraOptions } from '../engine/types.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { adapterConfig, loraOptions } from '../exchange/adapter-folder.ts';
import { inMemory, type ModelParts, readJson } from '../exchange/model-folder.ts';
import type { ModelConfig } from '../records/model.ts';
import type { GrpoConfig } from '../records/run.ts';
import { concurrency, kvFormat, sizeOf } from './engine-host.ts';
import { evaluatesFirst, heldOutTasks } from '../training/evaluation-settings.ts';
import { type PhaseTimes, runSeconds } from './time-left.ts';

/** A run to estimate: the shape of its model, and its settings. */
export interface NeedsRequest {
  model: ModelConfig;
  config: GrpoConfig;
}

/** What a run needs on this GPU. */
export interface RunNeeds {
  /** Bytes of GPU memory, at most at a time. Absent if the run does not fit. */
  memory?: number;
  /** Why the run does not fit. */
  problem?: string;
  /** Null if the run does not fit. */
  seconds: RunTimes | null;
}

/** Estimated seconds of the parts of a run, and of the whole run. */
export interface RunTimes extends PhaseTimes {
  run: number;
  /** The evaluation before step 1; 0 if there is none. */
  first: number;
}

/** The adapters of a run whose model has none yet. */
export const newLora = ({ lora_rank: rank, target_modules }: GrpoConfig): LoraOptions | undefined =>
  rank > 0 ? { rank, scale: 1, targets: targetModules(target_modules) } : undefined;

/** The sizes of the engine of a run. */
const engineSizes = (config: GrpoConfig, lora: LoraOptions | undefined): EngineSizes => ({
  ...sizeOf(config, concurrency(config)),
  precision: lora ? config.precision : 'f32',
  kvFormat: kvFormat(config.kv_cache_dtype, config.precision),
  ...(lora && { lora }),
});

/** The GPU memory of a run. @throws as `planMemory` */
export const memoryPlan = (
  { info, device: { limits } }: Pick<Gpu, 'info' | 'device'>,
  model: ModelConfig,
  config: GrpoConfig,
  lora: LoraOptions | undefined,
): MemoryPlan => planMemory({ info, limits }, model, { ...engineSizes(config, lora), reference: config.use_kl_loss && !lora });

/** Estimates the seconds of the phases of a step, and of an evaluation. @throws as `stepWork` */
export function estimateTimes(model: ModelConfig, config: GrpoConfig, speed: Speed, lora = newLora(config)): PhaseTimes {
  const { algorithm, use_kl_loss, train_batch_size, n } = config;
  const rollouts = train_batch_size * n;
  const shape = {
    rollouts,
    slots: concurrency(config),
    tokens: conversationTokens(config, model.vocab_size),
    reference: use_kl_loss && algorithm === 'grpo',
  };
  const { generation, score, update } = stepWork(model, engineSizes(config, lora), shape).seconds(speed);
  const gen = algorithm === 'sft' ? 0 : generation;
  return { step: gen + score + update, gen, ref: score, evaluation: (generation * heldOutTasks(config)) / rollouts };
}

export const timesOfRun = (times: PhaseTimes, config: GrpoConfig): RunTimes => ({
  ...times,
  run: runSeconds(times, config),
  first: evaluatesFirst(config) ? times.evaluation : 0,
});

/** The estimate for a model folder. @throws as `estimateTimes`; ConfigError, ModelFolderError */
export function estimateFor(files: ModelParts, config: GrpoConfig, speed: Speed): PhaseTimes {
  const model = parseConfig(readJson(inMemory(files), 'config.json'));
  return estimateTimes(model, config, speed, hasAdapter(files) ? loraOptions(adapterConfig(files)) : newLora(config));
}

/** What a run with a model needs. @throws ConfigError */
export function runNeeds(gpu: Pick<Gpu, 'info' | 'device'>, model: ModelConfig, config: GrpoConfig, speed: Speed): RunNeeds {
  const lora = newLora(config);
  try {
    const { total } = memoryPlan(gpu, model, config, lora);
    return { memory: total, seconds: timesOfRun(estimateTimes(model, config, speed), config) };
  } catch (error) {
    if (!(error instanceof GpuOutOfMemoryError)) throw error;
    return { problem: error.message, seconds: null };
  }
}
