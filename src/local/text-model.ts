/**
 * @file Generates text with transformers.js and ONNX Runtime. transformers.js gets every file from this page's storage or build. It never
 * uses the network itself.
 */
import '../base/content-policy.ts';
import {
  AutoModelForCausalLM,
  AutoTokenizer,
  type DynamicCache,
  env,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  random,
  StoppingCriteria,
  Tensor,
} from '@huggingface/transformers';
import runtimeWasm from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import runtimeScript from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import { parserReason } from '../base/input-error.ts';
import type { AddedToken } from '../base/text-pieces.ts';
import type { LocalConfig, OnnxDtype } from '../records/user.ts';
import type { Generated, Generation } from './api.ts';
import { ChatEncoder } from './encode-chat.ts';
import { checkFolder } from './check.ts';
import { KeptCaches } from './kept-caches.ts';
import { isOutOfMemory, LocalError } from './local-error.ts';
import type { ModelSource } from './open.ts';
import { onnxPath } from './precision.ts';

const PLACE = '/local-model/';
const TEMPLATE = 'chat_template.jinja';

env.allowRemoteModels = false;
env.allowLocalModels = true;
env.localModelPath = PLACE;
env.useBrowserCache = false;
env.useWasmCache = false;
const absolute = (url: string) => new URL(url, location.href).href;
env.backends.onnx.wasm!.wasmPaths = { mjs: absolute(runtimeScript), wasm: absolute(runtimeWasm) };

/** `breathe` lets this worker receive messages between two tokens. Without a GPU, the generation would never wait for anything. */
const { port1, port2 } = new MessageChannel();
const breathe = () =>
  new Promise<void>((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });

class Stop extends StoppingCriteria {
  isAsked = false;

  override _call(ids: number[][]): boolean[] {
    return ids.map(() => this.isAsked);
  }
}

export class TextModel {
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #model: PreTrainedModel;
  readonly #encoder: ChatEncoder;
  readonly #caches = new KeptCaches();
  /** The tokens that end a message. */
  readonly #ends: ReadonlySet<number>;
  /** The most tokens of a conversation. */
  readonly #length: number;
  #stop: Stop | null = null;

  private constructor(tokenizer: PreTrainedTokenizer, model: PreTrainedModel) {
    this.#tokenizer = tokenizer;
    const Same = tokenizer.constructor as new (json: object, config: object) => PreTrainedTokenizer;
    this.#encoder = new ChatEncoder(
      tokenizer,
      tokenizer._tokenizerJSON as { added_tokens: AddedToken[] },
      (json) => new Same(json, tokenizer._tokenizerConfig as object),
    );
    this.#model = model;
    this.#ends = new Set([model.generation_config?.eos_token_id ?? []].flat());
    const { max_position_embeddings: length } = model.config as { max_position_embeddings?: unknown };
    this.#length = typeof length === 'number' && length > 0 ? length : Infinity;
    const forward = model.forward.bind(model);
    model.forward = async (inputs: Record<string, unknown>) => {
      await breathe();
      return forward(inputs) as Promise<Record<string, unknown>>;
    };
  }

  /** @throws LocalError */
  static async load({ model: name, precision, device }: LocalConfig, { paths, file }: ModelSource): Promise<TextModel> {
    await checkFolder({ model: name, precision }, paths, async (path) => (await file(path))!.text());
    if (device === 'webgpu') await checkGpu(name, precision);
    // Each model gets a different name, because transformers.js caches files by name.
    const id = `model-${crypto.randomUUID()}`;
    env.fetch = async (input: URL | RequestInfo) => {
      const path = decodeURIComponent(String(input).slice(`${PLACE}${id}/`.length));
      return (paths.includes(path) ? await file(path) : null) ?? new Response(null, { status: 404 });
    };
    const tokenizer = await loading(name, 'tokenizer.json', 'a tokenizer of transformers', () => AutoTokenizer.from_pretrained(id));
    // transformers.js reads a template only from tokenizer_config.json, not from a separate file.
    if (paths.includes(TEMPLATE)) tokenizer.chat_template = await (await file(TEMPLATE))!.text();
    const model = await loading(name, onnxPath(precision), 'a text-generation model with a KV cache', () =>
      AutoModelForCausalLM.from_pretrained(id, { device, dtype: precision }),
    );
    return new TextModel(tokenizer, model);
  }

  /** Ends the current generation after its next token. */
  stop(): void {
    if (this.#stop) this.#stop.isAsked = true;
  }

  /** @throws LocalError: `cancelled` after `stop`, `memory`, `length`, `files` if the chat template fails, `device` if the model fails */
  async generate(request: Generation): Promise<Generated> {
    const { conversation, maxTokens, temperature, seed } = request;
    const inputs = this.#encode(request);
    const prompt = idsOf(inputs.input_ids);
    const room = this.#length - prompt.length;
    if (room < 1) throw new LocalError(`the conversation has ${prompt.length} tokens: expected fewer than ${this.#length}`, 'length');
    const stop = (this.#stop = new Stop());
    const past = await this.#caches.take(conversation, prompt);
    random.seed(seed);
    try {
      const { sequences, past_key_values } = (await this.#model.generate({
        ...inputs,
        max_new_tokens: Math.min(maxTokens, room),
        ...(temperature !== null && (temperature > 0 ? { do_sample: true, temperature, top_k: 0 } : { do_sample: false })),
        stopping_criteria: [stop],
        return_dict_in_generate: true,
        ...(past && { past_key_values: past }),
      } as Record<string, unknown>)) as { sequences: Tensor; past_key_values: DynamicCache };
      const ids = idsOf(sequences);
      await this.#caches.keep(conversation, ids, past_key_values);
      if (stop.isAsked) throw new LocalError('the generation was cancelled', 'cancelled');
      const made = ids.slice(prompt.length);
      const isEnded = this.#ends.has(made.at(-1)!);
      const text = this.#tokenizer.decode(isEnded ? made.slice(0, -1) : made, { skip_special_tokens: false });
      return { text, isCut: !isEnded, promptTokens: prompt.length, tokens: made.length };
    } catch (error) {
      if (error instanceof LocalError) throw error;
      if (isOutOfMemory(error)) throw new LocalError(`memory ran out at ${prompt.length} tokens: expected a smaller model`, 'memory');
      throw new LocalError(`the model failed (${parserReason(error)}): expected the next token`, 'device');
    } finally {
      this.#stop = null;
    }
  }

  #encode(request: Generation): { input_ids: Tensor; attention_mask: Tensor } {
    try {
      const ids = this.#encoder.encode(request).map(BigInt);
      const shape = [1, ids.length];
      return {
        input_ids: new Tensor('int64', ids, shape),
        attention_mask: new Tensor(
          'int64',
          ids.map(() => 1n),
          shape,
        ),
      };
    } catch (error) {
      throw new LocalError(
        `the chat template fails (${parserReason(error)}): expected a prompt of ${request.messages.length} messages`,
        'files',
      );
    }
  }
}

const idsOf = ({ data }: Tensor): number[] => Array.from(data as BigInt64Array, Number);

/** @throws LocalError that names the file */
async function loading<T>(name: string, path: string, expected: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (isOutOfMemory(error))
      throw new LocalError(`memory ran out while ${path} of "${name}" was loaded: expected a smaller model or precision`, 'memory');
    throw new LocalError(`${path} of "${name}" cannot be loaded (${parserReason(error)}): expected ${expected}`, 'files');
  }
}

/** @throws LocalError (`device`) if this browser has no GPU, or if the precision needs 16-bit floats and the GPU has none */
async function checkGpu(name: string, precision: OnnxDtype): Promise<void> {
  const adapter = await (navigator.gpu as GPU | undefined)?.requestAdapter();
  if (!adapter) throw new LocalError(`this browser has no WebGPU for "${name}": expected the device WASM`, 'device');
  if (precision.endsWith('f16') || precision === 'fp16')
    if (!adapter.features.has('shader-f16'))
      throw new LocalError(`this GPU has no 16-bit floats for "${name}" in ${precision}: expected q4, q8 or fp32`, 'device');
}
