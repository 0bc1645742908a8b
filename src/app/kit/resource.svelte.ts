/** @file The answer of an asynchronous request as reactive state. For queries of the browser's storage, see LiveQuery. */
import { untrack } from 'svelte';

/**
 * Loads a value for a reactive source. When the source changes, the request for the earlier source is aborted and its
 * answer is ignored. Create it while a component initializes, or inside `$effect.root`.
 *
 * @example
 * const row = new Resource(() => key, (key, signal) => fetchRow(key, signal));
 * // In markup: {#if row.error} … {:else if row.current} …
 */
export class Resource<S, T> {
  readonly #read: () => S | undefined;
  readonly #source = $derived.by(() => this.#read());
  readonly #request = $derived({ source: this.#source });
  #answer = $state.raw<{ request: object; value?: T | undefined; error: Error | null } | null>(null);

  /**
   * @param source is compared by identity, so pass a primitive value where an object would be new each time;
   * `undefined` means that there is nothing to load
   * @param load may run to its end after `signal` is aborted; its answer is ignored then
   */
  constructor(source: () => S | undefined, load: (source: S, signal: AbortSignal) => Promise<T>) {
    this.#read = source;
    $effect(() => {
      const request = this.#request;
      if (request.source === undefined) return;
      const abort = new AbortController();
      const answer = (value: T | undefined, error: Error | null) => {
        if (!abort.signal.aborted) this.#answer = { request, value, error };
      };
      // What `load` reads does not become part of the source. The constructor of Promise turns an immediate error into a rejection.
      void new Promise<T>((resolve) => resolve(untrack(() => load(request.source as S, abort.signal)))).then(
        (value) => answer(value, null),
        (error: unknown) => answer(undefined, error instanceof Error ? error : new Error(String(error))),
      );
      return () => abort.abort();
    });
  }

  /** The newest answer. While the next request runs, this is still the answer before. Undefined before the first answer and after an error. */
  get current(): T | undefined {
    return this.#request.source === undefined ? undefined : this.#answer?.value;
  }

  /** Why the newest answered request failed. */
  get error(): Error | null {
    return this.#request.source === undefined ? null : (this.#answer?.error ?? null);
  }

  /** True while the request for the present source runs. */
  get stale(): boolean {
    return this.#request.source !== undefined && this.#answer?.request !== this.#request;
  }

  /** `current` if it belongs to the present source, else undefined. */
  get fresh(): T | undefined {
    return this.stale ? undefined : this.current;
  }
}
