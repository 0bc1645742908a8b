/** Row counts that are known only when a program runs, and the workgroup grids for them. */

/** The sizes of one run: the number of packed tokens, and the number of rows that go through the LM head. */
export interface Counts {
  tokens: number;
  rows: number;
  /** At most this many tokens are in a sequence of the run. Absent: not known. Only paged attention uses it. */
  longest?: number;
}

/**
 * A number of rows that depends on the run: `clamp(counts[of] * times - base, 0, max)`.
 * Examples: all tokens `{of:'tokens'}`; the attention heads of all tokens `{of:'tokens', times: heads}`; the second chunk of
 * 128 logit rows `{of:'rows', base:128, max:128}`.
 */
export interface Rows {
  of: 'tokens' | 'rows';
  times?: number;
  base?: number;
  max?: number;
}

export type Workgroups = readonly [number, number?, number?];

const UINT32_MAX = 0xffffffff;

export function rowCount(rows: Rows, counts: Counts): number {
  const n = counts[rows.of] * (rows.times ?? 1) - (rows.base ?? 0);
  return Math.max(0, Math.min(n, rows.max ?? UINT32_MAX));
}

/** The u32 words of the WGSL struct `Rows` in `ROWS_WGSL`. */
export function rowWords(rows: Rows): [number, number, number, number] {
  return [rows.of === 'tokens' ? 0 : 1, rows.times ?? 1, rows.base ?? 0, rows.max ?? UINT32_MAX];
}

/** WGSL for a kernel with `dims.rows`: the struct `Rows`, and `row_count()`, which computes the same as `rowCount`. */
export const ROWS_WGSL = /* wgsl */ `
struct Rows { source: u32, times: u32, base: u32, limit: u32 }
fn row_count() -> u32 {
  let n = select(counts.rows, counts.tokens, dims.rows.source == 0u) * dims.rows.times;
  return min(select(0u, n - dims.rows.base, n > dims.rows.base), dims.rows.limit);
}`;

/** Workgroup counts for `n` work items. More than 65,535 workgroups (the limit of one dimension) are folded into two dimensions. */
export function grid(n: number, perGroup: number): Workgroups {
  const groups = Math.ceil(n / perGroup);
  if (groups <= 65_535) return [groups];
  const x = Math.ceil(Math.sqrt(groups));
  return [x, Math.ceil(groups / x)];
}
/** WGSL: the index of the workgroup in a `grid`. Needs `@builtin(workgroup_id) wg` and `@builtin(num_workgroups) nwg`. */
export const GRID_INDEX_WGSL = `(wg.y * nwg.x + wg.x)`;
