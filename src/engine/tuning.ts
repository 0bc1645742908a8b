/** One table of the kernel choices that depend on the GPU. Everything else in the kernels is the same on every machine. */
import type { GpuInfo } from './gpu.ts';

/**
 * A matmul whose operands go straight from memory to registers. A lane loads `rows` rows of a and owns `columns` vec4
 * columns of c; with `quad` the four lanes of a quad hand their a values round (quadSwap), so a quad's tile is
 * (4·rows) × (16·columns) for the loads of a quarter of it.
 */
export interface RegisterTile {
  kind: 'register';
  quad: boolean;
  /** A multiple of 4 where the `tn` form uses it. */
  rows: number;
  columns: number;
  /** Threads of a workgroup along columns and rows of c; [4, 1] with `quad`: one quad. */
  threads: readonly [number, number];
}

/** A matmul that stages tiles of both operands in workgroup memory: [rows, columns] of c a workgroup, `depth` at a time. */
export interface SharedTile {
  kind: 'shared';
  rows: number;
  columns: number;
  depth: number;
  /** Outputs of a thread: rows × columns, both multiples of 4. */
  threadRows: number;
  threadColumns: number;
}

export type MatmulTile = RegisterTile | SharedTile;

export interface MatmulTuning {
  /** Tiles by the number of rows a run has (forms nt and nn): the first whose `upTo` is not less. */
  rows: readonly { upTo: number; tile: MatmulTile }[];
  /** The weight gradient, form tn. */
  tn: MatmulTile;
}

export interface Tuning {
  matmul: MatmulTuning;
  /** Threads of a workgroup in kernels where a thread works alone. */
  threads: number;
  /** Threads that share one row of a reduction. A power of two; above 4 they meet in workgroup memory. */
  rowThreads: number;
}

const quad = (rows: number, columns = 1): RegisterTile => ({ kind: 'register', quad: true, rows, columns, threads: [4, 1] });
const register = (rows: number, columns: number, threads: readonly [number, number]): RegisterTile => ({ kind: 'register', quad: false, rows, columns, threads });
const shared = (rows: number, columns: number, threadRows: number, threadColumns: number): SharedTile => ({ kind: 'shared', rows, columns, depth: 16, threadRows, threadColumns });

/** The matmul variants by name. `quad` needs the `subgroups` feature. */
export const MATMUL_VARIANTS: Record<'quad' | 'register' | 'shared', MatmulTuning> = {
  quad: { rows: [{ upTo: 8, tile: quad(2) }, { upTo: 16, tile: quad(4) }, { upTo: Infinity, tile: quad(8) }], tn: quad(8) },
  register: { rows: [{ upTo: 32, tile: register(4, 1, [16, 2]) }, { upTo: Infinity, tile: register(8, 2, [8, 4]) }], tn: register(8, 2, [8, 4]) },
  shared: { rows: [{ upTo: 32, tile: register(4, 1, [16, 2]) }, { upTo: Infinity, tile: shared(64, 64, 4, 4) }], tn: shared(64, 64, 4, 4) },
};

export function tuning(info: GpuInfo): Tuning {
  if (info.software) return { matmul: MATMUL_VARIANTS[info.subgroupSize >= 4 ? 'quad' : 'register'], threads: 64, rowThreads: 1 };
  return { matmul: MATMUL_VARIANTS.shared, threads: 64, rowThreads: 64 };
}
