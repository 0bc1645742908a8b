/** Estimates the work of dispatches, so that submits can be kept short (submit-pacer.ts). */
import type { Dispatch, Gpu } from './gpu.ts';
import { matmul, type MatmulSizes, type MatmulTensors } from './kernels/matmul.ts';
import type { Matrix } from './matrix.ts';
import type { Counts } from './rows.ts';

/** Gives each dispatch of `program` the same estimate of its floating-point operations. */
export const withWork = (program: readonly Dispatch[], work: (counts: Counts) => number): Dispatch[] =>
  program.map((dispatch) => ({ ...dispatch, work }));

/** A `matmul` whose b may be a weight matrix in several pieces: [n, k] in the form nt, [k, n] in nn. */
export function product(gpu: Gpu, tensors: Omit<MatmulTensors, 'b'> & { b: MatmulTensors['b'] | Matrix }, sizes: MatmulSizes): Dispatch[] {
  const { b, ...rest } = tensors;
  if (!('pieces' in b)) return matmul(gpu, { ...rest, b }, sizes);
  const { n, k, aAt = 0, cAt = 0, lda = Math.ceil(k / 4) * 4, ldc = Math.ceil(n / 4) * 4 } = sizes;
  return b.pieces.flatMap((piece) => {
    const { first, rows } = piece;
    const part =
      sizes.form === 'nt'
        ? { n: rows, cAt: cAt + first, ldc }
        : { k: rows, aAt: aAt + first, lda, accumulate: first > 0 || sizes.accumulate === true };
    return matmul(gpu, { ...rest, b: piece }, { ...sizes, ...part });
  });
}

/** Attention kernels reach about a quarter of the speed of a matmul, so an operation counts four times. */
const ATTENTION_COST = 4;

/** The work of packed attention. Each token sees at most `longest` tokens, half of them on average. `width` is heads · head_dim. */
export const attentionWork =
  (width: number, longest: number) =>
  ({ tokens }: Counts): number =>
    ATTENTION_COST * 2 * tokens * Math.min(tokens, longest) * width;

/** The work of paged attention. A token may see a whole sequence of `longest` tokens, even in a small run. */
export const pagedAttentionWork =
  (width: number, longest: number) =>
  ({ tokens }: Counts): number =>
    ATTENTION_COST * 4 * tokens * longest * width;
