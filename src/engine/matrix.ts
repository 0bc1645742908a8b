/** A weight matrix on the GPU. */
import type { View } from './gpu-memory.ts';
import type { Stored } from './kernels/weight-format.ts';

/** Consecutive rows of a matrix, and where they are stored. */
export interface Piece extends Stored {
  /** The first row. */
  first: number;
  rows: number;
}

/**
 * A row-major matrix [rows, columns]. A matrix that is too large for one GPU binding has several pieces. `first` of each piece is a
 * multiple of 4.
 */
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
