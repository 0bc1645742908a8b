/** The kernel choices that depend on the GPU. Everything else in the kernels is the same on every machine. */

/**
 * A matmul whose operands go from memory to registers. A thread loads `rows` rows of a and computes `columns` vec4 columns of
 * c. With `quad` the four lanes of a quad exchange their values of a (quadSwap): the quad computes (4·rows) × (16·columns)
 * elements of c, and each lane loads a quarter of a's rows.
 */
export interface RegisterTile {
  kind: 'register';
  quad: boolean;
  /** A multiple of 4 where the `tn` form uses it. */
  rows: number;
  columns: number;
  /** Threads of a workgroup along columns and rows of c. With `quad`, the threads along columns are a multiple of 4. */
  threads: readonly [number, number];
}

/** A matmul that copies tiles of both operands to workgroup memory. A workgroup computes [rows, columns] of c, `depth` terms at a time. */
export interface SharedTile {
  kind: 'shared';
  rows: number;
  columns: number;
  depth: number;
  /** A thread computes threadRows × threadColumns elements; both are multiples of 4. */
  threadRows: number;
  threadColumns: number;
  /** 2: the next tiles are copied while these are read (double buffering). */
  buffers: 1 | 2;
}

export type MatmulTile = RegisterTile | SharedTile;

export interface MatmulTuning {
  /** Tiles by the number of rows of a run (forms nt and nn): the first entry with `upTo` ≥ rows is used. */
  rows: readonly { upTo: number; tile: MatmulTile }[];
  /** The weight gradient, form tn. */
  tn: MatmulTile;
  /** A weight gradient with fewer workgroups cuts its sum over rows into parts (split-K). Absent: never. */
  tnWorkgroups?: number;
}

/** Packed attention (training and scoring). */
export interface AttentionTuning {
  /** Threads of a workgroup; a multiple of 4. */
  threads: number;
  /** Floats that a thread can keep in registers. */
  floats: number;
  /** Lanes of a quad load one key each and exchange it (quadSwap), where the head_dim is not divided among them. */
  shareKeys: boolean;
  /** Lanes of a quad divide a head_dim of 64 or more among them (quadSwap). */
  divideHeadDim: boolean;
  /** A workgroup copies keys (or queries) to workgroup memory, for hardware GPUs. Not where keys are shared by quadSwap. */
  stage: boolean;
}

/** Attention to the paged KV cache (generation). */
export interface PagedAttentionTuning {
  threads: number;
  /** Floats of queries that a thread can keep in registers. */
  floats: number;
  /** The lanes of a quad merge their results with quadSwap. */
  quad: boolean;
}

export interface Tuning {
  matmul: MatmulTuning;
  attention: AttentionTuning;
  pagedAttention: PagedAttentionTuning;
  /** Threads of a workgroup in kernels where each thread works alone. */
  threads: number;
  /** Threads that compute the sum of one row. A power of two. */
  rowThreads: number;
}

const quad = (rows: number, columns = 1): RegisterTile => ({ kind: 'register', quad: true, rows, columns, threads: [4, 1] });
const quads = (rows: number, columns: number): RegisterTile => ({ ...quad(rows, columns), threads: [8, 1] });
const register = (rows: number, columns: number, threads: readonly [number, number]): RegisterTile => ({
  kind: 'register',
  quad: false,
  rows,
  columns,
  threads,
});
const shared = (rows: number, columns: number, threadRows: number, threadColumns: number): SharedTile => ({
  kind: 'shared',
  rows,
  columns,
  depth: 16,
  threadRows,
  threadColumns,
  buffers: 1,
});

/** Tiles that a hardware GPU is measured with (autotune.ts), by name. The names are stored. */
export const MEASURED_TILES = {
  'register 4x1': register(4, 1, [16, 2]),
  'register 8x2': register(8, 2, [8, 4]),
  'shared 32x32': shared(32, 32, 4, 4),
  'shared 64x64': shared(64, 64, 4, 4),
  'shared 128x64': shared(128, 64, 8, 4),
  'shared 128x128': shared(128, 128, 8, 8),
  'shared 64x64 double': { ...shared(64, 64, 4, 4), buffers: 2 },
  'shared 128x64 double': { ...shared(128, 64, 8, 4), depth: 8, buffers: 2 },
} as const satisfies Record<string, MatmulTile>;
export type MeasuredTile = keyof typeof MEASURED_TILES;

/** The memory from which the threads of a hardware GPU read the keys of packed attention: see `AttentionTuning.stage`. */
export const ATTENTION_MEMORY = ['storage', 'workgroup'] as const;
export type AttentionMemory = (typeof ATTENTION_MEMORY)[number];

/** The tile of each use of the matmul: products of few rows (decoding), of many rows, and weight gradients. And the memory of attention. */
export interface TileChoice {
  few: MeasuredTile;
  many: MeasuredTile;
  tn: MeasuredTile;
  attention: AttentionMemory;
}

/** The choice for a hardware GPU that was not measured. */
export const DEFAULT_TILES: TileChoice = { few: 'register 4x1', many: 'shared 64x64', tn: 'shared 64x64', attention: 'storage' };

const matmulOf = ({ few, many, tn }: TileChoice): MatmulTuning => ({
  rows: [
    { upTo: 32, tile: MEASURED_TILES[few] },
    { upTo: Infinity, tile: MEASURED_TILES[many] },
  ],
  tn: MEASURED_TILES[tn],
  tnWorkgroups: 128,
});

/** The matmul variants by name. `quad` and `quads` need the `subgroups` feature. */
export const MATMUL_VARIANTS: Record<'quad' | 'quads' | 'register' | 'shared', MatmulTuning> = {
  quad: {
    rows: [
      { upTo: 1, tile: register(1, 2, [4, 1]) },
      { upTo: 4, tile: quad(1) },
      { upTo: 8, tile: quad(2) },
      { upTo: 16, tile: quad(4) },
      { upTo: Infinity, tile: quad(8) },
    ],
    tn: quad(8),
  },
  // Two quads a workgroup, for a CPU adapter with subgroups of 8 lanes or more (lavapipe): one quad would leave lanes idle.
  quads: {
    rows: [
      { upTo: 1, tile: register(1, 2, [8, 1]) },
      { upTo: 4, tile: quads(1, 1) },
      { upTo: 8, tile: quads(2, 1) },
      { upTo: Infinity, tile: quads(4, 1) },
    ],
    tn: quads(8, 2),
  },
  register: {
    rows: [
      { upTo: 32, tile: register(4, 1, [16, 2]) },
      { upTo: Infinity, tile: register(8, 2, [8, 4]) },
    ],
    tn: register(8, 2, [8, 4]),
  },
  shared: matmulOf(DEFAULT_TILES),
};

/** Whether a kernel of `tuning` exchanges values between the lanes of a quad. */
export const exchangesLanes = ({ attention, pagedAttention, matmul }: Tuning): boolean =>
  attention.shareKeys ||
  attention.divideHeadDim ||
  pagedAttention.quad ||
  [matmul.tn, ...matmul.rows.map(({ tile }) => tile)].some((tile) => tile.kind === 'register' && tile.quad);

/** @param info `subgroupSize` below 4 (0 without the `subgroups` feature) excludes the variants that exchange lanes */
export function tuningFor({ software, subgroupSize }: { software: boolean; subgroupSize: number }): Tuning {
  const exchange = subgroupSize >= 4;
  // A CPU spills registers to its first cache, so many are fine. A hardware thread has at most 255.
  if (software) {
    const lanes = subgroupSize >= 8 ? 8 : 4;
    return {
      matmul: MATMUL_VARIANTS[lanes === 8 ? 'quads' : exchange ? 'quad' : 'register'],
      attention: { threads: lanes, floats: 256, shareKeys: exchange, divideHeadDim: exchange, stage: false },
      pagedAttention: { threads: exchange ? lanes : 16, floats: 256, quad: exchange },
      threads: 64,
      rowThreads: 1,
    };
  }
  return {
    matmul: MATMUL_VARIANTS.shared,
    attention: { threads: 32, floats: 128, shareKeys: false, divideHeadDim: exchange, stage: false },
    pagedAttention: { threads: exchange ? 32 : 16, floats: 64, quad: exchange },
    threads: 64,
    rowThreads: 64,
  };
}

/** The tuning of a hardware GPU with the variants that were measured. */
export const withTiles = (tuning: Tuning, choice: TileChoice): Tuning => ({
  ...tuning,
  matmul: matmulOf(choice),
  attention: { ...tuning.attention, stage: choice.attention === 'workgroup' },
});
