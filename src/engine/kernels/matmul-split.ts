/**
 * The matmul nt with few elements, for hardware GPUs (see `BlockTuning` in tuning.ts). In decoding, one thread for each element would
 * leave most of a GPU idle, and each thread would wait for one load after the other. Here `lanes` threads share an element.
 */
import type { BlockTuning } from '../tuning.ts';
import { matmulKernel, type MatmulKind } from './matmul-text.ts';

/** Rows and columns of c that one workgroup computes. */
export const SPLIT_SPAN = [4, 16] as const;

/** Each thread adds the terms of one block for one column and four rows. Then the sums of the blocks are added in their order. */
export function splitMatmul(kind: MatmulKind, { block, lanes }: BlockTuning) {
  const [rows, columns] = SPLIT_SPAN;
  const each = (text: (i: number) => string): string => Array.from({ length: rows }, (_, i) => text(i)).join('\n    ');
  const main = /* wgsl */ `
// [lanes, rows, columns]: the sum of each block.
var<workgroup> sums: array<f32, ${lanes * rows * columns}>;
fn block_sum(lane: u32, i: u32) -> vec4f {
  let at = lane * ${rows * columns}u + i * 4u;
  return vec4f(sums[at], sums[at + 1u], sums[at + 2u], sums[at + 3u]);
}
@compute @workgroup_size(${lanes * columns}) fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let lane = thread % ${lanes}u; let column = thread / ${lanes}u;
  let depth = loop_steps(); let lda = dims.lda / 4u; let ldb = dims.ldb / 4u;
  let r0 = wg.y * ${rows}u;
  let b0 = (wg.x * ${columns}u + column) * ldb + dims.b_at;
  let row = thread / ${columns / 4}u; let column4 = thread % ${columns / 4}u; // of the vec4 that this thread stores
  var total = vec4f();
  for (var first = 0u; first < depth; first += ${(lanes * block) / 4}u) {
    let begin = first + lane * ${block / 4}u;
    ${each((i) => `var s${i} = 0.0; let a${i} = (r0 + ${i}u) * lda + dims.a_at;`)}
    for (var k = begin; k < min(begin + ${block / 4}u, depth); k++) {
      let w = load_b(b0 + k);
      ${each((i) => `{ let x = a[a${i} + k]; s${i} = fma(x.w, w.w, fma(x.z, w.z, fma(x.y, w.y, fma(x.x, w.x, s${i})))); }`)}
    }
    ${each((i) => `sums[lane * ${rows * columns}u + ${i * columns}u + column] = s${i};`)}
    workgroupBarrier();
    if (thread < ${(rows * columns) / 4}u) {
      for (var j = 0u; j < ${lanes}u && first + j * ${block / 4}u < depth; j++) { total += block_sum(j, thread); }
    }
    workgroupBarrier();
  }
  if (thread < ${(rows * columns) / 4}u) { store(r0 + row, wg.x * ${columns / 4}u + column4, total); }
}`;
  return matmulKernel(kind, `split ${lanes}`, main);
}
