/**
 * @file Estimates how long a training step takes. The work is counted from the engine's own programs. The speeds of a plain matmul, a copy
 * and a small dispatch are measured. Which shares of these speeds the programs reach is assumed (`SHARES`).
 */
import { Recent } from '../base/recent.ts';
import type { EngineSizes } from '../engine/engine-allocations.ts';
import { storedBytes } from '../engine/kernels/weight-format.ts';
import { groupsOf, modelTensors } from '../engine/parameters.ts';
import type { ModelConfig } from '../engine/types.ts';
import { PRETRAINED } from '../training/pretrained.ts';
import type { ConversationTokens } from './conversations.ts';
import { type Counted, countedWork } from './counted-work.ts';
import type { Speed } from './rates.ts';

/** `matmul` (many rows), `decode` (few rows) and `attention` are shares of a plain matmul's speed; `bytes` is a share of a copy's speed. */
const SHARES = { matmul: 0.6, decode: 0.3, attention: 0.2, bytes: 1 };
/** Tokens of a prefill run. */
const PREFILL = 1024;
/** A decode step serves the conversations that wait for a token, which are fewer towards the end of a turn: measured at `glimpse`. */
const STEPS_PER_TOKEN = 1.5;

interface StepCounts {
  capacity: number;
  chunk: Counted;
  step: Counted;
  update: Counted;
  score: Counted;
}

/** Building all programs takes a second and 20 MB. The cold start and GRPO of a model have the same programs. */
const programs = new Recent<string, ReturnType<typeof countedWork>>(1);
/** The page of models asks for a cold start and for GRPO of each pretrained model, whenever it is opened. */
const counts = new Recent<string, StepCounts>(2 * PRETRAINED.length);

/** @param sequences those of a decode step @param share the share of tokens that the LM head sees */
function countedStep(config: ModelConfig, sizes: EngineSizes, sequences: number, share: number): StepCounts {
  return counts.get(JSON.stringify([config, sizes, sequences, share]), () => {
    const work = programs.get(JSON.stringify([config, sizes]), () => countedWork(config, sizes));
    return {
      capacity: work.capacity,
      chunk: work.prefill(PREFILL),
      step: work.decode(sequences),
      update: work.update(share),
      score: work.scoring(share),
    };
  });
}

export interface StepShape {
  /** The conversations of a step. */
  rollouts: number;
  /** The conversations that are sampled at once. */
  slots: number;
  tokens: ConversationTokens;
  /** Whether a reference scores the conversations too. */
  reference: boolean;
}

export interface StepWork {
  operations: number;
  /** The seconds of sampling, of the reference's scores, and of the update. */
  seconds: (speed: Speed) => { generation: number; score: number; update: number };
}

/** @throws as `countedWork` */
export function stepWork(config: ModelConfig, sizes: EngineSizes, { rollouts, slots, tokens, reference }: StepShape): StepWork {
  const { prompt, after, sampled } = tokens;
  const steps = STEPS_PER_TOKEN * sampled * Math.max(1, rollouts / slots);
  const [prefilled, decoded, all] = [prompt + rollouts * (after - sampled), rollouts * sampled, prompt + rollouts * after];
  const seen = prompt + after / 2;
  // Attention makes 4 operations for each number of a query and each key that it sees. The backward pass makes twice as many.
  const pairs = 4 * config.num_hidden_layers * config.num_attention_heads * config.head_dim * seen;
  const [generationPairs, scorePairs, updatePairs] = [pairs * (prefilled + decoded), reference ? pairs * all : 0, 3 * pairs * all];
  const counted = countedStep(config, sizes, Math.max(1, Math.round(decoded / steps)), decoded / all);
  const runs = all / counted.capacity;
  const chunk = scaled(counted.chunk, prefilled / PREFILL);
  const step = scaled(counted.step, steps);
  const update = scaled(counted.update, runs);
  const score = scaled(counted.score, reference ? runs : 0);
  // A decode step reads all weights, and for each sequence its keys and values.
  const matrices = groupsOf(modelTensors(config))
    .flat()
    .flatMap(({ shape }) => (shape.length > 1 ? [shape.reduce((x, y) => x * y)] : []));
  const weights = matrices.reduce((sum, size) => sum + storedBytes(sizes.precision ?? 'f32', size).values, 0);
  const kv = (sizes.kvFormat === 'f16' ? 4 : 8) * config.num_hidden_layers * config.num_key_value_heads * config.head_dim;
  const moved = steps * weights + decoded * seen * kv;
  return {
    operations: [chunk, step, score, update].reduce((sum, { operations }) => sum + operations, generationPairs + scorePairs + updatePairs),
    seconds({ operations: rate, bytes, dispatch }) {
      const time = ({ operations, dispatches }: Counted) => operations / (rate * SHARES.matmul) + dispatches * dispatch;
      const decoding = Math.max(step.operations / (rate * SHARES.decode), moved / (bytes * SHARES.bytes)) + step.dispatches * dispatch;
      const attention = (operations: number) => operations / (rate * SHARES.attention);
      return {
        generation: time(chunk) + decoding + attention(generationPairs),
        score: time(score) + attention(scorePairs),
        update: time(update) + attention(updatePairs),
      };
    },
  };
}

const scaled = ({ operations, dispatches }: Counted, by: number): Counted => ({ operations: operations * by, dispatches: dispatches * by });
