/** Matmuls with weight matrices. */
import type { Dispatch, Gpu } from './gpu.ts';
import { matmul, type MatmulSizes, type MatmulTensors } from './kernels/matmul.ts';
import type { Matrix } from './matrix.ts';

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
