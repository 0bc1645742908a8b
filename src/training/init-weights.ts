/**
 * @file Weights of a model that nobody has trained. They are random, or random with a circuit that copies tokens.
 *
 * The copying weights have a previous-token head in layer 0 and a matching head in layer 1. Together these are an induction
 * head (Olsson et al. 2022, arXiv 2209.11895) in a Qwen3 model that is otherwise random.
 *
 * An agent must copy ids that occur only once from one turn to the next. A nano model that starts from normal(0, 0.02) does
 * not learn to copy within the millions of tokens that a browser tab can train on (docs/decisions.md). A model that starts
 * from the copying weights learns it after some hundred thousand tokens. The copying weights depend on no training token and
 * no task.
 *
 * The residual stream starts as [content | content of the previous token | constant]:
 * - The embedding of a token has a random code in the content part and a constant in the last dimension.
 * - Layer 0, head 0: query and key depend only on the constant. They are rotated so that RoPE's score is highest one position
 *   back. The value copies the content of that position into the second part.
 * - Layer 1, head 0: the query is the content of the token, and the key is the content of the previous token. Both use pairs
 *   that RoPE rotates very little within a conversation. The value copies the content of the next token into the content part,
 *   where the tied LM head reads it.
 */
import { hasQkNorm } from '../engine/config.ts';
import { randomWeights } from '../engine/parameters.ts';
import type { TensorMap } from '../engine/types.ts';
import type { ModelConfig } from '../records/model.ts';

const INITS = ['random', 'copying'] as const;
export type Init = (typeof INITS)[number];

/** Standard deviation of the random code of a token. */
const SIGMA = 0.05;
/** q_norm and k_norm of the two heads. A higher value makes the attention sharper. */
const PREVIOUS_SHARPNESS = 2.2;
const MATCH_SHARPNESS = 2;
/** Scale of the copied content, relative to the content of the token itself. */
const COPY_GAIN = 2;
/** Scale of the other heads and of the MLP. It is small, so that their output does not hide the random codes. */
const QUIET = 0.3;
/** RoPE must rotate a pair by less than `radians` over `positions`, so that content that is this far apart can still be compared. */
const SLOW = { radians: 0.8, positions: 300 };
/** The smallest number of slow pairs that can distinguish the tokens. */
const LEAST_SLOW_PAIRS = 4;

/**
 * Makes weights in Hugging Face's layout. The same seed gives the same weights. If `init` is `random`, they are initialised as
 * in Hugging Face.
 * @throws Error that names the unknown `init`, or the field of `config` that is too small for the copying heads
 */
export function freshWeights(config: ModelConfig, { init, seed }: { init: Init; seed: number }): TensorMap {
  if (init === 'random') return randomWeights(config, seed);
  if (init === 'copying') return copyingWeights(config, seed);
  throw new Error(`init is ${JSON.stringify(init)}: expected ${INITS.join(' or ')}`);
}

function copyingWeights(config: ModelConfig, seed: number): TensorMap {
  const { hidden_size: hidden, head_dim: headDim } = config;
  const half = headDim / 2;
  const frequency = (pair: number): number => config.rope_theta ** (-pair / half);
  const slow = Array.from({ length: half }, (_, pair) => pair).filter((pair) => frequency(pair) * SLOW.positions < SLOW.radians);
  if (!hasQkNorm(config) || config.rope_scaling || !config.tie_word_embeddings)
    throw new Error('copying weights need model_type "qwen3", no rope_scaling and tie_word_embeddings true');
  if (config.num_hidden_layers < 2) throw new Error(`num_hidden_layers is ${config.num_hidden_layers}: copying weights need at least 2`);
  if (slow.length < LEAST_SLOW_PAIRS)
    throw new Error(
      `head_dim ${headDim} with rope_theta ${config.rope_theta} leaves ${slow.length} slow pairs: copying weights need at least ${LEAST_SLOW_PAIRS}`,
    );

  const weights = randomWeights(config, seed);
  const random = (name: string): Float32Array => weights.get(`model.layers.${name}.weight`)!.data;
  const content = Math.min(headDim, Math.floor(hidden / 2));
  const previous = Math.min(content, hidden - 1 - content);
  const constant = hidden - 1;

  const embed = weights.get('model.embed_tokens.weight')!.data;
  for (let i = 0; i < embed.length; i++) {
    const dim = i % hidden;
    // The entries of randomWeights have a standard deviation of 0.02.
    embed[i] = dim === constant ? 2 * SIGMA : embed[i]! * ((dim < content ? SIGMA : SIGMA / 10) / 0.02);
  }
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    for (const name of ['self_attn.o_proj', 'mlp.down_proj']) scale(random(`${layer}.${name}`), QUIET);
  }

  const head = (layer: number, sharpness: number) => {
    random(`${layer}.self_attn.q_norm`).fill(sharpness);
    random(`${layer}.self_attn.k_norm`).fill(sharpness);
    const [q, k, v] = ['q', 'k', 'v'].map((name) => random(`${layer}.self_attn.${name}_proj`).subarray(0, headDim * hidden));
    const o = random(`${layer}.self_attn.o_proj`);
    const outputs = config.num_attention_heads * headDim;
    v!.fill(0);
    for (let row = 0; row < hidden; row++) o.fill(0, row * outputs, row * outputs + headDim);
    /** Copies content dimension `from` of the attended position into dimension `to`. */
    const carry = (from: number, to: number, gain: number): void => {
      v![from * hidden + from] = 1;
      o[to * outputs + from] = gain;
    };
    return { q: q!, k: k!, carry };
  };

  const before = head(0, PREVIOUS_SHARPNESS);
  for (const pair of [0, 1]) {
    before.q[pair * hidden + constant] = 3;
    before.k[pair * hidden + constant] = 3 * Math.cos(frequency(pair));
    before.k[(pair + half) * hidden + constant] = 3 * Math.sin(frequency(pair));
  }
  for (let dim = 0; dim < previous; dim++) before.carry(dim, content + dim, 0.75 * SIGMA);

  const match = head(1, MATCH_SHARPNESS);
  // Queries and keys share one projection: the random rows of the query head, made orthonormal.
  const rows = [...slow, ...slow.map((pair) => pair + half)].slice(0, previous);
  const projection = orthonormal(rows.map((row) => match.q.slice(row * hidden, row * hidden + previous)));
  scale(match.q, 0.2);
  scale(match.k, 0.2);
  rows.forEach((row, i) => {
    for (let dim = 0; dim < previous; dim++) {
      match.q[row * hidden + dim]! += projection[i]![dim]!;
      match.k[row * hidden + content + dim]! += projection[i]![dim]!;
    }
  });
  for (let dim = 0; dim < content; dim++) match.carry(dim, dim, COPY_GAIN * SIGMA);
  return weights;
}

function scale(values: Float32Array, factor: number): void {
  for (let i = 0; i < values.length; i++) values[i]! *= factor;
}

/** Gram-Schmidt orthonormalisation, in place. The rows must be linearly independent. */
function orthonormal(rows: Float32Array[]): Float32Array[] {
  const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);
  rows.forEach((row, i) => {
    for (const other of rows.slice(0, i)) {
      const along = dot(row, other);
      for (let d = 0; d < row.length; d++) row[d]! -= along * other[d]!;
    }
    scale(row, 1 / Math.sqrt(dot(row, row)));
  });
  return rows;
}
