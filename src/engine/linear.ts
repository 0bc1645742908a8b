/** Builds the dispatches of a linear map, forward and backward, with frozen or trained weights and with or without LoRA. */
import type { Dispatch, Gpu, View } from './gpu.ts';
import type { Adapter } from './lora.ts';
import type { Matrix } from './matrix.ts';
import type { Rows } from './rows.ts';
import { product } from './work.ts';

/** y = x·Wᵀ with W [outputs, inputs]. */
export interface Linear {
  matrix: Matrix;
  lora?: Adapter | undefined;
}
/** The buffers to which gradients are added. A matrix or adapter that is absent is not trained. */
export interface LinearGradient {
  matrix?: View | undefined;
  lora?: Adapter | undefined;
}

export interface LinearContext {
  gpu: Gpu;
  /** Number of tokens of a run. */
  tokens: Rows;
  counts: View;
  /**
   * Scratch of LoRA. `down` holds scale · x·Aᵀ, and `ddown` holds scale · dy·B. Both are [tokens, parts · rank], large enough for the
   * adapter with the most parts.
   */
  lora?: { down: View; ddown?: View } | undefined;
}

/** y = x·Wᵀ + scale · (x·Aᵀ)·Bᵀ, or += with `accumulate`. The matmul with W adds the LoRA term in its epilogue. */
export function linear(c: LinearContext, { matrix, lora }: Linear, x: View, y: View, accumulate = false): Dispatch[] {
  const { gpu, tokens: rows, counts } = c;
  const { rows: n, columns: k } = matrix;
  const adapter = lora && { ...lora, down: c.lora!.down };
  return [
    ...(lora ? project(c, lora, x, k) : []),
    ...product(gpu, { a: x, b: matrix, c: y, counts, adapter }, { form: 'nt', rows, n, k, accumulate }),
  ];
}

/** down = scale · x·Aᵀ, for all parts at once. */
function project({ gpu, tokens: rows, counts, lora: scratch }: LinearContext, lora: Adapter, x: View, k: number): Dispatch[] {
  const n = lora.parts.length * lora.rank;
  return product(gpu, { a: x, b: lora.a, c: scratch!.down, counts }, { form: 'nt', rows, n, k, scale: lora.scale });
}

/**
 * Computes dx from dy, and adds gradients to the buffers in `g`: dW += dyᵀ·x, dB += dyᵀ·down, dA += ddownᵀ·x with
 * ddown = scale · dy·B. `partial` is scratch of `tnPartialBytes`.
 */
export function linearBackward(
  c: LinearContext,
  w: Linear,
  g: LinearGradient,
  t: { x: View; dy: View; dx: View; partial: View },
): Dispatch[] {
  const { gpu, tokens: rows, counts } = c;
  const { rows: n, columns: k } = w.matrix;
  const { x, dy, dx, partial } = t;
  const program = [
    ...(g.matrix ? product(gpu, { a: dy, b: x, c: g.matrix, counts, partial }, { form: 'tn', rows, n, k, accumulate: true }) : []),
    ...product(gpu, { a: dy, b: w.matrix, c: dx, counts }, { form: 'nn', rows, n: k, k: n }),
  ];
  if (!w.lora || !g.lora) return program;
  const { rank, scale, a, parts } = w.lora;
  const { a: da, parts: gradients } = g.lora;
  const { down, ddown } = c.lora as { down: View; ddown: View };
  const width = parts.length * rank;
  return [
    ...program,
    ...project(c, w.lora, x, k),
    ...parts.flatMap(({ b, first, rows: part }, p) => [
      ...product(
        gpu,
        { a: dy, b, c: ddown, counts },
        { form: 'nn', rows, n: rank, k: part, aAt: first, lda: n, cAt: p * rank, ldc: width, scale },
      ),
      ...product(
        gpu,
        { a: dy, b: down, c: gradients[p]!.b, counts, partial },
        { form: 'tn', rows, n: part, k: rank, aAt: first, lda: n, bAt: p * rank, ldb: width, accumulate: true },
      ),
    ]),
    ...product(gpu, { a: ddown, b: x, c: da, counts, partial }, { form: 'tn', rows, n: width, k, accumulate: true }),
    ...product(gpu, { a: ddown, b: a, c: dx, counts }, { form: 'nn', rows, n: k, k: width, accumulate: true }),
  ];
}
