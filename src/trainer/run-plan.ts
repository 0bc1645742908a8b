/** @file Computes the GPU memory that a run will need, and which settings would lower it. Nothing is allocated. */
import { parseConfig } from '../engine/config.ts';
import type { MemoryPlan } from '../engine/memory-plan.ts';
import type { Gpu } from '../engine/gpu.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { adapterConfig, loraOptions } from '../exchange/adapter-folder.ts';
import { inMemory, type ModelParts, readJson } from '../exchange/model-folder.ts';
import type { Precision } from '../records/model.ts';
import type { GrpoConfig } from '../records/run.ts';
import { concurrency, kvFormat } from './engine-host.ts';
import { memoryPlan, newLora, type RunTimes } from './estimates.ts';
import type { TrainOptions } from './messages.ts';

/** A training of the command line to plan. */
export type PlannedRun = Pick<TrainOptions, 'preset' | 'algorithm' | 'overrides'>;

/** The sizes for which a memory plan is made. */
export interface PlanRequest {
  precision: Precision;
  /** Rank of the adapters on all linear maps. 0: no adapters; all weights are trained if they are f32. */
  lora_rank: number;
  max_model_len: number;
  /** The number of conversations that are played at once. */
  slots: number;
  /** The number of tokens at the start that all conversations share. The cache stores them only once. */
  shared_tokens: number;
  kv_cache_dtype: GrpoConfig['kv_cache_dtype'];
}

export interface RunPlan {
  /** Absent if a buffer would be larger than the GPU allows, or if a start would refuse a limit. */
  plan?: MemoryPlan;
  /** An error message that names this buffer or limit. */
  problem?: string;
  /** Estimated seconds. Null if the time is not known, because something else uses this GPU or the run does not fit. */
  seconds?: RunTimes | null;
  /** Changes of settings, each to be made alone, with the total bytes of the run after the change. The smallest total comes first. */
  advice: { settings: Partial<GrpoConfig>; total: number }[];
}

/** A run that needs less memory fits on every GPU, so it gets no advice. */
const SMALL_BYTES = 512 * 2 ** 20;
/** A change that saves less than this share is not shown. */
const LEAST_SAVING = 0.05;

/** @param files a model's folder; weights are not read @throws ConfigError, ModelFolderError */
export function planRun(gpu: Pick<Gpu, 'info' | 'device'>, files: ModelParts, config: GrpoConfig): RunPlan {
  const model = parseConfig(readJson(inMemory(files), 'config.json'));
  const plan = (own: GrpoConfig): MemoryPlan =>
    memoryPlan(gpu, model, own, hasAdapter(files) ? loraOptions(adapterConfig(files)) : newLora(own));
  let result: Omit<RunPlan, 'advice'>;
  try {
    result = { plan: plan(config) };
  } catch (error) {
    result = { problem: (error as Error).message };
  }
  if (result.plan && result.plan.total < SMALL_BYTES) return { ...result, advice: [] };
  const most = (1 - LEAST_SAVING) * (result.plan?.total ?? Infinity);
  const after = (settings: Partial<GrpoConfig>): RunPlan['advice'] => {
    try {
      const { total } = plan({ ...config, ...settings });
      return total < most ? [{ settings, total }] : [];
    } catch {
      return []; // this change does not fit either
    }
  };
  const advice = changes(config, hasAdapter(files)).flatMap(after);
  // Only the largest length that helps: shorter ones cut more conversations.
  for (const settings of shorter(config)) {
    const [found] = after(settings);
    if (found) return { ...result, advice: [...advice, found].sort((a, b) => a.total - b.total) };
  }
  return { ...result, advice: advice.sort((a, b) => a.total - b.total) };
}

/** A conversation needs room for its prompt and a few turns. */
const SHORTEST = 1024;

/** Shorter limits of a conversation, the longest first: powers of two that are valid with the other settings. */
function shorter(config: GrpoConfig): Partial<GrpoConfig>[] {
  const buffer = config['overlong_buffer.enable'] ? config['overlong_buffer.len'] : 0;
  const least = Math.max(SHORTEST, config.response_length_one_turn, buffer);
  const longest = 2 ** (Math.ceil(Math.log2(config.max_model_len)) - 1);
  return Array.from({ length: 32 }, (_, i) => longest / 2 ** i)
    .filter((tokens) => tokens >= least)
    .map((tokens) => ({ max_model_len: tokens }));
}

/** Changes of settings that may save memory. */
function changes(config: GrpoConfig, adapter: boolean): Partial<GrpoConfig>[] {
  const tokens = config.kv_cache_tokens || concurrency(config) * config.max_model_len;
  const trainsAdapter = adapter || config.lora_rank > 0;
  const lighter = (['bf16', 'int8', 'int4'] as const).slice(config.precision === 'f32' ? 0 : config.precision === 'bf16' ? 1 : 2);
  return [
    ...(trainsAdapter
      ? lighter.filter((precision) => precision !== config.precision).map((precision) => ({ precision }))
      : [{ lora_rank: 16 }, { lora_rank: 16, precision: 'bf16' as const }]),
    ...(kvFormat(config.kv_cache_dtype, config.precision) === 'f32' ? [{ kv_cache_dtype: 'f16' as const }] : []),
    ...(tokens > config.max_model_len ? [{ kv_cache_tokens: Math.max(config.max_model_len, Math.ceil(tokens / 2)) }] : []),
  ];
}
