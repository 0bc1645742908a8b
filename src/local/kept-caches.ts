/** @file Keeps the KV caches of conversations, so that a turn computes keys and values only for its new tokens. */
import type { DynamicCache, Tensor } from '@huggingface/transformers';

/** Maximum bytes of all kept caches. The conversation that was used longest ago is dropped first. */
const MOST_BYTES = 256 * 2 ** 20;

const tensorsOf = (cache: DynamicCache) => Object.entries(cache) as [string, Tensor][];

const bytesOf = (cache: DynamicCache) => tensorsOf(cache).reduce((sum, [, { size, type }]) => sum + size * (type === 'float16' ? 2 : 4), 0);

export class KeptCaches {
  /** Conversation → its tokens and its KV cache. The conversation that was used longest ago is first. */
  readonly #kept = new Map<string, { ids: readonly number[]; cache: DynamicCache; bytes: number }>();

  constructor(private readonly mostBytes = MOST_BYTES) {}

  /**
   * Removes the cache of the conversation and returns the part that the new prompt begins with, for a generation that continues it. The
   * prompt may differ at the end: templates such as Qwen3's remove thoughts from earlier messages. Null if no such part is kept.
   */
  async take(conversation: string, prompt: readonly number[]): Promise<DynamicCache | null> {
    const kept = this.#kept.get(conversation);
    this.#kept.delete(conversation);
    await this.#shrink();
    if (!kept) return null;
    const differs = kept.ids.findIndex((id, i) => id !== prompt[i]);
    const same = Math.min(differs < 0 ? kept.ids.length : differs, prompt.length - 1);
    if (same === kept.ids.length || cutTo(kept.cache, same)) return kept.cache;
    await kept.cache.dispose();
    return null;
  }

  /** Keeps the cache at least until another conversation needs its memory. */
  async keep(conversation: string, ids: readonly number[], cache: DynamicCache): Promise<void> {
    this.#kept.set(conversation, { ids, cache, bytes: bytesOf(cache) });
    await this.#shrink(1);
  }

  /** Drops the oldest caches until the others have at most `mostBytes`. @param spared the number of the newest caches that stay anyway */
  async #shrink(spared = 0): Promise<void> {
    let bytes = [...this.#kept.values()].reduce((sum, kept) => sum + kept.bytes, 0);
    for (const [oldest, kept] of this.#kept) {
      if (bytes <= this.mostBytes || this.#kept.size <= spared) return;
      this.#kept.delete(oldest);
      bytes -= kept.bytes;
      await kept.cache.dispose();
    }
  }
}

/**
 * Cuts keys and values in place to their first `length` tokens. Returns false if this is impossible: the tensors are on the GPU, or the model
 * also keeps a state that holds all tokens at once.
 */
function cutTo(cache: DynamicCache, length: number): boolean {
  const tensors = tensorsOf(cache);
  const cached = cache.get_seq_length();
  const isCuttable = ([name, { location, dims }]: [string, Tensor]) =>
    location === 'cpu' && dims.length === 4 && dims[2] === cached && /\.(key|value)$/.test(name);
  if (length < 1 || !tensors.every(isCuttable)) return false;
  if (cached <= length) return true;
  for (const [name, { data, dims, type, constructor }] of tensors) {
    const [batch, heads, , width] = dims as [number, number, number, number];
    const source = data as Float32Array;
    const cut = new (source.constructor as Float32ArrayConstructor)(batch * heads * length * width);
    for (let row = 0; row < batch * heads; row++)
      cut.set(source.subarray(row * cached * width, (row * cached + length) * width), row * length * width);
    cache[name] = new (constructor as new (type: string, data: unknown, dims: number[]) => Tensor)(type, cut, [
      batch,
      heads,
      length,
      width,
    ]);
  }
  return true;
}
