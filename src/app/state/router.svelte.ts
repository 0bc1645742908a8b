/** @file Where the visitor is. The one module that reads and writes the address. */
import { parseHash, type Place, type Route } from '../logic/routes.ts';

export class Router {
  #place = $state.raw<Place>(parseHash(location.hash));

  /** False on the page that was asked for first. */
  moved = false;

  constructor() {
    addEventListener('hashchange', () => {
      this.moved = true;
      this.#place = parseHash(location.hash);
    });
  }

  get route(): Route {
    return this.#place.route;
  }

  /** A value of the address's query, '' when it is not there. */
  query(name: string): string {
    return this.#place.query.get(name) ?? '';
  }

  /** Changes the query in place: no new entry in the history, no new page. '' removes the value. */
  setQuery(name: string, value: string): void {
    const query = new URLSearchParams(this.#place.query);
    if (value === '') query.delete(name);
    else query.set(name, value);
    const path = location.hash.split('?')[0] || '#/';
    const search = query.toString();
    history.replaceState(null, '', search ? `${path}?${search}` : path);
    this.#place = { ...this.#place, query };
  }
}
