/** @file Keeps the KV caches of conversations, so that a turn computes keys and values only for its new tokens. */
import type { DynamicCache, Tensor } from '@huggingface/transformers';

/** Maximum bytes of all kept caches. The conversation that was used longest ago is dropped first. */
const MOST_BYTES = 256 * 2 ** 20;

const bytesOf = (cache: DynamicCache) =>
  (Object.values(cache) as Tensor[]).reduce((sum, { size, type }) => sum + size * (type === 'float16' ? 2 : 4), 0);

export class KeptCaches {
  /** Conversation → its tokens and its KV cache. The conversation that was used longest ago is first. */
  readonly #kept = new Map<string, { ids: readonly number[]; cache: DynamicCache; bytes: number }>();

  constructor(private readonly mostBytes = MOST_BYTES) {}

  /**
   * Removes the cache of the conversation and returns it, for a generation that continues it. Null if no cache is kept. Also null if the
   * new prompt does not begin with all tokens of the cache: templates such as Qwen3's remove thoughts from earlier messages.
   */
  async take(conversation: string, prompt: readonly number[]): Promise<DynamicCache | null> {
    const kept = this.#kept.get(conversation);
    if (!kept) return null;
    this.#kept.delete(conversation);
    if (kept.ids.length < prompt.length && kept.ids.every((id, i) => id === prompt[i])) return kept.cache;
    await kept.cache.dispose();
    return null;
  }

  async keep(conversation: string, ids: readonly number[], cache: DynamicCache): Promise<void> {
    this.#kept.set(conversation, { ids, cache, bytes: bytesOf(cache) });
    let bytes = [...this.#kept.values()].reduce((sum, kept) => sum + kept.bytes, 0);
    for (const [oldest, kept] of this.#kept) {
      if (bytes <= this.mostBytes) return;
      this.#kept.delete(oldest);
      bytes -= kept.bytes;
      await kept.cache.dispose();
    }
  }
}
