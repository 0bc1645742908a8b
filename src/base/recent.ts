/** Keeps the `most` values that were used last, by key. */
export class Recent<K, V> {
  readonly #values = new Map<K, V>();

  constructor(private readonly most: number) {}

  /** The kept value, or else the new value that `make` gives. */
  get(key: K, make: () => V): V {
    const value = this.#values.has(key) ? this.#values.get(key)! : make();
    // The map is sorted by last use: the key moves to the end.
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size > this.most) this.#values.delete(this.#values.keys().next().value!);
    return value;
  }

  delete(key: K): void {
    this.#values.delete(key);
  }
}
