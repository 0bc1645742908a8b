/** @file Stand-ins for the shared state, so that components show states that the app is not in. */
import type { RunEvent } from '../../src/trainer/messages.ts';
import type { Library } from '../../src/app/library/library.ts';
import { type Query, readQuery, type Route, type RouteName } from '../../src/app/routes/routes.ts';
import { Router } from '../../src/app/routes/router.svelte.ts';
import { TrainerClient } from '../../src/app/clients/trainer-client.svelte.ts';
import type { RunListener } from '../../src/app/clients/trainer-requests.svelte.ts';
import { BRANCHES, LIVE, METRICS, ROLLOUTS, RUN } from './samples.ts';

type ClientState = Partial<
  Pick<TrainerClient, 'info' | 'activeRun' | 'status' | 'progress' | 'throughput' | 'otherTab' | 'problem' | 'recovering' | 'evaluation'>
>;

/** A trainer that never answers. A new subscriber receives the sample run's events at once. */
export class SampleClient extends TrainerClient {
  constructor(state: ClientState) {
    super(() => new Promise(() => {}));
    Object.assign(this, state);
  }

  override subscribe(listener: RunListener): () => void {
    const events: RunEvent[] = [
      ...METRICS.map((metrics) => ({ type: 'metrics' as const, metrics })),
      ...ROLLOUTS.map((rollout) => ({ type: 'rollout' as const, rollout })),
      { type: 'live', step: 25, heldOut: false, rollouts: LIVE },
    ];
    listener(RUN.id, events);
    return () => {};
  }
}

/** A router with a fixed route and query. */
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

/** Answers the queries of the list of branches. */
export const BRANCH_LIBRARY: Pick<Library, 'branches' | 'trainingSet'> = {
  branches: () => Promise.resolve(BRANCHES),
  trainingSet: () => Promise.resolve(BRANCHES.filter(({ conversation }) => conversation !== undefined)),
};
