/** WGSL of the workgroup-memory matmul for hardware GPUs. See `SharedTile` in tuning.ts and `matmul` for the forms. */
import type { SharedTile } from '../tuning.ts';
import { MATMUL_WGSL, matmulStore, type MatmulForm } from './matmul-text.ts';

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/**
 * Both tiles lie in workgroup memory with the reduction index first ([depth][rows] and [depth][columns]), so that the inner
 * loop reads vec4s of rows and columns; operands stored the other way round are transposed while they are staged.
 */
export function sharedMatmul(form: MatmulForm, { rows, columns, depth, threadRows, threadColumns }: SharedTile): string {
  const threadsX = columns / threadColumns;
  const threads = threadsX * (rows / threadRows);
  const [rowVectors, columnVectors] = [threadRows / 4, threadColumns / 4];
  // Stages `extent` rows or columns × depth. `transposed`: memory holds the reduction index innermost.
  const stage = (tile: string, source: string, ld: string, origin: string, extent: number, transposed: boolean): string => {
    const vectors = (extent * depth) / 4;
    const body = transposed
      ? `let line = i / ${depth / 4}u; let part = i % ${depth / 4}u;
      let at = (${origin} + line) * ${ld} + k0 / 4u + part;
      let v = select(vec4f(), ${source}[at], k0 / 4u + part < (total + 3u) / 4u);
      for (var e = 0u; e < 4u; e++) { ${tile}[((part * 4u + e) * ${extent}u + line) / 4u][line % 4u] = v[e]; }`
      : `let line = i / ${extent / 4}u; let part = i % ${extent / 4}u;
      ${tile}[i] = select(vec4f(), ${source}[(k0 + line) * ${ld} + ${origin} / 4u + part], k0 + line < total);`;
    return `for (var i = thread; i < ${vectors}u; i += ${threads}u) {\n      ${body}\n    }`;
  };
  const accumulators = range(threadRows).flatMap((i) => range(columnVectors).map((j) => [i, j] as const));
  return /* wgsl */ `
${MATMUL_WGSL(form)}
${matmulStore}
var<workgroup> tile_a: array<vec4f, ${(rows * depth) / 4}>;
var<workgroup> tile_b: array<vec4f, ${(columns * depth) / 4}>;
@compute @workgroup_size(${threads}) fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let total = ${form === 'tn' ? 'loop_steps()' : 'dims.k'}; let lda = dims.lda / 4u; let ldb = dims.ldb / 4u;
  let r0 = wg.y * ${rows}u; let c0 = wg.x * ${columns}u;
  let ty = thread / ${threadsX}u; let tx = thread % ${threadsX}u;
  ${accumulators.map(([i, j]) => `var s${i}_${j} = vec4f();`).join(' ')}
  for (var k0 = 0u; k0 < total; k0 += ${depth}u) {
    ${stage('tile_a', 'a', 'lda', 'r0', rows, form !== 'tn')}
    ${stage('tile_b', 'b', 'ldb', 'c0', columns, form === 'nt')}
    workgroupBarrier();
    for (var k = 0u; k < ${depth}u; k++) {
      ${range(rowVectors).map((g) => `let x${g} = tile_a[k * ${rows / 4}u + ty * ${rowVectors}u + ${g}u];`).join(' ')}
      ${range(columnVectors).map((j) => `let y${j} = tile_b[k * ${columns / 4}u + tx * ${columnVectors}u + ${j}u];`).join(' ')}
      ${accumulators.map(([i, j]) => `s${i}_${j} = fma(vec4f(x${Math.floor(i / 4)}.${'xyzw'[i % 4]}), y${j}, s${i}_${j});`).join('\n      ')}
    }
    workgroupBarrier();
  }
  ${accumulators.map(([i, j]) => `store(r0 + ty * ${threadRows}u + ${i}u, c0 / 4u + tx * ${columnVectors}u + ${j}u, s${i}_${j});`).join('\n  ')}
}`;
}
