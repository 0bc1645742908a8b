/** How many floats a thread holds, in all kernels and at all tunings. Above 128 a GPU thread may spill registers to slow memory. */
import { describe, expect, test } from 'vitest';
import type { EngineSizes } from '../../../src/engine/engine-allocations.ts';
import { registerMatmul } from '../../../src/engine/kernels/matmul-register.ts';
import { sharedMatmul } from '../../../src/engine/kernels/matmul-shared.ts';
import type { MatmulKind } from '../../../src/engine/kernels/matmul-text.ts';
import { WEIGHT_FORMATS } from '../../../src/engine/kernels/weight-format.ts';
import { LORA_TARGETS } from '../../../src/engine/lora.ts';
import { MATMUL_VARIANTS, MEASURED_TILES } from '../../../src/engine/tuning.ts';
import type { ModelConfig } from '../../../src/engine/types.ts';
import { heldFloats } from '../../support/held-floats.ts';
import { countingGpu, type Device, eachProgram } from '../../support/programs.ts';

const MOST = 128;

describe('the counter', () => {
  const main = (body: string, before = ''): string => `${before} fn main() { ${body} }`;
  test.each([
    ['arrays and vectors', 'var a: array<vec4f, 3>; var b = vec2f(); var c = 1.0; a[0] = vec4f(b, c, c);', 15],
    ['no integers', 'var i = 0u; var n: array<u32, 9>; var v = vec4u(i); n[0] = v.x;', 0],
    ['no variable after its last use', 'var a = vec4f(); y[0] = a; var b = vec4f(); y[1] = b;', 4],
    ['a variable to the end of a loop that uses it', 'var a = vec4f(); for (;;) { y[0] = a; var b = vec4f(); y[1] = b; }', 8],
    ['a let that lives through a loop', 'let a = y[0]; for (;;) { var b = 0.0; b += a.x; }', 5],
    ['no let that does not', 'for (;;) { let a = y[0]; var b = a.x; y[1] = vec4f(b); }', 1],
    ['variables of the same name apart', '{ var a = vec4f(); y[0] = a; } { var a = vec4f(); y[1] = a; }', 4],
    [
      'components, scalar functions and elements',
      'var a = y[0].x; var b = dot(y[0], y[1]); var c = y[0][1]; y[2] = vec4f(a, b, c, 0f);',
      3,
    ],
    ['the widest part of a sum', 'var a = 2f * (y[0] + max(y[1], y[2])); y[3] = a;', 4],
  ])('counts %s', (_, body, floats) => {
    expect(heldFloats(main(body, '@group(0) @binding(0) var<storage, read_write> y: array<vec4f>;'))).toBe(floats);
  });
  test('counts what called functions hold, and knows aliases', () => {
    const called = 'alias Row = vec2f; fn inner(x: f32) -> Row { var a: array<Row, 4>; a[0] = Row(x); return a[0]; }';
    expect(heldFloats(main('var b = vec4f(); var c = inner(b.x); b.y = c.x; y = b;', called))).toBe(4 + 8);
  });
});

const model = (num_attention_heads: number, num_key_value_heads: number, head_dim: number): ModelConfig => ({
  ...{ model_type: 'qwen3', vocab_size: 512, hidden_size: 64, intermediate_size: 96, num_hidden_layers: 1 },
  ...{ num_attention_heads, num_key_value_heads, head_dim, rms_norm_eps: 1e-6, rope_theta: 1e6, max_position_embeddings: 512 },
  tie_word_embeddings: true,
});
const MODELS = [model(4, 2, 32), model(5, 1, 40), model(9, 3, 64), model(14, 2, 64), model(64, 8, 80), model(32, 4, 128), model(4, 2, 192)];
const lora = { rank: 16, scale: 2, targets: LORA_TARGETS };
const SIZES: EngineSizes[] = [
  { maxModelLen: 512, slots: 8 },
  { maxModelLen: 512, slots: 8, kvFormat: 'f16', precision: 'bf16', lora },
];

const counted = new Map<string, number>();
function floatsOf(wgsl: string): number {
  const floats = counted.get(wgsl) ?? heldFloats(wgsl);
  counted.set(wgsl, floats);
  return floats;
}

/** The most floats of a kernel of each model. */
async function mostFloats(device: Device): Promise<number[]> {
  const most: number[] = [];
  for (const config of MODELS) {
    const gpus = SIZES.map(() => countingGpu(device));
    for (const [i, gpu] of gpus.entries()) await eachProgram(gpu, config, SIZES[i]!);
    most.push(Math.max(...gpus.flatMap(({ kernelTexts }) => kernelTexts.map(floatsOf))));
  }
  return most;
}

test.each([0, 32])('all kernels of a hardware GPU with subgroups of %i lanes', async (subgroupSize) => {
  const most = await mostFloats({ software: false, subgroupSize });
  for (const floats of most) expect(floats).toBeLessThanOrEqual(MOST);
  expect(Math.max(...most)).toBeGreaterThan(MOST / 2);
});

// A CPU spills to its L1 cache, which costs less than loading keys and weights more often.
test('only software adapters have kernels that hold more', async () => {
  const most = await mostFloats({ software: true, subgroupSize: 8 });
  for (const floats of most) expect(floats).toBeGreaterThan(MOST);
  // Queries and sums of 256 floats each, and scores. A head_dim of 192 needs more, even for one token.
  for (const floats of most.slice(0, -1)) expect(floats).toBeLessThanOrEqual(576);
});

describe.each(['nt', 'nn', 'tn'] as const)('the matmul %s', (form) => {
  const kinds = WEIGHT_FORMATS.flatMap((format): MatmulKind[] =>
    form === 'nt'
      ? [false, true].map((adapter) => ({ form, format, adapter, block: 64 }))
      : [{ form, format, adapter: false, parts: true }],
  );
  test.each(Object.entries({ ...MEASURED_TILES, portable: MATMUL_VARIANTS.register.tn }))('with the tile %s', (_, tile) => {
    for (const kind of kinds) {
      const { wgsl } = tile.kind === 'register' ? registerMatmul(kind, tile) : sharedMatmul(kind, tile);
      expect(floatsOf(wgsl)).toBeLessThanOrEqual(MOST);
    }
  });
});
