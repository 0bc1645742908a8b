/** The matmul that uses workgroup memory, for hardware GPUs. See `SharedTile` in tuning.ts for the tile, and `matmul` for the forms. */
import type { SharedTile } from '../tuning.ts';
import { matmulKernel, type MatmulKind, stepsOf } from './matmul-text.ts';

const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/**
 * Workgroup memory holds both tiles with the reduction index first: [depth][rows] and [depth][columns]. So the inner loop reads vec4s of
 * rows and of columns. An operand that is stored the other way round is transposed in registers, 4 × 4 values at a time. It cannot be
 * transposed by storing single components: a store to one component of a vec4 in workgroup memory may overwrite the other components
 * (gpuweb #2112).
 */
export function sharedMatmul(kind: MatmulKind, { rows, columns, depth, threadRows, threadColumns, buffers }: SharedTile) {
  const { form, block } = kind;
  // The steps of nn are vec4s, but this kernel counts single terms.
  const terms = stepsOf(kind);
  const steps = { ...terms, first: form === 'nn' ? `4u * ${terms.first}` : terms.first };
  const threadsX = columns / threadColumns;
  const threads = threadsX * (rows / threadRows);
  const [rowVectors, columnVectors] = [threadRows / 4, threadColumns / 4];
  const sizes = { a: (rows * depth) / 4, b: (columns * depth) / 4 };
  /** WGSL: the index at which the tile of an operand begins in its array. With two buffers, `half` alternates between 0 and 1. */
  const start = (operand: 'a' | 'b'): string => (buffers === 2 ? `half * ${sizes[operand]}u + ` : '');
  /** WGSL: copies a tile of `extent` rows or columns × depth. `first` is the index of the first item that a thread copies. */
  const stage = (operand: 'a' | 'b', origin: string, extent: number, first: string, transposed: boolean): string => {
    const [tile, ld, column] = [`tile_${operand}`, `ld${operand}`, `dims.${operand}_at`];
    const load = (at: string): string => (operand === 'a' ? `a[${at}]` : `load_b(${at})`);
    const items = (extent * depth) / (transposed ? 16 : 4);
    const body = transposed
      ? `let line = i / ${depth / 4}u; let part = i % ${depth / 4}u;
      let at = (${origin} + line * 4u) * ${ld} + ${column} + k0 / 4u + part;
      let inside = k0 / 4u + part < (total + 3u) / 4u;
      ${range(4)
        .map((e) => `let v${e} = select(vec4f(), ${load(`at + ${e}u * ${ld}`)}, inside);`)
        .join(' ')}
      ${range(4)
        .map(
          (e) => `${tile}[${start(operand)}(part * 4u + ${e}u) * ${extent / 4}u + line] = vec4f(v0[${e}], v1[${e}], v2[${e}], v3[${e}]);`,
        )
        .join('\n      ')}`
      : `let line = i / ${extent / 4}u; let part = i % ${extent / 4}u;
      ${tile}[${start(operand)}i] = select(vec4f(), ${load(`(k0 + line) * ${ld} + ${column} + ${origin} / 4u + part`)}, k0 + line < total);`;
    return `for (var i = ${first}; i < ${items}u; i += ${threads}u) {\n      ${body}\n    }`;
  };
  const accumulators = range(threadRows).flatMap((i) => range(columnVectors).map((j) => [i, j] as const));
  const stages = `${stage('a', 'r0', rows, 'thread', form !== 'tn')}
    ${stage('b', 'c0', columns, `${threads - 1}u - thread`, form === 'nt')}`;
  const products = `for (var k = 0u; k < ${depth}u; k++) {
      ${range(rowVectors)
        .map((g) => `let x${g} = tile_a[${start('a')}k * ${rows / 4}u + ty * ${rowVectors}u + ${g}u];`)
        .join(' ')}
      ${range(columnVectors)
        .map((j) => `let y${j} = tile_b[${start('b')}k * ${columns / 4}u + tx * ${columnVectors}u + ${j}u];`)
        .join(' ')}
      ${accumulators.map(([i, j]) => `s${i}_${j} = fma(vec4f(x${Math.floor(i / 4)}.${'xyzw'[i % 4]}), y${j}, s${i}_${j});`).join('\n      ')}
    }`;
  /** WGSL: at the end of a block, or of the sum, adds the block's sum. `at` is the first term of the tile. */
  const flush = (at: string): string =>
    block
      ? `if ((${at} + ${depth}u) % ${block}u == 0u || ${at} + ${depth}u >= total) { ${accumulators.map(([i, j]) => `z${i}_${j} += s${i}_${j}; s${i}_${j} = vec4f();`).join(' ')} }`
      : '';
  const loop =
    buffers === 1
      ? `for (var k0 = ${steps.first}; k0 < total; k0 += ${depth}u) {
    ${stages}
    workgroupBarrier();
    ${products}
    ${flush('k0')}
    workgroupBarrier();
  }`
      : // The next tile is copied while the current one is read, so each tile needs only one barrier.
        `let first = ${steps.first};
  { let k0 = first; let half = 0u;
    ${stages} }
  for (var at = first; at < total; at += ${depth}u) {
    workgroupBarrier();
    let half = (at - first) / ${depth}u % 2u;
    if (at + ${depth}u < total) { let k0 = at + ${depth}u; let half = (k0 - first) / ${depth}u % 2u;
    ${stages} }
    ${products}
    ${flush('at')}
  }`;
  const main = /* wgsl */ `
var<workgroup> tile_a: array<vec4f, ${buffers * sizes.a}>;
var<workgroup> tile_b: array<vec4f, ${buffers * sizes.b}>;
@compute @workgroup_size(${threads}) fn main(@builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_index) thread: u32) {
  let total = ${form === 'tn' ? steps.end : kind.parts ? `min(dims.k, 4u * ${steps.end})` : 'dims.k'}; ${steps.set} let lda = dims.lda / 4u; let ldb = dims.ldb / 4u;
  let r0 = wg.y * ${rows}u; let c0 = wg.x * ${columns}u;
  let ty = thread / ${threadsX}u; let tx = thread % ${threadsX}u;
  ${accumulators.map(([i, j]) => `var s${i}_${j} = vec4f();${block ? ` var z${i}_${j} = vec4f();` : ''}`).join(' ')}
  ${loop}
  ${accumulators.map(([i, j]) => `store(r0 + ty * ${threadRows}u + ${i}u, c0 / 4u + tx * ${columnVectors}u + ${j}u, ${block ? 'z' : 's'}${i}_${j});`).join('\n  ')}
}`;
  return matmulKernel(kind, `shared ${rows}x${columns}${buffers === 2 ? ' double' : ''}`, main);
}
