/** What every matmul kernel's WGSL shares: bindings, sizes, and the guarded store. */
import { ROWS_WGSL } from '../gpu.ts';

/** nt: a·bᵀ, nn: a·b, tn: aᵀ·b (the sum runs over rows). */
export type MatmulForm = 'nt' | 'nn' | 'tn';

export const MATMUL_WGSL = (form: MatmulForm): string => /* wgsl */ `
${ROWS_WGSL}
struct Dims { rows: vec4u, n: u32, k: u32, lda: u32, ldb: u32, ldc: u32, accumulate: u32, pad0: u32, pad1: u32 }
@group(0) @binding(0) var<uniform> dims: Dims;
@group(0) @binding(1) var<uniform> counts: Counts;
@group(0) @binding(2) var<storage, read> a: array<vec4f>;
@group(0) @binding(3) var<storage, read> b: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> c: array<vec4f>;
fn out_rows() -> u32 { return ${form === 'tn' ? 'dims.n' : 'row_count(dims.rows, counts)'}; }
fn out_columns() -> u32 { return ${form === 'tn' ? 'dims.k' : 'dims.n'}; }
// Terms of the sum: rows one by one in tn, else vec4 by vec4 (a's columns past k are zero).
fn loop_steps() -> u32 { return ${form === 'tn' ? 'row_count(dims.rows, counts)' : '(dims.k + 3u) / 4u'}; }`;

/** Writes (or adds) the vec4 at `column4`; what lies past the last column, up to ldc, is written as zero. */
export const matmulStore = /* wgsl */ `
fn store(row: u32, column4: u32, value: vec4f) {
  let columns = out_columns();
  if (row >= out_rows() || column4 * 4u >= columns) { return; }
  let at = row * (dims.ldc / 4u) + column4;
  let inside = column4 * 4u + vec4u(0u, 1u, 2u, 3u) < vec4u(columns);
  var v = select(vec4f(), value, inside);
  if (dims.accumulate != 0u) { v += c[at]; }
  c[at] = v;
}`;
