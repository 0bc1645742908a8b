/** @file Where the visitor is. The one module that reads and writes the address. */
import { parseHash, type Place, type Query, readQuery, type Route, type RouteName } from '../logic/routes.ts';
import { rememberedScroll, rememberScroll } from './scroll.ts';

export class Router {
  #place = $state.raw<Place>(parseHash(location.hash));

  /** False on the page that was asked for first. */
  moved = false;
  /** How far down the page was when it was left, in pixels. */
  scrolled = 0;

  constructor() {
    rememberScroll();
    addEventListener('hashchange', () => {
      this.moved = true;
      this.scrolled = rememberedScroll();
      this.#place = parseHash(location.hash);
    });
  }

  get place(): Place {
    return this.#place;
  }

  get route(): Route {
    return this.#place.route;
  }

  /** What the address's query says to the page `name`, every value of the right kind. */
  query<N extends RouteName>(name: N): Query<N> {
    return readQuery(name, this.#place.query);
  }

  /** Changes the query in place: no new entry in the history, no new page. '' and null remove the value. */
  setQuery(values: Record<string, string | number | null>): void {
    const query = new URLSearchParams(this.#place.query);
    for (const [name, value] of Object.entries(values)) {
      if (value === '' || value === null) query.delete(name);
      else query.set(name, String(value));
    }
    const path = location.hash.split('?')[0] || '#/';
    const search = query.toString();
    history.replaceState(history.state, '', search ? `${path}?${search}` : path);
    this.#place = { ...this.#place, query };
  }
}
