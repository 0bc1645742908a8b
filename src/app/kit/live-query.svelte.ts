/** @file A Dexie query as reactive state: the query runs again when its rows change. Meant for lists, not for charts. */
import { liveQuery } from 'dexie';
import { createSubscriber } from 'svelte/reactivity';

export class LiveQuery<T> {
  #value: T | undefined;
  #error: Error | null = null;
  #answered = false;
  readonly #subscribe: () => void;

  constructor(query: () => Promise<T>) {
    this.#subscribe = createSubscriber((update) => {
      const subscription = liveQuery(query).subscribe({
        next: (value) => {
          this.#value = value;
          this.#error = null;
          this.#answered = true;
          update();
        },
        error: (error: unknown) => {
          this.#error = error instanceof Error ? error : new Error(String(error));
          this.#answered = true;
          update();
        },
      });
      return () => subscription.unsubscribe();
    });
  }

  /** The newest answer; undefined before the first one. */
  get current(): T | undefined {
    this.#subscribe();
    return this.#value;
  }

  get error(): Error | null {
    this.#subscribe();
    return this.#error;
  }

  /** True once the storage has answered, with rows or an error. */
  get answered(): boolean {
    this.#subscribe();
    return this.#answered;
  }
}
