/** @file The query of an address that is not the page's: each exhibit keeps its own. */
import { type Query, readQuery, type RouteName } from '../../src/app/routes/routes.ts';

export class SampleAddress {
  #query = $state.raw(new URLSearchParams());

  constructor(search: string) {
    this.#query = new URLSearchParams(search);
  }

  query<N extends RouteName>(name: N): Query<N> {
    return readQuery(name, this.#query);
  }

  setQuery(values: Record<string, string | number | null>): void {
    const query = new URLSearchParams(this.#query);
    for (const [name, value] of Object.entries(values)) query.set(name, String(value ?? ''));
    this.#query = query;
  }
}
