/** The register-tile matmul, with and without quadSwap. See `RegisterTile` in tuning.ts and `matmul` for the forms. */
import type { RegisterTile } from '../tuning.ts';
import { matmulKernel, type MatmulKind, stepsOf } from './matmul-text.ts';

const SWAP = ['', 'quadSwapX', 'quadSwapY', 'quadSwapDiagonal'];
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** Rows and columns of c that one workgroup computes. */
export function registerTileSpan({ quad, rows, columns, threads: [x, y] }: RegisterTile): [number, number] {
  return quad ? [4 * rows * y, 4 * columns * x] : [rows * y, 4 * columns * x];
}

/** The kernel of a register tile. Its WGSL is unrolled: all register indices are constants, so no value is spilled to indexed memory. */
export function registerMatmul(kind: MatmulKind, { quad, rows, columns, threads: [x, y] }: RegisterTile) {
  const { form, block } = kind;
  const steps = stepsOf(kind);
  const swaps = quad ? 4 : 1;
  const acc = (i: number, t: number, j: number): string => `s${i}_${t}_${j}`;
  const total = (i: number, t: number, j: number): string => (block ? `z${i}_${t}_${j}` : acc(i, t, j));
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const addProduct = (sum: string, x: string, b: string): void => say(`${sum} = fma(vec4f(${x}), ${b}, ${sum});`);

  for (const i of range(rows)) for (const t of range(swaps)) for (const j of range(columns)) say(`var ${total(i, t, j)} = vec4f();`);
  // v0, v1, …: the vec4 columns that this lane computes. With quads, neighbouring lanes compute neighbouring vec4s.
  for (const j of range(columns)) say(`let v${j} = c0 + ${quad ? `lane + ${4 * j}u` : `${j}u`};`);

  if (form === 'tn') {
    const vectors = rows / 4;
    say(`let a0 = r0 / 4u + dims.a_at;\nfor (var r = ${steps.first}; r < depth; r++) {`);
    for (const j of range(columns)) say(`let b${j} = load_b(r * ldb + dims.b_at + v${j});`);
    for (const g of range(vectors)) {
      say(`{ let x0 = a[r * lda + a0 + ${g * swaps}u + lane];`);
      for (const t of range(swaps).slice(1)) say(`let x${t} = ${SWAP[t]}(x0);`);
      for (const u of range(4))
        for (const t of range(swaps)) for (const j of range(columns)) addProduct(acc(4 * g + u, t, j), `x${t}.${'xyzw'[u]}`, `b${j}`);
      say('}');
    }
    say('}');
  } else {
    for (const i of range(rows)) say(`let a${i} = (r0 + ${swaps * i}u + lane) * lda + dims.a_at;`);
    if (form === 'nt')
      for (const j of range(columns)) for (const e of range(4)) say(`let o${j}_${e} = (v${j} * 4u + ${e}u) * ldb + dims.b_at;`);
    if (block) {
      say(`for (var k0 = 0u; k0 < depth; k0 += ${block / 4}u) {`);
      for (const i of range(rows)) for (const t of range(swaps)) for (const j of range(columns)) say(`var ${acc(i, t, j)} = vec4f();`);
      say(`for (var k = k0; k < min(k0 + ${block / 4}u, depth); k++) {`);
    } else say(`for (var k = ${steps.first}; k < depth; k++) {`);
    for (const j of range(columns)) {
      if (form === 'nt') {
        for (const e of range(4)) say(`let w${j}_${e} = load_b(o${j}_${e} + k);`);
        for (const u of range(4))
          say(
            `let b${j}_${u} = vec4f(${range(4)
              .map((e) => `w${j}_${e}.${'xyzw'[u]}`)
              .join()});`,
          );
      } else for (const u of range(4)) say(`let b${j}_${u} = load_b((k * 4u + ${u}u) * ldb + dims.b_at + v${j});`);
    }
    for (const i of range(rows)) {
      say(`{ let x0 = a[a${i} + k];`);
      for (const t of range(swaps).slice(1)) say(`let x${t} = ${SWAP[t]}(x0);`);
      for (const u of range(4))
        for (const t of range(swaps)) for (const j of range(columns)) addProduct(acc(i, t, j), `x${t}.${'xyzw'[u]}`, `b${j}_${u}`);
      say('}');
    }
    say('}');
    if (block) {
      for (const i of range(rows))
        for (const t of range(swaps)) for (const j of range(columns)) say(`${total(i, t, j)} += ${acc(i, t, j)};`);
      say('}');
    }
  }
  // Stores in a loop, because 32 unrolled stores would take longer to compile than the whole sum.
  const tiles = range(rows).flatMap((i) => range(swaps).flatMap((t) => range(columns).map((j) => total(i, t, j))));
  const row = form === 'tn' ? `(i / 4u * ${swaps}u + (lane ^ t)) * 4u + i % 4u` : `i * ${swaps}u + (lane ^ t)`;
  say(`var tiles = array<vec4f, ${tiles.length}>(${tiles.join(', ')});`);
  say(`for (var e = 0u; e < ${tiles.length}u; e++) {`);
  say(`let i = e / ${swaps * columns}u; let t = e / ${columns}u % ${swaps}u;`);
  say(`store(r0 + ${row}, v0 + e % ${columns}u * ${quad ? 4 : 1}u, tiles[e]);\n}`);
  const main = /* wgsl */ `
@compute @workgroup_size(${x}, ${y}) fn main(
  @builtin(workgroup_id) wg: vec3u, @builtin(local_invocation_id) thread: vec3u) {
  let lane = ${quad ? 'thread.x & 3u' : '0u'};
  let depth = ${steps.end}; ${steps.set} let lda = dims.lda / 4u; let ldb = dims.ldb / 4u;
  let r0 = (wg.y * ${y}u + thread.y) * ${rows * swaps}u;
  let c0 = ${quad ? `(wg.x * ${x / 4}u + thread.x / 4u) * ${4 * columns}u` : `(wg.x * ${x}u + thread.x) * ${columns}u`};
  ${quad ? '' : 'if (r0 >= out_rows() || c0 * 4u >= out_columns()) { return; }'}
  ${lines.join('\n  ')}
}`;
  return matmulKernel(kind, `${quad ? 'quad' : 'register'} ${rows}x${columns}`, main, quad);
}
