import { describe, expect, test } from 'vitest';
import { groupsOf, modelTensors, ParameterLayout, randomWeights } from '../../../src/engine/parameters.ts';
import { loadModel, openModel, saveModel } from '../../../src/exchange/model-folder.ts';
import { openBytes } from '../../../src/exchange/file-bytes.ts';
import { checkFinite, openSafetensors, readSafetensors, writeSafetensors } from '../../../src/exchange/safetensors.ts';
import type { ModelConfig } from '../../../src/records/model.ts';
import type { TensorMap } from '../../../src/engine/types.ts';

const encode = (header: unknown, data: ArrayLike<number> = []): Uint8Array => {
  const json = new TextEncoder().encode(typeof header === 'string' ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  file.set(data, 8 + json.length);
  return file;
};
const f32 = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
const u16 = (...values: number[]): Uint8Array => new Uint8Array(Uint16Array.from(values).buffer);
const tensor = (shape: number[], ...values: number[]) => ({ shape, data: Float32Array.from(values) });

describe('safetensors', () => {
  test('written tensors are read back', () => {
    const tensors: TensorMap = new Map([
      ['a', tensor([2, 2], 1, -2.5, 3e-8, 4e30)],
      ['scalar', tensor([], 7)],
      ['none', tensor([0, 3])],
    ]);
    expect(readSafetensors(writeSafetensors(tensors))).toEqual(tensors);
  });

  test('bfloat16 rounds to the nearest, ties to even', () => {
    const file = writeSafetensors(new Map([['a', tensor([4], 1 + 2 ** -8, 1 + 3 * 2 ** -8, 1.0001, -3)]]), 'BF16');
    expect([...readSafetensors(file).get('a')!.data]).toEqual([1, 1 + 2 ** -6, 1, -3]);
  });

  test('float16: normal, subnormal, negative, largest', () => {
    const file = encode({ a: { dtype: 'F16', shape: [5], data_offsets: [0, 10] } }, u16(0x3c00, 0x0001, 0xc100, 0x7bff, 0x8000));
    expect([...readSafetensors(file).get('a')!.data]).toEqual([1, 2 ** -24, -2.5, 65504, -0]);
  });

  test('a view into a larger buffer, at an odd offset', () => {
    const file = writeSafetensors(new Map([['a', tensor([2], 5, 6)]]));
    const larger = new Uint8Array(file.length + 3);
    larger.set(file, 3);
    expect([...readSafetensors(larger.subarray(3)).get('a')!.data]).toEqual([5, 6]);
  });

  const entry = (change: object = {}) => ({ a: { dtype: 'F32', shape: [2], data_offsets: [0, 8], ...change } });
  test.each([
    ['an empty file', new Uint8Array(4), /4 bytes: expected at least 8/],
    ['a header longer than the file', encode(entry(), f32(1, 2)).subarray(0, 20), /truncated/],
    ['an absurd header length', Uint8Array.of(255, 255, 255, 255, 255, 255, 255, 127, 0), /header of .* bytes: expected at most/],
    ['no JSON', encode('{oops'), /not JSON/],
    ['a list', encode([]), /not a JSON object/],
    ['missing data', encode(entry(), f32(1)), /need 8 bytes of data but the file has 4/],
    ['data to spare', encode(entry(), f32(1, 2, 3)), /cover 8 bytes of data but the file has 12/],
    ['an unknown dtype', encode(entry({ dtype: 'I64' }), f32(1, 2)), /tensor a: dtype is "I64": expected F32, F16, BF16/],
    ['an inherited name as dtype', encode(entry({ dtype: 'toString' }), f32(1, 2)), /tensor a: dtype/],
    ['a shape that does not fit', encode(entry({ shape: [3] }), f32(1, 2)), /tensor a: data_offsets span 8 bytes: expected 12/],
    ['a negative size', encode(entry({ shape: [-2] }), f32(1, 2)), /tensor a: shape is \[-2\]/],
    ['offsets the wrong way', encode(entry({ data_offsets: [8, 0] }), f32(1, 2)), /tensor a: data_offsets/],
    ['an overlap', encode({ ...entry(), b: { dtype: 'F32', shape: [2], data_offsets: [4, 12] } }, f32(1, 2, 3)), /tensor b: .*overlap/],
    [
      'a hole',
      encode({ ...entry(), b: { dtype: 'F32', shape: [1], data_offsets: [12, 16] } }, f32(1, 2, 3, 4)),
      /tensor b: data_offsets begin at 12: expected 8/,
    ],
    ['NaN', encode(entry(), f32(1, NaN)), /tensor a: element 1 is NaN/],
    ['infinity in bfloat16', encode(entry({ dtype: 'BF16', data_offsets: [0, 4] }), u16(0x7f80, 0)), /tensor a: element 0 is Infinity/],
    ['infinity in float16', encode(entry({ dtype: 'F16', data_offsets: [0, 4] }), u16(0x3c00, 0xfc00)), /tensor a: element 1 is -Infinity/],
  ])('refuses %s', async (_, file, message) => {
    expect(() => readSafetensors(file)).toThrow(message);
    const inPieces = async () => checkFinite(await openSafetensors(await openBytes(new Blob([file as Uint8Array<ArrayBuffer>]))));
    await expect(inPieces()).rejects.toThrow(message);
  });
});

const config: ModelConfig = {
  model_type: 'qwen3',
  vocab_size: 11,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 8,
  rms_norm_eps: 1e-6,
  rope_theta: 1e4,
  max_position_embeddings: 64,
  tie_word_embeddings: true,
};

describe('model folder', () => {
  const weights = randomWeights(config, 3);

  test('a saved model is loaded back the same, tied or not, Qwen3 or Qwen2', () => {
    expect(loadModel(saveModel(config, weights))).toEqual({ config, weights });
    const other: ModelConfig = { ...config, model_type: 'qwen2', tie_word_embeddings: false };
    const theirs = randomWeights(other, 3);
    expect([...theirs.keys()]).toContain('model.layers.1.self_attn.k_proj.bias');
    expect(loadModel(saveModel(other, theirs))).toEqual({ config: other, weights: theirs });
  });

  test('shards', () => {
    const { 'config.json': json } = saveModel(config, weights);
    const [one, two] = [new Map([...weights].slice(0, 5)), new Map([...weights].slice(5))];
    const map = Object.fromEntries([...weights.keys()].map((name) => [name, one.has(name) ? 'one.safetensors' : 'two.safetensors']));
    const files = {
      'config.json': json!,
      'model.safetensors.index.json': new TextEncoder().encode(JSON.stringify({ weight_map: map })),
      'one.safetensors': writeSafetensors(one),
      'two.safetensors': writeSafetensors(two),
    };
    expect(loadModel(files).weights).toEqual(weights);
    const { 'two.safetensors': _, ...incomplete } = files;
    expect(() => loadModel(incomplete)).toThrow(/two\.safetensors is missing/);
  });

  test('a tied model may contain its head, if it equals the embeddings', async () => {
    const embeddings = weights.get('model.embed_tokens.weight')!;
    const files = (head: typeof embeddings) => saveModel(config, new Map([...weights, ['lm_head.weight', head]]));
    expect(loadModel(files(embeddings)).weights).toEqual(weights);
    await openModel(files(embeddings));
    const other = { ...embeddings, data: embeddings.data.with(-1, 7) };
    for (const head of [other, { shape: [1], data: new Float32Array(1) }]) {
      expect(() => loadModel(files(head))).toThrow('tie_word_embeddings is true, but tensor lm_head.weight differs');
      await expect(openModel(files(head))).rejects.toThrow('tie_word_embeddings is true, but tensor lm_head.weight differs');
    }
  });

  test('rotary frequencies of older files are left out', () => {
    const older = new Map([...weights, ['model.layers.0.self_attn.rotary_emb.inv_freq', tensor([2], 1, 0.5)]]);
    expect(loadModel(saveModel(config, older)).weights).toEqual(weights);
  });

  test('names every tensor that is missing, unknown or misshapen', () => {
    const broken = new Map(weights);
    broken.delete('model.norm.weight');
    broken.set('model.layers.2.mlp.up_proj.weight', tensor([1], 1));
    broken.set('model.layers.0.mlp.up_proj.weight', tensor([8, 12], ...new Array<number>(96).fill(0)));
    const load = () => loadModel(saveModel(config, broken));
    expect(load).toThrow(/model\.norm\.weight is missing: expected shape \[8\]/);
    expect(load).toThrow(/model\.layers\.2\.mlp\.up_proj\.weight is not part of/);
    expect(load).toThrow(/model\.layers\.0\.mlp\.up_proj\.weight has shape \[8,12\]: expected \[12,8\]/);
  });

  test('says which file is missing or damaged', () => {
    expect(() => loadModel({})).toThrow(/config\.json is missing/);
    const files = saveModel(config, weights);
    expect(() => loadModel({ ...files, 'config.json': new TextEncoder().encode('{') })).toThrow(/config\.json is not JSON/);
    expect(() => loadModel({ ...files, 'model.safetensors': files['model.safetensors']!.subarray(0, 999) })).toThrow(
      /model\.safetensors: .*truncated/,
    );
  });
});

describe('parameter layout', () => {
  test('fused tensors are adjacent and every view is aligned', () => {
    const { parameters, parts, size } = new ParameterLayout([groupsOf(modelTensors({ ...config, model_type: 'qwen2' }))]);
    const at = (name: string) => parameters.find((p) => p.name === `model.layers.1.${name}`)!;
    for (const [a, b] of [
      ['self_attn.q_proj.weight', 'self_attn.k_proj.weight'],
      ['self_attn.k_proj.bias', 'self_attn.v_proj.bias'],
      ['mlp.gate_proj.weight', 'mlp.up_proj.weight'],
    ]) {
      expect(at(a!).offset + at(a!).size).toBe(at(b!).offset);
    }
    expect(parts.flatMap(({ segments }) => segments).every(({ offset }) => offset % 64 === 0)).toBe(true);
    expect(size % 64).toBe(0);
  });

  test('random weights depend only on the seed and have a standard deviation of 0.02', () => {
    const big = { ...config, vocab_size: 4000 };
    const embed = randomWeights(big, 1).get('model.embed_tokens.weight')!.data;
    expect(randomWeights(big, 1).get('model.embed_tokens.weight')!.data).toEqual(embed);
    expect(randomWeights(big, 2).get('model.embed_tokens.weight')!.data).not.toEqual(embed);
    const mean = embed.reduce((a, b) => a + b, 0) / embed.length;
    const deviation = Math.sqrt(embed.reduce((a, b) => a + (b - mean) ** 2, 0) / embed.length);
    expect(Math.abs(mean)).toBeLessThan(5e-4);
    expect(deviation).toBeGreaterThan(0.0195);
    expect(deviation).toBeLessThan(0.0205);
  });
});
