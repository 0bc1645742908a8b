/** A weight matrix on the GPU. */
import type { View } from './gpu-memory.ts';
import type { Stored } from './kernels/weight-format.ts';

/** Neighbouring rows of a matrix. */
export interface Piece extends Stored {
  /** The first row. */
  first: number;
  rows: number;
}

/** [rows, columns], row-major. In more than one piece if it is larger than what the GPU binds. The first rows of pieces are multiples of 4. */
export interface Matrix {
  rows: number;
  columns: number;
  pieces: readonly Piece[];
}

export const matrixOf = (values: View, rows: number, columns: number): Matrix => ({
  rows,
  columns,
  pieces: [{ format: 'f32', values, first: 0, rows }],
});
