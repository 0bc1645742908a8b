/** @file Stand-ins for what pages share, so that components show states that the app itself is not in. */
import type { RunDatabase } from '../../storage/database.ts';
import type { RunEvent } from '../../training/types.ts';
import { type Query, readQuery, type Route, type RouteName } from '../logic/routes.ts';
import { Router } from '../state/router.svelte.ts';
import { type RunListener, TrainerClient } from '../state/trainer-client.svelte.ts';
import { BRANCHES, METRICS, ROLLOUTS, RUN } from './samples.ts';

type ClientState = Partial<Pick<TrainerClient, 'info' | 'activeRun' | 'status' | 'progress' | 'throughput' | 'otherTabTrains' | 'problem' | 'recovering' | 'evaluation'>>;

/** A trainer that never answers. Who listens hears of the sample run at once. */
export class SampleClient extends TrainerClient {
  constructor(state: ClientState) {
    super(() => new Promise(() => {}));
    Object.assign(this, state);
  }

  override subscribe(listener: RunListener): () => void {
    const events: RunEvent[] = [...METRICS.map((metrics) => ({ type: 'metrics' as const, metrics })), ...ROLLOUTS.map((rollout) => ({ type: 'rollout' as const, rollout }))];
    listener(RUN.id, events);
    return () => {};
  }
}

/** A place where the visitor is not. */
export class SampleRouter extends Router {
  readonly #route: Route;
  readonly #search: string;

  constructor(route: Route, search: string) {
    super();
    this.#route = route;
    this.#search = search;
  }

  override get route(): Route {
    return this.#route;
  }

  override query<N extends RouteName>(name: N): Query<N> {
    return readQuery(name, new URLSearchParams(this.#search));
  }
}

/** The two questions that the list of branches asks. */
export const BRANCH_DATABASE = {
  branches: {
    where: () => ({ equals: () => ({ sortBy: () => Promise.resolve(BRANCHES) }) }),
    filter: (wanted: (row: (typeof BRANCHES)[number]) => boolean) => ({ toArray: () => Promise.resolve(BRANCHES.filter(wanted)) }),
  },
} as unknown as RunDatabase;
