/** @file The data of one run that the page shows. The rows are read from the storage once, and the trainer's events then add to them. */
import type { RolloutSummary } from '../../records/rollout.ts';
import type { RunRow } from '../../records/run.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { RunEvent } from '../../trainer/messages.ts';
import type { Group } from './groups.ts';
import type { Library } from '../library/library.ts';
import type { RunSource } from '../library/source.ts';
import { RolloutRows } from './rollout-rows.ts';
import { MetricSeries } from './series.ts';
import { TextIndex } from './text-index.ts';
import { LiveQuery } from '../kit/live-query.svelte.ts';
import type { TrainerClient } from '../clients/trainer-client.svelte.ts';

export class RunData {
  readonly id: string;
  /** Rises in each frame in which rollouts have changed. */
  version = $state(0);
  #measured = $state(0);
  loaded = $state(false);
  error = $state.raw<Error | null>(null);
  readonly series = new MetricSeries();
  /** The series for charts. It is a new object each time the series change. */
  readonly charted = $derived({ series: this.series, version: this.#measured });
  /** Full-text search in the stored trajectories. */
  readonly texts = new TextIndex({
    ids: () => this.#source.trajectoryIds(this.id),
    trajectories: (ids) => this.trajectories(ids),
  });

  readonly #source: RunSource;
  readonly #row: LiveQuery<RunRow | undefined>;
  /** The last row that the storage had. */
  #known: RunRow | undefined;
  readonly #client: Pick<TrainerClient, 'activeRun'>;
  /** Empty until all rollouts are loaded. */
  #rollouts = new RolloutRows();
  /** The rollouts of the group on the screen, which are loaded before all others. */
  #ahead = new RolloutRows();
  readonly #unsubscribe: () => void;
  #frame = 0;
  /** The changes that the page shows in the next frame. */
  #news = { metrics: false, rollouts: false };

  /** @param first the rollout or the group on the screen. It is loaded first, because a long run takes a while to load. */
  constructor(id: string, client: TrainerClient, library: Pick<Library, 'run' | 'source'>, first: { id?: string; group?: string } = {}) {
    this.id = id;
    this.#client = client;
    this.#source = library.source(id);
    this.#row = new LiveQuery(() => library.run(id));
    // Events that arrive while the rows are read are newer than the rows, so they are applied after them.
    const early: RunEvent[] = [];
    this.#unsubscribe = client.subscribe((run, events) => {
      if (run !== id) return;
      if (this.loaded) this.#take(events);
      else early.push(...events);
    });
    void this.#load(first).then(() => this.#take(early));
  }

  close(): void {
    this.#unsubscribe();
    cancelAnimationFrame(this.#frame);
  }

  /** The stored row. If the storage was cleared while this tab trains the run, the row that it had, so that the model can be downloaded. */
  get row(): RunRow | undefined {
    const row = this.#row.current;
    if (row) this.#known = row;
    return row ?? (this.#client.activeRun === this.id ? this.#known : undefined);
  }

  /** True if the storage has answered and has no such run. */
  get missing(): boolean {
    return this.#row.current === undefined && this.loaded && this.#row.answered;
  }

  /** The steps that have rollouts, in ascending order. */
  get steps(): number[] {
    void this.version;
    return this.#rollouts.steps();
  }

  /** The groups of a step. */
  groups(step: number): Group[] {
    void this.version;
    return this.#rollouts.groups(step);
  }

  group(id: string): Group | undefined {
    void this.version;
    return this.#rollouts.group(id) ?? this.#ahead.group(id);
  }

  /** All rollouts, in no particular order. */
  get rollouts(): RolloutSummary[] {
    void this.version;
    return this.#rollouts.all();
  }

  rollout(id: string): RolloutSummary | undefined {
    void this.version;
    return this.#rollouts.get(id) ?? this.#ahead.get(id);
  }

  /** The trajectory of a rollout. Undefined if it is not stored, because trajectories of old steps are deleted. */
  trajectory(id: string): Promise<Trajectory | undefined> {
    return this.#source.trajectory(this.id, id);
  }

  /** The trajectories in the order of `ids`; undefined for one that is not stored. */
  trajectories(ids: string[]): Promise<(Trajectory | undefined)[]> {
    return this.#source.trajectories(this.id, ids);
  }

  async #load(first: { id?: string; group?: string }): Promise<void> {
    try {
      this.#rollouts = await this.#read(first);
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    }
    this.#ahead = new RolloutRows();
    this.loaded = true;
    this.version += 1;
    this.#measured += 1;
  }

  async #read(first: { id?: string; group?: string }): Promise<RolloutRows> {
    const source = this.#source;
    const group = first.group ?? (first.id && (await source.rollout(this.id, first.id))?.group);
    if (group) {
      for (const rollout of await source.group(this.id, group)) this.#ahead.put(rollout);
      this.version += 1;
    }
    for (const metrics of await source.metrics(this.id)) this.series.put(metrics);
    this.#measured += 1;
    const rows = new RolloutRows();
    for (let page = await source.rolloutPage(this.id, ''); page.length > 0; page = await source.rolloutPage(this.id, page.at(-1)!.id))
      for (const rollout of page) rows.put(rollout);
    return rows;
  }

  #take(events: readonly RunEvent[]): void {
    for (const event of events) {
      // A run that resumes from a checkpoint plays the steps after the checkpoint again.
      const again = event.type === 'progress' && event.phase === 'compile';
      if (again) this.#forgetAfter(event.step);
      else if (event.type === 'metrics') this.series.put(event.metrics);
      else if (event.type === 'rollout') this.#rollouts.put(event.rollout);
      // Progress events arrive several times a second and change neither metrics nor rollouts.
      this.#news.metrics ||= again || event.type === 'metrics';
      this.#news.rollouts ||= again || event.type === 'rollout';
    }
    if (!this.#news.metrics && !this.#news.rollouts) return;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#measured += Number(this.#news.metrics);
      this.version += Number(this.#news.rollouts);
      this.#news = { metrics: false, rollouts: false };
    });
  }

  #forgetAfter(step: number): void {
    this.series.truncate(step);
    for (const id of this.#rollouts.forgetAfter(step)) this.texts.forget(id);
  }
}
