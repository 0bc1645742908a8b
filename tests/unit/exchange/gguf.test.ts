/** GGUF files, against what llama.cpp's package gguf computes from them (tests/reference/gguf_files.py). */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { loadTokenizer } from '../../support/tokenizers.ts';
import { filesFromGguf } from '../../../src/exchange/gguf/gguf-folder.ts';
import { openGguf, readGgufHeader } from '../../../src/exchange/gguf/gguf-file.ts';
import { readModelFiles } from '../../../src/exchange/model-files.ts';
import { loadModel, type ModelParts, openModel, withWeights } from '../../../src/exchange/model-folder.ts';
import { Bytes, type Field, float, ggufBytes, number, numbers, text, texts } from '../../support/gguf.ts';

interface Expected {
  vocab_size: number;
  texts: { text: string; ids: number[] }[];
  tensors: Record<string, { shape: number[]; first: number[]; sha256: string }>;
}
const at = (name: string) => new URL(`../../reference/fixtures/gguf/${name}`, import.meta.url);
const expectedOf = async (name: string) => JSON.parse(await readFile(at(`${name}.json`), 'utf8')) as Expected;
const file = async (name: string) => new Uint8Array(await readFile(at(`${name}.gguf`)));

async function complete(parts: ModelParts): Promise<ModelParts> {
  return { ...parts, ...(await filesFromGguf(parts)) };
}
const sha256 = (values: Float32Array | Uint8Array) =>
  createHash('sha256')
    .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    .digest('hex');

describe.each(['llama', 'qwen2'])('a file of %s', (name) => {
  test('has the values of every type, in the order of Hugging Face', async () => {
    const { config, weights } = loadModel((await complete({ 'a.gguf': await file(name) })) as Record<string, Uint8Array>);
    const { tensors, vocab_size } = await expectedOf(name);
    expect(config).toMatchObject({
      model_type: name,
      vocab_size,
      hidden_size: 256,
      head_dim: 8,
      num_key_value_heads: 2,
      rms_norm_eps: 1e-5,
    });
    expect([...weights.keys()].sort()).toEqual(Object.keys(tensors).sort());
    for (const [tensor, { shape, first, sha256: digest }] of Object.entries(tensors)) {
      const { shape: own, data } = weights.get(tensor)!;
      expect({ tensor, shape: own, first: [...data.subarray(0, 4)] }).toEqual({ tensor, shape, first: first.map(Math.fround) });
      expect(sha256(data), tensor).toBe(digest);
    }
  });

  test('is read in ranges, which may cut rows and heads', async () => {
    const bytes = await file(name);
    const files = await complete({ 'a.gguf': new Blob([bytes]) });
    const { source } = await openModel(files);
    const { weights } = loadModel((await complete({ 'a.gguf': bytes })) as Record<string, Uint8Array>);
    for (const [tensor, { dtype }] of source.tensors) {
      if (dtype !== 'F32') continue;
      const { data } = weights.get(tensor)!;
      for (const [from, length] of [
        [0, data.length],
        [1, 3],
        [data.length - 1, 1],
        [Math.floor(data.length / 3) + 5, Math.floor(data.length / 2)],
      ] as const) {
        const part = await source.read(tensor, 4 * from, 4 * length);
        expect(sha256(part), `${tensor} from ${from}`).toBe(sha256(data.subarray(from, from + length)));
      }
    }
  });

  test('never needs the whole file at once', async () => {
    const bytes = await file(name);
    let most = 0;
    const { tensors } = await openGguf({
      size: 2 ** 40,
      read: (from, length) => {
        most = Math.max(most, from + length);
        return bytes.subarray(from, from + length);
      },
    });
    expect(tensors.size).toBeGreaterThan(10);
    expect(most).toBeLessThanOrEqual(2 ** 20);
  });

  test('has the tokenizer', async () => {
    const files = await filesFromGguf({ 'a.gguf': await file(name) });
    const tokenizer = loadTokenizer(files);
    for (const one of (await expectedOf(name)).texts) {
      expect(tokenizer.encode(one.text), one.text).toEqual(one.ids);
      expect(tokenizer.decode(one.ids)).toBe(name === 'qwen2' ? one.text.normalize('NFC') : one.text);
    }
    expect(tokenizer.chatTemplate).toBe(
      '{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}' +
        '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}',
    );
    expect(JSON.parse(new TextDecoder().decode(files['tokenizer_config.json']))).toMatchObject({
      bos_token: '<|im_start|>',
      eos_token: '<|im_end|>',
    });
  });
});

test('the factors of the rotary embeddings become rope_scaling', async () => {
  const { config } = await openModel(await complete({ 'a.gguf': await file('llama') }));
  expect(config.rope_scaling).toEqual({
    rope_type: 'llama3',
    factor: 32,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 8192,
  });
  const other = await file('llama');
  const { begin } = readGgufHeader(other).tensors.get('rope_freqs.weight')!;
  new DataView(other.buffer).setFloat32(begin + 8, 5, true);
  await expect(filesFromGguf({ 'a.gguf': other })).rejects.toThrow(/a\.gguf: tensor rope_freqs\.weight: element 2 is 5: expected 3\.29/);
});

test('the page finds a single file, and new weights replace it', async () => {
  const { name, files } = await readModelFiles([['folder/SmolLM.Q4_1.gguf', new Blob([await file('llama')])]]);
  expect(name).toBe('SmolLM.Q4_1');
  const all = await complete(files);
  expect(Object.keys(all).sort()).toEqual(['SmolLM.Q4_1.gguf', 'config.json', 'tokenizer.json', 'tokenizer_config.json']);
  const { weights } = loadModel((await complete({ 'a.gguf': await file('llama') })) as Record<string, Uint8Array>);
  expect(Object.keys(withWeights(all, weights)).sort()).toEqual([
    'config.json',
    'model.safetensors',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
});

const ARCHITECTURE: Field = text('general.architecture', 'llama');
const MODEL: Field[] = [
  ARCHITECTURE,
  ...['block_count', 'context_length', 'embedding_length', 'feed_forward_length'].map((key) => number(`llama.${key}`, 8)),
  number('llama.attention.head_count', 1),
  float('llama.attention.layer_norm_rms_epsilon', 1e-5),
  text('tokenizer.ggml.model', 'gpt2'),
  text('tokenizer.ggml.pre', 'smollm'),
  texts('tokenizer.ggml.tokens', ['a', 'b']),
  texts('tokenizer.ggml.merges', []),
];
const EMBEDDING = { name: 'token_embd.weight', shape: [64, 2], type: 0, offset: 0 };
const changed = (field: Field) => [...MODEL.filter(([key]) => key !== field[0]), field];
const without = (key: string) => MODEL.filter(([own]) => own !== key);

test('a file that gguf-split merged is read', async () => {
  const merged = ggufBytes([...MODEL, number('split.count', 0)], [EMBEDDING], 512);
  expect(Object.keys(await filesFromGguf({ 'a.gguf': merged }))).toContain('config.json');
});

describe('a file with a fault is refused', () => {
  const header = (size: (bytes: Bytes) => Bytes) => size(new Bytes().raw(new TextEncoder().encode('GGUF')).u32(3)).bytes();
  const large = { ...EMBEDDING, shape: [2 ** 31, 2 ** 31] };
  test.each<[string, Uint8Array, RegExp]>([
    ['no GGUF', new Uint8Array(100), /does not begin with "GGUF"/],
    ['too short', new Uint8Array(3), /does not begin with "GGUF"/],
    ['version 1', ggufBytes([], [], 0, 1), /version is 1: expected 2 or 3/],
    ['big-endian', ggufBytes([], [], 0, 0x3000000), /version is 50331648: expected 2 or 3, in little-endian order/],
    ['too many tensors', header((bytes) => bytes.u64(2 ** 40).u64(0)), /the number of tensors is 1099511627776: expected at most 65536/],
    ['too many fields', header((bytes) => bytes.u64(0).u64(2n ** 63n)), /the number of metadata fields is .*: expected at most/],
    [
      'a long name',
      header((bytes) =>
        bytes
          .u64(0)
          .u64(1)
          .u64(2 ** 30),
      ),
      /the length of the name of metadata field 0 is 1073741824: expected at most/,
    ],
    ['an end in a text', ggufBytes([ARCHITECTURE]).subarray(0, 50), /ends inside of .*: it is truncated/],
    [
      'a long list',
      ggufBytes([['x', 9, (bytes) => bytes.u32(0).u64(2 ** 30)]]),
      /the length of "x" is 1073741824: expected at most 2097152/,
    ],
    ['a list of lists', ggufBytes([['x', 9, (bytes) => bytes.u32(9).u64(1).u32(4).u64(0)]]), /"x" has type 9: expected a number/],
    ['a field twice', ggufBytes([ARCHITECTURE, ARCHITECTURE]), /"general\.architecture" occurs twice/],
    ['text that is no UTF-8', ggufBytes([['x', 8, (bytes) => bytes.u64(1).raw([0xff])]]), /"x" is not UTF-8/],
    ['an alignment', ggufBytes([number('general.alignment', 3)]), /general\.alignment is 3: expected a multiple of 8/],
    ['an unknown type', ggufBytes(MODEL, [{ ...EMBEDDING, type: 11 }], 512), /"token_embd\.weight" has type Q3_K: expected F32, F16, Q4_0/],
    [
      'half a block',
      ggufBytes(MODEL, [{ ...EMBEDDING, shape: [48, 2], type: 8 }], 512),
      /shape \[2,48\]: expected rows of a multiple of 32 values/,
    ],
    ['nine dimensions', ggufBytes(MODEL, [{ ...EMBEDDING, shape: Array<number>(9).fill(1) }], 512), /has 9 dimensions: expected 1 to 4/],
    ['a huge tensor', ggufBytes(MODEL, [large], 512), /shape \[2147483648,2147483648\]: expected fewer values/],
    ['no values', ggufBytes(MODEL, [{ ...EMBEDDING, shape: [0, 2] }], 512), /shape \[2,0\]: expected rows of a multiple of 1/],
    ['an offset', ggufBytes(MODEL, [{ ...EMBEDDING, offset: 8 }], 1024), /its offset is 8: expected a multiple of 32/],
    [
      'tensors that overlap',
      ggufBytes(MODEL, [EMBEDDING, { ...EMBEDDING, name: 'b', offset: 64 }], 1024),
      /"b": its offset is 64: the tensor before it ends at 512/,
    ],
    ['a tensor twice', ggufBytes(MODEL, [EMBEDDING, { ...EMBEDDING, offset: 512 }], 1024), /"token_embd\.weight" occurs twice/],
    ['too little data', ggufBytes(MODEL, [EMBEDDING], 511), /ends at byte \d+, but the file has \d+ bytes: it is truncated/],
    [
      'another architecture',
      ggufBytes(changed(text('general.architecture', 'gemma3')), [EMBEDDING], 512),
      /general\.architecture is "gemma3": expected llama, qwen2, qwen3/,
    ],
    ['no size', ggufBytes(without('llama.block_count'), [EMBEDDING], 512), /llama\.block_count is missing: expected a number/],
    [
      'a size as text',
      ggufBytes(changed(text('llama.block_count', '8')), [EMBEDDING], 512),
      /llama\.block_count is "8": expected a number/,
    ],
    ['parts', ggufBytes([...MODEL, number('split.count', 2)], [EMBEDDING], 512), /split\.count is 2: expected 1/],
    ['experts', ggufBytes([...MODEL, number('llama.expert_count', 8)], [EMBEDDING], 512), /llama\.expert_count is 8: expected 0/],
    ...(
      [
        ['attention.sliding_window', 128, /expected 0 or false, as its meaning is not known/],
        ['attn_logit_softcapping', 30, /expected 0 or false/],
        ['rope.scale_linear', 4, /expected 0 or false/],
        ['rope.scaling.factor', 4, /expected 1/],
        ['rope.scaling.attn_factor', 1.5, /expected 1/],
      ] as const
    ).map(([key, value, message]): [string, Uint8Array, RegExp] => [
      key,
      ggufBytes([...MODEL, float(`llama.${key}`, value)], [EMBEDDING], 512),
      new RegExp(`llama\\.${key} is ${value}: ${message.source}`),
    ]),
    [
      'attention to later tokens',
      ggufBytes([...MODEL, ['llama.attention.causal', 7, (bytes) => bytes.raw([0])]], [EMBEDDING], 512),
      /llama\.attention\.causal is false: expected true/,
    ],
    [
      'scaled embeddings',
      ggufBytes([...MODEL, text('llama.rope.scaling.type', 'yarn')], [EMBEDDING], 512),
      /rope\.scaling\.type is "yarn": expected "none"/,
    ],
    [
      'half-rotated heads',
      ggufBytes([...MODEL, number('llama.rope.dimension_count', 4)], [EMBEDDING], 512),
      /rope\.dimension_count is 4: expected 8/,
    ],
    ['no embedding', ggufBytes(MODEL), /tensor token_embd\.weight is missing/],
    [
      'another tokenizer',
      ggufBytes(changed(text('tokenizer.ggml.model', 'llama')), [EMBEDDING], 512),
      /tokenizer\.ggml\.model is "llama": expected "gpt2"/,
    ],
    [
      'another split',
      ggufBytes(changed(text('tokenizer.ggml.pre', 'viking')), [EMBEDDING], 512),
      /tokenizer\.ggml\.pre is "viking": expected gpt-2, smollm/,
    ],
    ['a token twice', ggufBytes(changed(texts('tokenizer.ggml.tokens', ['a', 'a'])), [EMBEDDING], 512), /"a" occurs twice, as 0 and 1/],
    [
      'too few types',
      ggufBytes([...MODEL, numbers('tokenizer.ggml.token_type', [1])], [EMBEDDING], 512),
      /token_type has 1 entries: expected 2/,
    ],
    [
      'an id',
      ggufBytes([...MODEL, number('tokenizer.ggml.bos_token_id', 2)], [EMBEDDING], 512),
      /bos_token_id is 2: expected an id below 2/,
    ],
    [
      'a flag',
      ggufBytes([...MODEL, number('tokenizer.ggml.bos_token_id', 1), text('tokenizer.ggml.add_bos_token', 'yes')], [EMBEDDING], 512),
      /add_bos_token is "yes": expected true or false/,
    ],
  ])('%s', async (_, bytes, message) => {
    const error = await filesFromGguf({ 'a.gguf': bytes as Uint8Array<ArrayBuffer> }).then(
      () => new Error('accepted'),
      (error: Error) => error,
    );
    expect(error.message).toMatch(message);
    expect(error.message.startsWith('a.gguf: ')).toBe(true);
    expect(error.name).toBe('GgufError');
  });
});
