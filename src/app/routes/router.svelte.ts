/** @file The page that the visitor is on. Only this module reads and writes the address. */
import { parseHash, type Address, type Query, readQuery, type Route, type RouteName } from './routes.ts';
import { arrival, rememberedScroll, rememberScroll } from '../kit/scroll.ts';

export class Router {
  #address = $state.raw<Address>(parseHash(location.hash));

  /** The address of the shown page. Between a click and the event `hashchange`, `location` already has the next address. */
  #shown = location.hash;

  constructor() {
    rememberScroll(() => this.#shown);
    addEventListener('hashchange', () => {
      this.#shown = location.hash;
      arrival.moved = true;
      arrival.scrolled = rememberedScroll();
      this.#address = parseHash(location.hash);
    });
  }

  get address(): Address {
    return this.#address;
  }

  get route(): Route {
    return this.#address.route;
  }

  /** The query of the address with typed values, by the definition of the page `name`. */
  query<N extends RouteName>(name: N): Query<N> {
    return readQuery(name, this.#address.query);
  }

  /** Replaces values of the query, without a new history entry. '' and null remove a value. */
  setQuery(values: Record<string, string | number | null>): void {
    const query = new URLSearchParams(this.#address.query);
    for (const [name, value] of Object.entries(values)) {
      if (value === '' || value === null) query.delete(name);
      else query.set(name, String(value));
    }
    const path = location.hash.split('?')[0] || '#/';
    const search = query.toString();
    history.replaceState(history.state, '', search ? `${path}?${search}` : path);
    this.#shown = location.hash;
    this.#address = { ...this.#address, query };
  }
}
