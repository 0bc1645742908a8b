/**
 * Our ONNX export in transformers.js, in the browser: `pipeline('text-generation')` and the worker of customers in the tab
 * write the greedy tokens of the float64 reference, on WASM and on WebGPU, also with the KV cache of the turn before.
 */
import { AutoTokenizer, env, pipeline } from '@huggingface/transformers';
import runtimeScript from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import runtimeWasm from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTokenizer } from '../../src/agent/tokenizer.ts';
import { exportFolder } from '../../src/trainer/export-folder.ts';
import { filesFromGguf } from '../../src/exchange/gguf/gguf-folder.ts';
import { loadModel } from '../../src/exchange/model-folder.ts';
import { onnxFolder } from '../../src/exchange/onnx/onnx-folder.ts';
import type { Generation } from '../../src/local/api.ts';
import { keepFiles } from '../../src/local/folder.ts';
import { keepModel, removeModel, storedFile } from '../../src/local/library.ts';
import { type ModelWorker, spawnModelWorker } from '../../src/local/spawn.ts';
import type { ModelFiles } from '../../src/records/model.ts';
import type { LocalConfig } from '../../src/records/user.ts';
import { float64Decoder } from '../../src/engine/float64-decoder.ts';
import { mostLikely } from '../support/onnx.ts';
import gguf from '../reference/fixtures/gguf/llama.gguf?url';

const urls = import.meta.glob<string>('../../models/nano-retail/*', { query: '?url', import: 'default', eager: true });
const NAME = 'nano-retail';
const MODEL: Omit<LocalConfig, 'device'> = { source: 'folder', model: NAME, precision: 'fp32' };
const TOKENS = 24;

/** The greedy tokens that follow, in float64. */
type Reference = (tokens: readonly number[]) => number[];
let folder: ModelFiles;
let reference: Reference;

function referenceOf(files: ModelFiles): Reference {
  const { config, weights } = loadModel(files);
  return (tokens) => {
    const decode = float64Decoder(config, weights);
    let logits = tokens.map(decode).at(-1)!;
    return Array.from({ length: TOKENS }, () => {
      const token = mostLikely(logits);
      logits = decode(token);
      return token;
    });
  };
}

beforeAll(async () => {
  const files: ModelFiles = {};
  for (const [path, url] of Object.entries(urls)) files[path.split('/').at(-1)!] = new Uint8Array(await (await fetch(url)).arrayBuffer());
  folder = onnxFolder(files, 'f32');
  reference = referenceOf(files);
  await keepFiles(NAME, 'fp32', folder);
  Object.assign(env, {
    allowRemoteModels: false,
    allowLocalModels: true,
    localModelPath: '/exported/',
    useBrowserCache: false,
    useWasmCache: false,
    fetch: async (input: URL | RequestInfo) => {
      const bytes = folder[String(input).slice('/exported/model/'.length)];
      return new Response(bytes as Uint8Array<ArrayBuffer> | undefined, { status: bytes ? 200 : 404 });
    },
  });
  const address = (url: string) => new URL(url, location.href).href;
  env.backends.onnx.wasm!.wasmPaths = { mjs: address(runtimeScript), wasm: address(runtimeWasm) };
});

afterAll(() => removeModel(MODEL));

test('pipeline("text-generation") writes the greedy tokens of float64', async () => {
  const generate = await pipeline('text-generation', 'model', { dtype: 'fp32', device: 'wasm' });
  const prompt = 'I want to return my';
  const ids = generate.tokenizer.encode(prompt);
  const [{ generated_text: text }] = (await generate(prompt, {
    max_new_tokens: TOKENS,
    do_sample: false,
    return_full_text: false,
    skip_special_tokens: false,
  })) as unknown as [{ generated_text: string }];
  const expected = generate.tokenizer.decode(reference(ids), { skip_special_tokens: false });
  expect(expected.length).toBeGreaterThan(20);
  expect(expected.startsWith(text)).toBe(true);
  expect(text.length).toBeGreaterThan(20);
  await generate.dispose();
});

// WebGPU on a processor takes half a second or more for a token.
describe.each([
  ['wasm', TOKENS],
  ['webgpu', 4],
] as const)('the worker on %s', (device, maxTokens) => {
  let worker: ModelWorker;
  const request = (change: Partial<Generation>): Generation => ({
    conversation: 'a',
    messages: [{ role: 'user', content: 'Hello' }],
    tools: [],
    maxTokens,
    temperature: 0,
    seed: 1,
    ...change,
  });
  const ask = async (change: Partial<Generation>) => {
    const outcome = await worker.model.generate(request(change));
    if ('failure' in outcome) throw new Error(outcome.failure.message);
    return outcome.value;
  };

  beforeAll(async () => {
    worker = spawnModelWorker();
    expect(await worker.model.load({ mode: 'local', ...MODEL, device } as LocalConfig)).toEqual({ value: null });
  });
  afterAll(() => worker.terminate());

  test('writes the greedy tokens of float64, also with the cache of the turn before', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained('model');
    const messages: Generation['messages'] = [{ role: 'user', content: 'Hello' }];
    for (const said of ['I want to return my order.', 'Yes, please.']) {
      const cached = await ask({ messages });
      const fresh = await ask({ messages, conversation: crypto.randomUUID() });
      expect(cached).toEqual(fresh);
      const { input_ids } = tokenizer.apply_chat_template(messages, { add_generation_prompt: true, return_dict: true }) as unknown as {
        input_ids: { data: BigInt64Array };
      };
      const expected = reference(Array.from(input_ids.data, Number));
      const written = expected.slice(0, cached.isCut ? maxTokens : cached.tokens - 1);
      expect(cached.text).toBe(tokenizer.decode(written, { skip_special_tokens: false }));
      messages.push({ role: 'assistant', content: cached.text }, { role: 'user', content: said });
    }
  });

  // On the GPU, no part of a cache is kept.
  test.runIf(device === 'wasm')('a prompt that changes the message before gets the same words with the cache as without', async () => {
    const messages: Generation['messages'] = [{ role: 'user', content: 'Hello' }];
    const conversation = crypto.randomUUID();
    for (const said of ['I want to return my order.', 'Yes, please.']) {
      const { text } = await ask({ messages, conversation });
      // As templates that remove thoughts.
      messages.push({ role: 'assistant', content: `${text} Well.` }, { role: 'user', content: said });
      const fresh = await ask({ messages, conversation: crypto.randomUUID() });
      expect(await ask({ messages, conversation })).toEqual(fresh);
    }
  });

  test('a conversation that is longer than the context of the model is refused, and the next one is played', async () => {
    const outcome = await worker.model.generate(request({ messages: [{ role: 'user', content: 'Hello there. '.repeat(5000) }] }));
    expect(outcome).toMatchObject({ failure: { kind: 'length', isFatal: false } });
    expect((await ask({})).tokens).toBeGreaterThan(0);
  });

  test('the same seed gives the same words, another seed gives others', async () => {
    const sampled = async (seed: number) => (await ask({ temperature: 3, seed, conversation: crypto.randomUUID() })).text;
    const first = await sampled(3);
    expect(await sampled(3)).toBe(first);
    expect(await sampled(4)).not.toBe(first);
  });

  test('a generation can be stopped', async () => {
    const stopped = worker.model.generate(request({ maxTokens: 400, temperature: 3, conversation: 'b' }));
    await worker.model.stop();
    expect(await stopped).toMatchObject({ failure: { kind: 'cancelled' } });
    expect((await ask({})).tokens).toBeGreaterThan(0);
  });
});

test('a llama from a GGUF file says a turn: the greedy tokens of float64 after the prompt that its own template writes', async () => {
  const file = { 'llama.gguf': new Uint8Array(await (await fetch(gguf)).arrayBuffer()) };
  const files: ModelFiles = { ...file, ...((await filesFromGguf(file)) as ModelFiles) };
  const model = { ...MODEL, model: 'llama' };
  await keepFiles('llama', 'fp32', await exportFolder(files, { format: 'onnx', precision: 'f32' }));
  const worker = spawnModelWorker();
  try {
    expect(await worker.model.load({ mode: 'local', ...model, device: 'wasm' } as LocalConfig)).toEqual({ value: null });
    const messages: Generation['messages'] = [
      { role: 'system', content: "In 1984 they said: “it's 12.50”." },
      { role: 'user', content: "WE'LL see 007" },
    ];
    const said = await worker.model.generate({ conversation: 'a', messages, tools: [], maxTokens: TOKENS, temperature: 0, seed: 1 });
    const tokenizer = await openTokenizer(files);
    // As gguf_files.py writes the template.
    const turns = messages.map(({ role, content }) => `<|im_start|>${role}\n${content}<|im_end|>\n`);
    const prompt = tokenizer.encode(`${turns.join('')}<|im_start|>assistant\n`);
    const expected = referenceOf(files)(prompt);
    const end = expected.indexOf(tokenizer.id('<|im_end|>'));
    const tokens = end < 0 ? TOKENS : end + 1;
    const text = tokenizer.decode(end < 0 ? expected : expected.slice(0, end));
    expect(said).toEqual({ value: { text, isCut: end < 0, promptTokens: prompt.length, tokens } });
  } finally {
    worker.terminate();
    await removeModel(model);
  }
});

// Chromium without a display stores no entry of 300 MB.
test.each([0, 2 ** 26, 2 ** 26 + 5, 300_000_000])('a file of %i bytes is stored and comes back as it was', async (bytes) => {
  const model = { ...MODEL, model: 'large' };
  const piece = Uint8Array.from({ length: 1_000_003 }, (_, i) => i % 251);
  const expected = new Uint8Array(bytes);
  for (let from = 0; from < bytes; from += piece.length) expected.set(piece.subarray(0, bytes - from), from);
  let from = 0;
  const content = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (from === bytes) return controller.close();
      controller.enqueue(expected.slice(from, (from = Math.min(bytes, from + piece.length))));
    },
  });
  const loaded: number[] = [];
  try {
    await keepModel(model, [{ path: 'a/b.onnx', bytes, open: async () => content }], (done) => loaded.push(done));
    expect(loaded.at(-1) ?? 0).toBe(bytes);
    const file = (await storedFile(model, 'a/b.onnx'))!;
    expect(Number(file.headers.get('Content-Length'))).toBe(bytes);
    const digest = async (data: ArrayBuffer) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', data))];
    const back = await file.arrayBuffer();
    expect(back.byteLength).toBe(bytes);
    expect(await digest(back)).toEqual(await digest(expected.buffer));
    expect(await storedFile(model, 'a/c.onnx')).toBeNull();
  } finally {
    await removeModel(model);
  }
});
