/**
 * @file Predicts the seconds of a GRPO step of SmolLM2-135M with LoRA on GPUs that were not measured. The work comes from the engine's
 * own programs: they are built on a device that only counts. What a GPU makes of it is assumed (`SHARES`).
 */
import { SMOLLM2 } from '../src/bench/workloads.ts';
import { type EngineSizes, engineAllocations } from '../src/engine/engine-allocations.ts';
import { type Dispatch, Gpu } from '../src/engine/gpu.ts';
import { LORA_TARGETS } from '../src/engine/lora.ts';
import { groupsOf, modelTensors } from '../src/engine/parameters.ts';
import type { Counts } from '../src/engine/rows.ts';
import type { ModelConfig } from '../src/engine/types.ts';
import { PAPER } from '../src/training/defaults.ts';
import { grpoLoss } from '../src/training/grpo-loss.ts';

/** 8 tasks with 8 rollouts. Tokens of a conversation, measured with SmolLM2's tokenizer; `steps` are decode steps. */
const ROLLOUTS = 64;
/** Tokens of a prefill run on a GPU. */
const PREFILL = 1024;
const WORLDS = {
  glimpse: { prompt: 306, after: 219, sampled: 86, steps: 130, reference: false },
  nano: { prompt: 703, after: 720, sampled: 257, steps: 380, reference: true },
  small: { prompt: 1434, after: 976, sampled: 372, steps: 560, reference: true },
};

/** Peak f32 operations/s, bytes/s of the memory, and seconds that a dispatch takes at least. */
const DEVICES = {
  'RTX 3060 laptop': { operations: 10.9e12, bytes: 336e9, dispatch: 5e-6 },
  'M2, 10 cores': { operations: 3.6e12, bytes: 100e9, dispatch: 6e-6 },
  'Intel Xe, 96 units': { operations: 2.1e12, bytes: 60e9, dispatch: 10e-6 },
  H100: { operations: 60e12, bytes: 3350e9, dispatch: 4e-6 },
};

/** The assumed shares of the peak: of matmuls with many rows and with few, of attention, and of the memory. */
const SHARES = { matmul: 0.3, decode: 0.15, attention: 0.1, bytes: 0.6 };

interface Counted {
  /** Operations of matmuls. */
  operations: number;
  dispatches: number;
}

const count = (program: readonly Dispatch[], counts: Counts): Counted => {
  const active = program.filter(({ workgroups }) => workgroups(counts).every((groups) => groups !== 0));
  const matmuls = active.filter(({ label, work }) => work && !label.includes('attention'));
  return { operations: matmuls.reduce((sum, { work }) => sum + work!(counts), 0), dispatches: active.length };
};

/** Builds the engine's programs for a GPU, without a GPU, and counts their work. */
export function countedWork(config: ModelConfig, sizes: EngineSizes) {
  // Node has no WebGPU, so it lacks the names of flags.
  for (const name of ['GPUBufferUsage', 'GPUShaderStage']) if (!(name in globalThis)) Object.assign(globalThis, { [name]: {} });
  const limit = 2 ** 31;
  const info = { vendor: '', architecture: '', description: '', software: false, subgroupSize: 32 };
  const gpu = Gpu.counting(info, { maxBufferSize: limit, maxStorageBufferBindingSize: limit });
  const nothing = (): void => {};
  const encoder = { copyBufferToBuffer: nothing, finish: nothing };
  Object.assign(gpu.device, { createCommandEncoder: () => encoder });
  Object.assign(gpu.device.queue, { submit: nothing });
  let last: Counted = { operations: 0, dispatches: 0 };
  gpu.run = (program, counts) => void (last = count(program, counts));
  const allocations = engineAllocations(gpu, config, sizes);
  const built = allocations.model();
  const decode = allocations.decode(built);
  const training = allocations.training(built, allocations.trainingSizes(allocations.maxModelLen));
  const { trained } = allocations.plan;
  const optimizer = allocations.optimizer(trained!, built.model.arena!);
  const scoring = training.scoring(built.model.views);
  const update = training.training(built.model.views, allocations.plan.gradientViews(optimizer.gradients), grpoLoss(PAPER));
  const params = { temperature: 1, topP: 1, topK: 0, seed: 1, stream: 0 };
  const row = { token: 0, position: 0, slot: 0, params };
  const { capacity } = training.sizes;
  const rows = (share: number): Counts => ({ tokens: capacity, rows: Math.round(share * capacity) });
  return {
    capacity,
    prefill(tokens: number): Counted {
      decode.prefill(
        Array.from({ length: tokens }, () => row),
        [{ index: tokens - 1, params }],
      );
      return last;
    },
    decode(sequences: number): Counted {
      decode.decode(
        Array.from({ length: sequences }, () => row),
        1,
      );
      return last;
    },
    /** @param share the share of tokens that the LM head sees */
    scoring: (share: number) => count(scoring, rows(share)),
    update: (share: number) => count(update, rows(share)),
  };
}

/** The operations of a step, and the predicted seconds of generation and of the rest on each device. */
function predict({ prompt, after, sampled, steps, reference }: (typeof WORLDS)[keyof typeof WORLDS]) {
  const c = SMOLLM2;
  const lora = { rank: 16, scale: 2, targets: LORA_TARGETS };
  const work = countedWork(c, { maxModelLen: 2 * (prompt + after), slots: ROLLOUTS, precision: 'bf16', kvFormat: 'f16', lora });
  const [prefilled, decoded, all] = [prompt + ROLLOUTS * (after - sampled), ROLLOUTS * sampled, prompt + ROLLOUTS * after];
  const seen = prompt + after / 2;
  // Attention makes 4 operations for each number of a query and each key that it sees. The backward pass makes twice as many.
  const pairs = 4 * c.num_hidden_layers * c.num_attention_heads * c.head_dim * seen;
  const [generationPairs, restPairs] = [pairs * (prefilled + decoded), pairs * all * (reference ? 4 : 3)];
  const chunk = scaled(work.prefill(PREFILL), prefilled / PREFILL);
  const step = scaled(work.decode(Math.round(decoded / steps)), steps);
  const [share, runs] = [decoded / all, all / work.capacity];
  const passes = [work.update(share), ...(reference ? [work.scoring(share)] : [])].map((pass) => scaled(pass, runs));
  // A decode step reads all weights in bf16, and for each sequence the keys and values in f16.
  const weights = groupsOf(modelTensors(c))
    .flat()
    .flatMap(({ shape }) => (shape.length > 1 ? [shape.reduce((x, y) => x * y)] : []));
  const kv = 2 * c.num_hidden_layers * c.num_key_value_heads * c.head_dim;
  const moved = 2 * (steps * weights.reduce((sum, size) => sum + size) + decoded * seen * kv);
  return {
    operations: [chunk, step, ...passes].reduce((sum, { operations }) => sum + operations, generationPairs + restPairs),
    seconds: Object.values(DEVICES).map(({ operations: peak, bytes, dispatch }) => {
      const time = ({ operations, dispatches }: Counted) => operations / (peak * SHARES.matmul) + dispatches * dispatch;
      const decoding = Math.max(step.operations / (peak * SHARES.decode), moved / (bytes * SHARES.bytes)) + step.dispatches * dispatch;
      return {
        generation: time(chunk) + decoding + generationPairs / (peak * SHARES.attention),
        rest: passes.reduce((sum, pass) => sum + time(pass), 0) + restPairs / (peak * SHARES.attention),
      };
    }),
  };
}

const scaled = ({ operations, dispatches }: Counted, by: number): Counted => ({ operations: operations * by, dispatches: dispatches * by });

/** Two digits. */
const short = (value: number): string => String(Number(value.toPrecision(2)));

/** The rows of the table, the head first. */
export const predictedRows = (): string[][] => [
  ['a step at', 'TFLOP', ...Object.keys(DEVICES)],
  ...Object.entries(WORLDS).map(([world, shape]) => {
    const { operations, seconds } = predict(shape);
    const times = seconds.map(({ generation, rest }) => `${short(generation + rest)} s (${short(generation)} and ${short(rest)})`);
    return [`\`${world}\``, short(operations / 1e12), ...times];
  }),
];
