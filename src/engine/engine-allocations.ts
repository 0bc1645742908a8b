/** The functions that make each allocation of an engine. The engine allocates with them, and the memory plan counts bytes with them. */
import { Arena } from './arena.ts';
import { DecodeProgram, kvBytes } from './decode-program.ts';
import type { Gpu, View } from './gpu.ts';
import type { KvFormat } from './kernels/kv-format.ts';
import { ropeTable } from './kernels/qk-norm-rope.ts';
import type { WeightFormat } from './kernels/weight-format.ts';
import { Model, ModelPlan } from './model.ts';
import type { WeightViews } from './model-views.ts';
import { Optimizer } from './optimizer.ts';
import type { ParameterLayout } from './parameters.ts';
import { ropeFrequencies } from './rope.ts';
import { TrainingProgram } from './training-program.ts';
import { boundTokens, trainingSizes, type TrainingSizes } from './training-sizes.ts';
import type { LoraOptions, ModelConfig } from './types.ts';

export interface EngineSizes {
  /** Maximum number of tokens in a sequence, both in the sampler and in training. */
  maxModelLen?: number;
  /** Number of sequences that can be open in the sampler at once. */
  slots?: number;
  /** Size of the KV cache in tokens, at least `maxModelLen`. By default all slots can be full at once. If the cache is full, calls wait. */
  kvTokens?: number;
  /** Free the KV cache during training, and the training buffers during generation. Default: true if the cache has 256 MiB or more. */
  takeTurns?: boolean;
  /** Maximum number of tokens in a training micro-batch. `activationBytes` may lower it. */
  maxTokens?: number;
  /** Maximum bytes for activations in training. Default 1 GiB. */
  activationBytes?: number;
  /** Storage format of the matrices that are not trained. Without LoRA, training needs f32. Default f32. */
  precision?: WeightFormat;
  /** Storage format of keys and values in the KV cache. Training rounds its keys and values to the same format. Default f32. */
  kvFormat?: KvFormat;
  /** If given, only LoRA adapters with these options are trained. */
  lora?: LoraOptions;
  /** Random seed of new adapters. */
  loraSeed?: number;
  /** Maximum bytes of one piece of a matrix, and of one buffer of trained weights. Default: the largest buffer that the GPU can bind. */
  bindingBytes?: number;
}

/** Training is sized for the longest sequence of a batch, rounded up to a multiple of this, or to the most that the GPU can bind. */
const LENGTH_STEP = 256;
const PAGE_SIZE = 16;
const TURNS_BYTES = 256 * 2 ** 20;
const MAX_MODEL_LEN = 2048;
const SLOTS = 32;
/** With half of this, the backward pass of a model with 135 M parameters computes two thirds of its layers again. */
const ACTIVATION_BYTES = 2 ** 30;
/** A software adapter is slow: a small batch is enough to keep it busy, and 4 decode steps already take longer than reading the results. */
const defaults = (software: boolean) => ({
  activationBytes: ACTIVATION_BYTES,
  ...(software ? { maxTokens: 2048, prefillTokens: 256, steps: 4 } : { maxTokens: 8192, prefillTokens: 1024, steps: 16 }),
});

export interface BuiltModel {
  model: Model;
  rope: View;
}

/** @throws RangeError naming the option */
export function engineAllocations(gpu: Gpu, config: ModelConfig, options: EngineSizes) {
  const { maxTokens, activationBytes, prefillTokens, steps } = { ...defaults(gpu.info.software), ...definedOnly(options) };
  const slots = options.slots ?? SLOTS;
  const maxModelLen = options.maxModelLen ?? Math.min(config.max_position_embeddings, MAX_MODEL_LEN);
  for (const [name, value] of Object.entries({ maxModelLen, slots, maxTokens })) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`engine ${name} is ${value}: expected a positive integer`);
  }
  const {
    precision = 'f32',
    kvFormat = 'f32',
    lora,
    loraSeed: seed = 1,
    bindingBytes = Math.min(gpu.device.limits.maxStorageBufferBindingSize, gpu.device.limits.maxBufferSize),
  } = options;
  const plan = new ModelPlan(config, { precision, lora, seed, bindingBytes });
  const bound = boundTokens(config, plan.loraWidth, gpu.device.limits);
  const sizesFor = (longest: number): TrainingSizes => trainingSizes(config, { longest, most: maxTokens, budget: activationBytes, bound });
  const pagesPerSlot = Math.ceil(maxModelLen / PAGE_SIZE);
  const { kvTokens = slots * pagesPerSlot * PAGE_SIZE } = options;
  if (!(kvTokens >= maxModelLen)) throw new RangeError(`engine kvTokens is ${kvTokens}: expected at least maxModelLen (${maxModelLen})`);
  const pages = Math.min(slots * pagesPerSlot, Math.ceil(kvTokens / PAGE_SIZE));
  const decode = { slots, prefillTokens, steps, pageSize: PAGE_SIZE, pagesPerSlot, pages, kvFormat };
  return {
    plan,
    maxModelLen,
    /**
     * The sizes of training on sequences of at most `tokens` tokens. They depend on nothing else, because they decide which sequences
     * share a micro-batch, and so the bits of a gradient.
     * @throws GpuOutOfMemoryError if a sequence does not fit
     */
    trainingSizes(tokens: number): TrainingSizes {
      const rounded = Math.min(bound, Math.ceil(tokens / LENGTH_STEP) * LENGTH_STEP);
      return sizesFor(Math.min(maxModelLen, Math.max(tokens, rounded)));
    },
    slots,
    takeTurns: options.takeTurns ?? kvBytes(config, decode) * config.num_hidden_layers >= TURNS_BYTES,
    pages: { count: pages, pageSize: PAGE_SIZE },
    model(): BuiltModel {
      // Training allows sequences that are longer than those of the sampler, up to a whole micro-batch.
      const positions = bound < maxModelLen ? maxModelLen : sizesFor(maxModelLen).capacity;
      const rope = gpu.buffer('rope', positions * config.head_dim * 4);
      gpu.write(rope, ropeTable(positions, ropeFrequencies(config)));
      return { model: new Model(gpu, plan), rope };
    },
    /** @param copy true: the reference is a copy of the trained weights; false: it is the model without adapters */
    reference({ model }: BuiltModel, trained: ParameterLayout, copy: boolean): { arena?: Arena; views: WeightViews } {
      if (!copy) return { views: model.viewsWith(undefined) };
      const arena = new Arena(gpu, trained, 'reference weights');
      return { arena, views: model.viewsWith(arena) };
    },
    decode: ({ model, rope }: BuiltModel) => new DecodeProgram(gpu, config, model.views, rope, decode, plan.loraWidth),
    training: ({ rope }: BuiltModel, sizes: TrainingSizes) =>
      new TrainingProgram(gpu, config, rope, { ...sizes, longest: maxModelLen, kvFormat }, plan.loraWidth),
    optimizer: (trained: ParameterLayout, arena: Arena) => new Optimizer(gpu, trained, arena.flats),
  };
}

/** Drops the options that are undefined, because an undefined option would replace a default. */
const definedOnly = <T extends object>(options: T): T =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
