/** The kernel variants that depend on the GPU. Everything else in the kernels is the same on every machine. */

/**
 * A matmul that loads its operands from storage into registers, without workgroup memory. A thread loads `rows` rows of a and computes
 * `columns` vec4 columns of c. With `quad`, the four lanes of a quad exchange their values of a (quadSwap): the quad computes
 * (4·rows) × (16·columns) elements of c, and each lane loads a quarter of a's rows.
 */
export interface RegisterTile {
  kind: 'register';
  quad: boolean;
  /** A multiple of 4 if the form `tn` uses this tile. */
  rows: number;
  columns: number;
  /** Threads of a workgroup along columns and rows of c. With `quad`, the threads along columns are a multiple of 4. */
  threads: readonly [number, number];
}

/**
 * A matmul that copies tiles of both operands to workgroup memory. A workgroup computes [rows, columns] elements of c, and adds `depth`
 * terms of each element's sum at a time.
 */
export interface SharedTile {
  kind: 'shared';
  rows: number;
  columns: number;
  depth: number;
  /** A thread computes threadRows × threadColumns elements; both are multiples of 4. */
  threadRows: number;
  threadColumns: number;
  /** 2 is double buffering: the next tiles are copied while the current tiles are read. */
  buffers: 1 | 2;
}

export type MatmulTile = RegisterTile | SharedTile;

/**
 * Split-K in the form nt. The sum of an element is cut into blocks of `block` terms, which are added in order. Every tile adds in this
 * order, so the bits do not depend on the kernel.
 */
export interface BlockTuning {
  /** A multiple of 16. */
  block: number;
  /** The product of at most this many elements uses the kernel in which `lanes` threads share an element, each with its own block. */
  elements: number;
  lanes: number;
}

export interface MatmulTuning {
  /** The tiles of the forms nt and nn. A run uses the first entry whose `upTo` is at least its number of rows. */
  rows: readonly { upTo: number; tile: MatmulTile }[];
  /** The tile of the weight gradient, form tn. */
  tn: MatmulTile;
  /** A weight gradient with fewer workgroups than this uses split-K: it cuts its sum over rows into parts. Absent: no split-K. */
  tnWorkgroups?: number;
  /** Absent: the sum of an element is one block. */
  blocks?: BlockTuning;
}

/** Packed attention (training and scoring) in which the lanes of a quad share their loads (attention-quad.ts). */
export interface AttentionTuning {
  /** Threads of a workgroup; a multiple of 4. */
  threads: number;
  /** Number of floats of vectors that a thread can hold. */
  floats: number;
}

/** Attention to the paged KV cache in which each thread takes some keys (paged-attention-keys.ts). */
export interface KeyAttentionTuning {
  kind: 'keys';
  threads: number;
  /** Number of floats of queries that a thread can keep in registers. */
  floats: number;
  /** The lanes of a quad merge their results with quadSwap. */
  quad: boolean;
}

/** Attention to the paged KV cache in chunks of keys that several tokens share (paged-attention-chunks.ts). */
export interface ChunkAttentionTuning {
  kind: 'chunks';
  /** Threads of a workgroup; a multiple of 4. */
  threads: number;
  /** The most tokens that a workgroup serves together. A power of two. */
  tokens: number;
  /** The lanes of a quad divide head_dim when they compute scores (quadSwap). */
  quad: boolean;
  /** In a decode run with fewer workgroups than this, each chunk of keys has a workgroup of its own. */
  splitBelow: number;
}
export type PagedAttentionTuning = KeyAttentionTuning | ChunkAttentionTuning;

export interface Tuning {
  matmul: MatmulTuning;
  /** Null: tiles in workgroup memory, without exchange between lanes (attention-block.ts). */
  attention: AttentionTuning | null;
  pagedAttention: PagedAttentionTuning;
  /** Threads of a workgroup in kernels where each thread works alone. */
  threads: number;
  /** Number of threads that compute the sum of one row. A power of two. */
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

/** The tiles that autotune.ts measures on a hardware GPU, by name. A stored choice has these names. */
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

/**
 * The tile of each use of the matmul: `few` is for few rows (decoding), `many` for many rows, `tn` for weight gradients.
 */
export interface TileChoice {
  few: MeasuredTile;
  many: MeasuredTile;
  tn: MeasuredTile;
}

/** The choice for a hardware GPU that has not been measured. */
export const DEFAULT_TILES: TileChoice = { few: 'register 4x1', many: 'shared 64x64', tn: 'shared 64x64' };

const matmulOf = ({ few, many, tn }: TileChoice): MatmulTuning => ({
  rows: [
    { upTo: 32, tile: MEASURED_TILES[few] },
    { upTo: Infinity, tile: MEASURED_TILES[many] },
  ],
  tn: MEASURED_TILES[tn],
  tnWorkgroups: 128,
  blocks: { block: 64, elements: 8192, lanes: 16 },
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
  // Workgroups of two quads, for a CPU adapter with subgroups of 8 lanes or more (lavapipe): with one quad, some lanes would be idle.
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
  attention !== null ||
  pagedAttention.quad ||
  [matmul.tn, ...matmul.rows.map(({ tile }) => tile)].some((tile) => tile.kind === 'register' && tile.quad);

/**
 * The tuning for a device. A `subgroupSize` below 4 (0 without the `subgroups` feature) excludes the variants that exchange values
 * between lanes.
 */
export function tuningFor({ software, subgroupSize }: { software: boolean; subgroupSize: number }): Tuning {
  const exchange = subgroupSize >= 4;
  // A CPU spills registers to its L1 cache, so a thread may use many floats. A GPU thread has at most 255 registers.
  if (software) {
    const lanes = subgroupSize >= 8 ? 8 : 4;
    return {
      matmul: MATMUL_VARIANTS[lanes === 8 ? 'quads' : exchange ? 'quad' : 'register'],
      attention: exchange ? { threads: lanes, floats: 256 } : null,
      pagedAttention: { kind: 'keys', threads: exchange ? lanes : 16, floats: 256, quad: exchange },
      threads: 64,
      rowThreads: 1,
    };
  }
  return {
    matmul: MATMUL_VARIANTS.shared,
    attention: null,
    pagedAttention: { kind: 'chunks', threads: 64, tokens: 8, quad: exchange, splitBelow: 512 },
    threads: 64,
    rowThreads: 64,
  };
}

/** The tuning of a hardware GPU, with the variants that were chosen by measuring. */
export const withTiles = (tuning: Tuning, choice: TileChoice): Tuning => ({
  ...tuning,
  matmul: matmulOf(choice),
});
