/** The ONNX export, played by onnxruntime-web (WASM): log-probs and greedy tokens as in PyTorch and in float64, with the KV cache. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ort from 'onnxruntime-web';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomWeights } from '../../../src/engine/parameters.ts';
import type { TensorMap } from '../../../src/engine/types.ts';
import { loadModel, saveModel } from '../../../src/exchange/model-folder.ts';
import { onnxDecoder } from '../../../src/exchange/onnx/onnx-decoder.ts';
import { onnxFile } from '../../../src/exchange/onnx/onnx-file.ts';
import { onnxFolder } from '../../../src/exchange/onnx/onnx-folder.ts';
import type { ModelConfig, ModelFiles } from '../../../src/records/model.ts';
import type { Figures } from '../../support/fixtures.ts';
import { float64Decoder } from '../../../src/engine/float64-decoder.ts';
import { mua } from '../../support/mua.ts';
import { logProbs, mostLikely, OnnxPlayer } from '../../support/onnx.ts';
import { TINY } from '../../support/tiny-config.ts';

async function folder(directory: string): Promise<ModelFiles> {
  const names = await readdir(directory);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(directory, name)))] as const)),
  );
}

interface Model {
  config: ModelConfig;
  weights: TensorMap;
  figures?: Figures;
}

async function fixture(name: string): Promise<Model> {
  const files = await folder(`tests/reference/fixtures/${name}`);
  return { ...loadModel(files), figures: JSON.parse(new TextDecoder().decode(files['figures.json'])) as Figures };
}

/** Weights that give distributions far from uniform, so that wrong numbers are noticed. */
function randomModel(change: Partial<ModelConfig>): Model {
  const config: ModelConfig = { ...TINY, vocab_size: 301, num_attention_heads: 4, num_key_value_heads: 2, ...change };
  const weights = randomWeights(config, 7);
  for (const [name, { data }] of weights)
    if (!name.includes('norm')) data.forEach((value, i) => (data[i] = value * 12 + (name.endsWith('bias') ? 0.1 * (i % 7) : 0)));
  return { config, weights };
}

/** Random weights with numbers of PyTorch. */
const FIXTURES: Record<string, () => Promise<Model>> = {
  'qwen3, tied': () => fixture('qwen3'),
  'qwen3, untied': () => fixture('qwen3-untied'),
  'qwen2, tied, with biases': () => fixture('qwen2'),
  'llama, tied': () => fixture('llama'),
  'llama, untied, with scaled rotary embeddings': () => fixture('llama3'),
};
const MODELS: Record<string, () => Promise<Model> | Model> = {
  ...FIXTURES,
  'qwen2, untied, random weights': () => randomModel({ model_type: 'qwen2', tie_word_embeddings: false }),
  'models/nano-retail': async () => loadModel(await folder('models/nano-retail')),
};
const LENGTH = 102;
const PROMPT = 40;
const STEPS = 100;

const largestDifference = (a: readonly number[], b: readonly number[]) => Math.max(...a.map((value, i) => Math.abs(value - b[i]!)));

describe.each(Object.entries(MODELS))('%s', (name, load) => {
  let model: Model;
  let player: OnnxPlayer;
  beforeAll(async () => {
    model = await load();
    player = await OnnxPlayer.open(ort, onnxFile(onnxDecoder(model.config, model.weights)), model.config);
  });
  afterAll(() => player.session.release());

  test('log-probs equal float64 to 1e-3, a prompt at once and then token by token', async () => {
    const tokens = Array.from({ length: LENGTH }, (_, i) => (i * i * 31 + i * 7 + 3) % model.config.vocab_size);
    const reference = float64Decoder(model.config, model.weights);
    const expected = logProbs(tokens.map(reference), tokens);
    player.reset();
    const [logits] = await player.append([tokens.slice(0, PROMPT)]);
    for (const token of tokens.slice(PROMPT)) logits!.push(...(await player.append([[token]]))[0]!);
    expect(expected.length).toBeGreaterThan(100);
    expect(largestDifference(logProbs(logits!, tokens), expected)).toBeLessThan(1e-3);
  });

  test('100 greedy tokens equal those of float64', async () => {
    const prompt = [1, 2, 3];
    const reference = float64Decoder(model.config, model.weights);
    let logits = prompt.map(reference).at(-1)!;
    const expected = Array.from({ length: STEPS }, () => {
      const token = mostLikely(logits);
      logits = reference(token);
      return token;
    });
    expect(await player.greedy(prompt, STEPS)).toEqual(expected);
  });

  if (!Object.hasOwn(FIXTURES, name)) return;
  test('log-probs and greedy tokens equal those of PyTorch', async () => {
    const figures = model.figures!;
    for (const { tokens, logprobs } of figures.sequences) {
      player.reset();
      const [logits] = await player.append([tokens]);
      const got = logProbs(logits!, tokens);
      expect(largestDifference(got, logprobs.slice(-got.length))).toBeLessThan(1e-3);
    }
    expect(await player.greedy(figures.greedy.prompt, figures.greedy.tokens.length)).toEqual(figures.greedy.tokens);
  });
});

test('a sequence that is padded on the left gets the same logits', async () => {
  const { config, weights } = await fixture('qwen3');
  const player = await OnnxPlayer.open(ort, onnxFile(onnxDecoder(config, weights)), config);
  const [long, short] = [
    [5, 6, 7, 8, 9, 10],
    [11, 12, 13],
  ];
  const [alone] = await player.append([short]);
  alone!.push(...(await player.append([[14]]))[0]!);
  player.reset(2);
  const [, padded] = await player.append(
    [long, [0, 0, 0, ...short]],
    [
      [1, 1, 1, 1, 1, 1],
      [0, 0, 0, 1, 1, 1],
    ],
  );
  padded!.push(...(await player.append([[20], [14]]))[1]!);
  for (const [i, row] of alone!.entries()) expect(largestDifference([...padded![3 + i]!], [...row])).toBeLessThan(1e-4);
  await player.session.release();
});

test.each(['qwen3', 'qwen2', 'llama3'])('float16 of %s is near PyTorch', async (name) => {
  const { config, weights, figures } = await fixture(name);
  const player = await OnnxPlayer.open(ort, onnxFile(onnxDecoder(config, weights, 'f16')), config, { cacheType: 'float16' });
  for (const { tokens, logprobs } of figures!.sequences) {
    player.reset();
    const [first] = await player.append([tokens.slice(0, -1)]);
    const logits = [...first!, ...(await player.append([tokens.slice(-1)]))[0]!];
    const got = logProbs(logits, tokens);
    expect(largestDifference(got, logprobs.slice(-got.length))).toBeLessThan(0.03);
  }
  await player.session.release();
});

describe('bad input', () => {
  test('a folder without a tokenizer', async () => {
    const files = saveModel(TINY, randomWeights(TINY, 1));
    expect(() => onnxFolder(files, 'f32')).toThrow('tokenizer.json is missing; the folder contains: config.json, model.safetensors');
  });

  test('a weight that float16 cannot hold', () => {
    const weights = randomWeights(TINY, 1);
    weights.get('model.norm.weight')!.data[3] = 70_000;
    expect(() => onnxDecoder(TINY, weights, 'f16')).toThrow(
      'tensor model.norm.weight: element 3 is 70000: expected at most 65504, the largest float16; choose f32',
    );
    expect(() => onnxDecoder(TINY, weights, 'f32')).not.toThrow();
  });

  test('a model of more than 2 GiB', () => {
    const huge = { name: 'w', type: 'float32' as const, shape: [600_000, 1000], data: () => expect.unreachable() };
    expect(() => onnxFile({ nodes: [], inputs: [], outputs: [], initializers: [huge] })).toThrow(
      'the ONNX file would have 2.24 GiB: expected less than 2 GiB',
    );
  });
});

describe('mua export', () => {
  let out: string;
  beforeAll(async () => {
    out = await mkdtemp(join(tmpdir(), 'mua-onnx-'));
  });
  afterAll(() => rm(out, { recursive: true, force: true }));

  test('writes the layout of transformers.js, and a second precision beside the first', async () => {
    for (const precision of ['f32', 'f16']) {
      const { code, stdout, stderr } = await mua(
        'export',
        '--format',
        'onnx',
        '--model',
        'models/nano-retail',
        '--out',
        out,
        '--precision',
        precision,
        '--json',
      );
      expect(stderr.replace(/^(building.*|\d\/5 files written .*)\n/gm, '')).toBe('');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ format: 'onnx', precision, out });
    }
    const source = await folder('models/nano-retail');
    expect((await readdir(out, { recursive: true })).sort()).toEqual([
      'config.json',
      'generation_config.json',
      'onnx',
      'onnx/model.onnx',
      'onnx/model_fp16.onnx',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    const read = async (name: string) => JSON.parse(await readFile(join(out, name), 'utf8')) as Record<string, unknown>;
    const original = (name: string) => JSON.parse(new TextDecoder().decode(source[name])) as Record<string, unknown>;
    expect(await read('config.json')).toEqual({
      ...original('config.json'),
      'transformers.js_config': { dtype: 'fp16', kv_cache_dtype: { fp16: 'float16' } },
    });
    const added = original('tokenizer.json').added_tokens as { id: number; content: string }[];
    const { eos_token_id } = await read('generation_config.json');
    expect(added.find(({ id }) => id === eos_token_id)?.content).toBe(original('tokenizer_config.json').eos_token);

    const { config, weights } = loadModel(source);
    const player = await OnnxPlayer.open(ort, new Uint8Array(await readFile(join(out, 'onnx/model.onnx'))), config);
    const [logits] = await player.append([[1, 2, 3]]);
    const reference = float64Decoder(config, weights);
    expect(largestDifference(logProbs(logits!, [1, 2, 3]), logProbs([1, 2, 3].map(reference), [1, 2, 3]))).toBeLessThan(1e-3);
    await player.session.release();
  });

  test.each([
    [['--precision', 'int8'], '--precision is "int8": expected f32, f16, bf16'],
    [['--format', 'gguf'], '--format is "gguf": expected onnx, hf, trl, verifiers, verl, skyrl'],
    [['--model', 'no-such-folder'], '--model is "no-such-folder": there is no such file or folder'],
  ])('refuses %j', async (flags, message) => {
    const rest = { '--format': 'onnx', '--model': 'models/nano-retail', '--out': out } as Record<string, string>;
    const args = Object.entries(rest).flatMap(([flag, value]) => (flag === flags[0] ? [] : [flag, value]));
    const { code, stderr } = await mua('export', ...args, ...flags);
    expect(stderr).toBe(`mua: ${message}\n`);
    expect(code).toBe(2);
  });
});
