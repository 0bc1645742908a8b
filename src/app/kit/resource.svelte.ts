/** @file The answer of an asynchronous request as reactive state. For queries of the browser's storage, see LiveQuery. */
import { untrack } from 'svelte';

/**
 * Loads a value for a reactive source. When the source changes, the request for the earlier source is aborted and its
 * answer is ignored. Must be created while a component initializes, or inside `$effect.root`.
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
   * @param source returns the source, which is compared by identity: return a primitive value if an object would be new each time.
   * `undefined` means that there is nothing to load
   * @param load loads the value. It may ignore `signal`: after an abort, its answer is ignored
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
      // untrack: reactive values that `load` reads do not become part of the source. `new Promise` turns a synchronous error into a
      // rejection.
      void new Promise<T>((resolve) => resolve(untrack(() => load(request.source as S, abort.signal)))).then(
        (value) => answer(value, null),
        (error: unknown) => answer(undefined, error instanceof Error ? error : new Error(String(error))),
      );
      return () => abort.abort();
    });
  }

  /** The newest answer, which stays while the next request runs. Undefined before the first answer and after an error. */
  get current(): T | undefined {
    return this.#request.source === undefined ? undefined : this.#answer?.value;
  }

  /** The error of the newest finished request; null if it did not fail. */
  get error(): Error | null {
    return this.#request.source === undefined ? null : (this.#answer?.error ?? null);
  }

  /** True while the request for the current source runs. */
  get stale(): boolean {
    return this.#request.source !== undefined && this.#answer?.request !== this.#request;
  }

  /** `current` if it belongs to the current source, else undefined. */
  get fresh(): T | undefined {
    return this.stale ? undefined : this.current;
  }
}
