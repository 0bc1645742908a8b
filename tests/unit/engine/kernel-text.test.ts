/** The WGSL that kernel definitions give, without a GPU. */
import { describe, expect, test } from 'vitest';
import { defineKernel, dimsWords } from '../../../src/engine/kernel.ts';
import { registerMatmul } from '../../../src/engine/kernels/matmul-register.ts';
import { sharedMatmul } from '../../../src/engine/kernels/matmul-shared.ts';
import { unroll } from '../../../src/engine/kernels/unroll.ts';
import { WEIGHT_FORMATS } from '../../../src/engine/kernels/weight-format.ts';
import { MATMUL_VARIANTS, MEASURED_TILES } from '../../../src/engine/tuning.ts';

describe('a kernel definition', () => {
  const kernel = defineKernel({
    label: 'example',
    dims: { rows: 'Rows', width: 'u32', eps: 'f32' },
    uniforms: { settings: { rate: 'f32' } },
    reads: { x: 'vec4f' },
    writes: { y: 'u32' },
    subgroups: true,
    body: 'fn main() {}',
  });

  test('declares each binding once, in the order and with the access of its bind group', () => {
    expect(kernel.wgsl).toMatch(/^enable subgroups;/);
    const declared = [...kernel.wgsl.matchAll(/@group\(0\) @binding\((\d+)\) var<([^>]+)> (\w+): ([^;]+);/g)].map((match) =>
      match.slice(1),
    );
    expect(declared).toEqual([
      ['0', 'uniform', 'dims', 'Dims'],
      ['1', 'uniform', 'counts', 'Counts'],
      ['2', 'uniform', 'settings', 'Settings'],
      ['3', 'storage, read', 'x', 'array<vec4f>'],
      ['4', 'storage, read_write', 'y', 'array<u32>'],
    ]);
    expect(kernel.bindings.map(({ name, access }) => [access === 'uniform' ? access : `storage, ${access}`, name])).toEqual(
      declared.map(([, space, name]) => [space, name]),
    );
    expect(kernel.wgsl).toContain('struct Dims { rows: Rows, width: u32, eps: f32 }');
  });

  test('writes the values of dims in the order of the struct', () => {
    const one = new Uint32Array(Float32Array.of(1).buffer)[0];
    expect(dimsWords(kernel.dims, { eps: 1, width: 7, rows: { of: 'rows', base: 2, max: 9 } })).toEqual([1, 1, 2, 9, 7, one]);
  });

  test('without rows it has no counts', () => {
    const plain = defineKernel({ label: 'plain', writes: { y: 'u32' }, body: '' });
    expect(plain.bindings).toEqual([{ name: 'y', access: 'read_write' }]);
    expect(plain.wgsl).not.toContain('counts');
  });
});

/** Statements that write one component of a vector in workgroup memory, where a store may touch the whole vector. */
function componentStores(wgsl: string): string[] {
  return [...wgsl.matchAll(/var<workgroup> (\w+): array<vec\d/g)].flatMap(([, name]) =>
    [...wgsl.matchAll(new RegExp(`\\b${name}\\[.*?\\](\\.[xyzw]+|\\[[^\\]]*\\])\\s*[-+*/]?=[^=].*`, 'g'))].map(([statement]) => statement),
  );
}

test('a component store is recognised', () => {
  const tile = 'var<workgroup> tile: array<vec4f, 8>;';
  expect(componentStores(`${tile} tile[(a * 4u + e) / 4u][line % 4u] = v;`)).toHaveLength(1);
  expect(componentStores(`${tile} tile[a].x += v;`)).toHaveLength(1);
  expect(componentStores(`${tile} tile[a] = vec4f(v[0], v[1], v[2], v[3]); let x = tile[b].x; if (tile[b].x == 1f) {}`)).toHaveLength(0);
});

describe.each(['nt', 'nn', 'tn'] as const)('matmul %s', (form) => {
  const variants = Object.values(MATMUL_VARIANTS).flatMap(({ rows, tn }) => (form === 'tn' ? [tn] : rows.map(({ tile }) => tile)));
  const tiles = [...variants, ...Object.values(MEASURED_TILES)];
  const kinds = WEIGHT_FORMATS.flatMap((format) => (form === 'nt' ? [false, true] : [false]).map((adapter) => ({ form, format, adapter })));
  const kernels = kinds.flatMap((kind) =>
    tiles.map((tile) => (tile.kind === 'register' ? registerMatmul(kind, tile) : sharedMatmul(kind, tile))),
  );

  test('stores no component of a vector in workgroup memory', () => {
    expect(kernels.some(({ wgsl }) => wgsl.includes('var<workgroup>'))).toBe(true);
    expect(kernels.flatMap(({ wgsl }) => componentStores(wgsl))).toEqual([]);
  });

  test('adds every product by fma', () => {
    for (const { wgsl } of kernels) {
      expect(wgsl).toMatch(/ = fma\(/);
      expect(wgsl).not.toMatch(/s\d+_\d+(_\d+)? \+=/);
    }
  });
});

describe('a loop that is written out', () => {
  test('has a copy of its body for each index, also in another loop', () => {
    const words = unroll('a; unroll (i < 2) { x[i]; unroll (j < 2) { if (y) { z[i][j] += ij; } } } b;').replaceAll(/\s/g, '');
    expect(words).toBe('a;{x[0u];{if(y){z[0u][0u]+=ij;}}{if(y){z[0u][1u]+=ij;}}}{x[1u];{if(y){z[1u][0u]+=ij;}}{if(y){z[1u][1u]+=ij;}}}b;');
  });
  test('must end', () => {
    expect(() => unroll('unroll (i < 2) { x[i];')).toThrow('"unroll (i < 2) {" has no end');
  });
});
