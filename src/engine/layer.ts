/** Builds the dispatches of one decoder layer, forward and backward, over given buffers. Training and decoding share this code. */
import { hasQkNorm } from './config.ts';
import type { Dispatch, View } from './gpu.ts';
import { attentionBackward } from './kernels/attention-backward.ts';
import { addBias, biasGradient } from './kernels/bias.ts';
import { copy } from './kernels/elementwise.ts';
import { qkNormRope } from './kernels/qk-norm-rope.ts';
import { qkNormRopeBackward } from './kernels/qk-norm-rope-backward.ts';
import { rmsnorm, rmsnormBackward } from './kernels/rmsnorm.ts';
import { swiglu, swigluBackward } from './kernels/swiglu.ts';
import { linear, linearBackward, type LinearContext } from './linear.ts';
import type { LayerGradients, LayerViews } from './model-views.ts';
import type { RunBounds } from './token-ranges.ts';
import type { ModelConfig } from './types.ts';

/** Widths of a layer's tensors, in floats. */
export interface Widths {
  hidden: number;
  /** Width of all query heads together. */
  q: number;
  /** Width of all key (or value) heads together. */
  kv: number;
  intermediate: number;
}

export function widths(config: ModelConfig): Widths {
  return {
    hidden: config.hidden_size,
    q: config.num_attention_heads * config.head_dim,
    kv: config.num_key_value_heads * config.head_dim,
    intermediate: config.intermediate_size,
  };
}

/** Sizes and buffers that all layers of one program share. */
export interface LayerContext extends LinearContext {
  config: ModelConfig;
  /** u32 [tokens] */
  positions: View;
  /** Cosines and sines for each position (`ropeTable`). */
  rope: View;
}

/** Activations of a layer, all [tokens, …]. The backward pass reads all of them. */
export interface Activations {
  normed1: View;
  rstd1: View;
  /** [tokens, q + 2 kv], the projections. Attention reads v from here. */
  qkv: View;
  /** [tokens, q + kv], q and k after per-head norm and RoPE. */
  qk: View;
  qkRstd: View;
  attended: View;
  lse: View;
  normed2: View;
  rstd2: View;
  /** [tokens, 2 intermediate] */
  gateUp: View;
  act: View;
}

/** Floats per token of each activation. */
export function activationWidths(config: ModelConfig): Record<keyof Activations, number> {
  const { hidden, q, kv, intermediate } = widths(config);
  const heads = config.num_attention_heads;
  return {
    normed1: hidden,
    rstd1: 1,
    qkv: q + 2 * kv,
    qk: q + kv,
    qkRstd: heads + config.num_key_value_heads,
    attended: q,
    lse: heads,
    normed2: hidden,
    rstd2: 1,
    gateUp: 2 * intermediate,
    act: intermediate,
  };
}

/**
 * The residual stream before a layer (`in`), after attention (`mid`) and after the MLP (`out`). If two of them are the same view, the
 * layer adds in place.
 */
export interface Residual {
  in: View;
  mid: View;
  /** Absent when the backward pass computes only the activations again. */
  out?: View;
}

export function layerForward(c: LayerContext, w: LayerViews, a: Activations, x: Residual, attend: () => Dispatch[]): Dispatch[] {
  const { gpu, config, tokens, counts } = c;
  const { hidden, q, kv, intermediate } = widths(config);
  const norm = (from: View, weight: View, to: View, rstd: View): Dispatch[] =>
    rmsnorm(gpu, { x: from, weight, y: to, rstd, counts }, { rows: tokens, width: hidden, eps: config.rms_norm_eps });
  const carry = (from: View, to: View): Dispatch[] =>
    from === to ? [] : copy(gpu, { x: from, y: to, counts }, { rows: tokens, width: hidden });
  return [
    ...norm(x.in, w.inputNorm, a.normed1, a.rstd1),
    ...linear(c, w.qkv, a.normed1, a.qkv),
    ...(w.qkvBias ? addBias(gpu, { y: a.qkv, bias: w.qkvBias, counts }, { rows: tokens, width: q + 2 * kv }) : []),
    ...qkNormRope(
      gpu,
      { qkv: a.qkv, qk: a.qk, qWeight: w.qNorm, kWeight: w.kNorm, rstd: a.qkRstd, positions: c.positions, rope: c.rope, counts },
      attentionSizes(c),
    ),
    ...attend(),
    ...carry(x.in, x.mid),
    ...linear(c, w.o, a.attended, x.mid, true),
    ...norm(x.mid, w.postNorm, a.normed2, a.rstd2),
    ...linear(c, w.gateUp, a.normed2, a.gateUp),
    ...swiglu(gpu, { gateUp: a.gateUp, act: a.act, counts }, { rows: tokens, width: intermediate }),
    ...(x.out ? [...carry(x.mid, x.out), ...linear(c, w.down, a.act, x.out, true)] : []),
  ];
}

export function attentionSizes({ config, tokens }: LayerContext) {
  return {
    tokens,
    heads: config.num_attention_heads,
    kvHeads: config.num_key_value_heads,
    headDim: config.head_dim,
    eps: config.rms_norm_eps,
    norm: hasQkNorm(config),
  };
}

/** Gradients of activations. All layers use the same buffers, one layer after the other. */
export interface ActivationGradients {
  /** [tokens, hidden], gradient of the residual stream. Each layer, from the last to the first, updates it in place. */
  x: View;
  normed: View;
  /** [tokens, intermediate] */
  act: View;
  gateUp: View;
  attended: View;
  delta: View;
  qk: View;
  qkv: View;
  /** Scratch for partial sums of the weight gradients. */
  partial: View;
}

/**
 * Replaces `d.x`, the gradient of the layer's output, by the gradient of its input. Adds the weight gradients to the buffers in `g`.
 */
export function layerBackward(
  c: LayerContext,
  { ends, ...bounds }: { ends: View } & RunBounds,
  w: LayerViews,
  g: LayerGradients,
  a: Activations,
  x: Residual,
  d: ActivationGradients,
): Dispatch[] {
  const { gpu, config, tokens, counts } = c;
  const { hidden, q, kv, intermediate } = widths(config);
  const norm = (input: View, weight: View, dweight: View | undefined, rstd: View): Dispatch[] =>
    rmsnormBackward(
      gpu,
      { x: input, weight, rstd, dy: d.normed, dx: d.x, dweight, partial: d.partial, counts },
      { rows: tokens, width: hidden, accumulateDx: true },
    );
  const { qk, qkv, attended, lse } = a;
  return [
    ...linearBackward(c, w.down, g.down, { x: a.act, dy: d.x, dx: d.act, partial: d.partial }),
    ...swigluBackward(gpu, { gateUp: a.gateUp, dact: d.act, dgateUp: d.gateUp, counts }, { rows: tokens, width: intermediate }),
    ...linearBackward(c, w.gateUp, g.gateUp, { x: a.normed2, dy: d.gateUp, dx: d.normed, partial: d.partial }),
    ...norm(x.mid, w.postNorm, g.postNorm, a.rstd2),
    ...linearBackward(c, w.o, g.o, { x: attended, dy: d.x, dx: d.attended, partial: d.partial }),
    ...attentionBackward(
      gpu,
      { qk, qkv, ends, out: attended, lse, dout: d.attended, delta: d.delta, dqk: d.qk, dqkv: d.qkv, counts },
      { ...attentionSizes(c), ...bounds },
    ),
    ...qkNormRopeBackward(
      gpu,
      {
        qkv,
        qWeight: w.qNorm,
        kWeight: w.kNorm,
        rstd: a.qkRstd,
        positions: c.positions,
        rope: c.rope,
        dqk: d.qk,
        dqkv: d.qkv,
        dqWeight: g.qNorm,
        dkWeight: g.kNorm,
        partial: d.partial,
        counts,
      },
      attentionSizes(c),
    ),
    ...(g.qkvBias
      ? biasGradient(gpu, { dy: d.qkv, dbias: g.qkvBias, partial: d.partial, counts }, { rows: tokens, width: q + 2 * kv })
      : []),
    ...linearBackward(c, w.qkv, g.qkv, { x: a.normed1, dy: d.qkv, dx: d.normed, partial: d.partial }),
    ...norm(x.in, w.inputNorm, g.inputNorm, a.rstd1),
  ];
}
