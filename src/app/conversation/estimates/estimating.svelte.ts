/** @file The estimates of success next to the turns of a rollout: reads the stored ones and samples rollouts for new ones. */
import { untrack } from 'svelte';
import { prefixAt } from '../../../agent/prefix.ts';
import { path } from '../../../base/message-path.ts';
import type { BranchRow } from '../../../records/branch.ts';
import type { Trajectory } from '../../../records/trajectory.ts';
import type { UserConfig } from '../../../records/user.ts';
import type { AppState } from '../../state/app.svelte.ts';
import { writeOrigin } from '../../library/origin.ts';
import { refText, type Weights } from '../../library/weights.ts';
import { LiveQuery } from '../../kit/live-query.svelte.ts';
import { configOf, requestOf, rollOut } from '../../branches/play-request.ts';
import type { Sampled } from '../tokens/subject.ts';
import { type Estimate, estimatesOf, nearestWeights, type Players, streamsUsed } from './estimate.ts';

/** How many rollouts one request samples. */
export const ROLLOUTS = 8;

interface Running {
  /** The id of the turn's message. */
  node: number;
  /** How many rollouts of this turn are finished. */
  done: number;
  /** `turn`: which of the `turns` turns that the visitor asked for. */
  turn: number;
  turns: number;
}

export class Estimating {
  /** The turn for which rollouts are sampled now; null if none are. */
  running = $state.raw<Running | null>(null);
  problem = $state('');
  readonly #app: Pick<AppState, 'client' | 'library' | 'settings'>;
  readonly #trajectory: Trajectory;
  readonly #sampled: () => Sampled;
  readonly #origin: string;
  /** For each turn that the model sampled: the id of its message, and how many messages come before it. */
  readonly turns: ReadonlyMap<number, number>;
  readonly #rows: LiveQuery<BranchRow[]>;
  readonly #known: LiveQuery<Weights[]>;
  #stopped = false;

  /** Must be called while a component initializes, or inside `$effect.root`. */
  constructor(app: Pick<AppState, 'client' | 'library' | 'settings'>, trajectory: Trajectory, sampled: () => Sampled) {
    this.#app = app;
    this.#trajectory = trajectory;
    this.#sampled = sampled;
    const own = path(trajectory).filter(({ role, mask }) => role === 'assistant' && mask.includes(1));
    this.turns = new Map(own.map(({ id }) => [id, this.#prefix(id).nodes.length]));
    const origin = (this.#origin = writeOrigin({ place: untrack(sampled).run.id, id: trajectory.id }));
    this.#rows = new LiveQuery(() => app.library.branches(origin));
    this.#known = new LiveQuery(() => app.library.weights());
  }

  /** The weights that play the rollouts; null if the browser has no weights of the run. */
  readonly nearest = $derived.by(() => {
    const { run, step } = this.#sampled();
    return nearestWeights(run, step, this.#known.current ?? []);
  });

  /** The run's customer. If it is an endpoint, the endpoint of the settings is used, because the run's API key is not stored. */
  get #customer(): UserConfig {
    const { user } = this.#sampled().run.request;
    return $state.snapshot(user.mode === 'endpoint' ? this.#app.settings.user : user);
  }

  get #players(): Players | null {
    const customer = this.#customer;
    return (
      this.nearest && { weights: refText(this.nearest.weights.ref), customer: customer.mode === 'scripted' ? 'scripted' : customer.model }
    );
  }

  readonly #estimates = $derived.by(() => estimatesOf(this.#rows.current ?? [], this.#players));

  /** The stored estimate of a turn. */
  of(node: number): Estimate | undefined {
    return this.#estimates.get(this.turns.get(node) ?? -1);
  }

  /** The messages of the turns without an estimate by the present weights. */
  readonly missing = $derived.by(() => {
    const weights = this.#players?.weights;
    return [...this.turns.keys()].filter((node) => this.of(node)?.weights !== weights);
  });

  /** Why no turn can be estimated now; '' if turns can be estimated. */
  readonly reason = $derived.by(() => {
    if (!this.#known.answered || !this.#rows.answered) return 'Looking for the weights…';
    if (!this.nearest) return 'The weights of this run are not in this browser, so no rollouts can be sampled.';
    return this.#app.client.availability('play');
  });

  /** Samples rollouts from before each of the turns, one turn after another, until all are done or `stop` is called. */
  async estimate(nodes: readonly number[]): Promise<void> {
    if (this.running || this.reason !== '') return;
    this.#stopped = false;
    this.problem = '';
    try {
      for (const [i, node] of nodes.entries()) {
        if (this.#stopped) return;
        await this.#estimate({ node, done: 0, turn: i + 1, turns: nodes.length });
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== 'stopped') this.problem = message;
    } finally {
      this.running = null;
    }
  }

  /** Ends the sampling. The rollouts of the current turn are not stored. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.running) await this.#app.client.stopPlay();
  }

  async #estimate(running: Running): Promise<void> {
    this.running = running;
    const players = this.#players!;
    const { ref, name } = this.nearest!.weights;
    const { task } = this.#trajectory;
    const prefix = this.#prefix(running.node);
    const { run } = this.#sampled();
    const used = streamsUsed(await this.#app.library.branches(this.#origin), prefix.nodes.length, players);
    if (this.#stopped) return;
    const request = requestOf(
      { task, config: configOf(task, run.config), start: { trajectory: this.#trajectory } },
      { model: ref, simulator: this.#customer },
      prefix,
      used,
    );
    const played = await rollOut(
      this.#app,
      request,
      ROLLOUTS,
      ({ index }) => ({ origin: this.#origin, model: name, estimate: { ...players, stream: used + index } }),
      (done) => (this.running = { ...running, done }),
    );
    const failed = played.find(({ reward }) => reward === null);
    if (failed) this.problem = `A rollout has no reward and does not count: ${failed.error ?? failed.termination}.`;
  }

  /** The messages before a turn. */
  #prefix(node: number) {
    return prefixAt(this.#trajectory, node, 'agent');
  }
}
