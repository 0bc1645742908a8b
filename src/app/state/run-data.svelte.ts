/** @file All the page shows of one run: rows read once, then the trainer's events. Recorded runs come from their file. */
import { Dexie } from 'dexie';
import type { Trajectory } from '../../agent/types.ts';
import type { RunDatabase, RunRow } from '../../storage/database.ts';
import { beginningWith } from '../../storage/key-range.ts';
import type { RolloutSummary, RunEvent } from '../../training/types.ts';
import type { Group } from '../logic/groups.ts';
import { RECORDED, recordedRun } from '../logic/recorded.ts';
import { RolloutRows } from '../logic/rollout-rows.ts';
import { MetricSeries } from '../logic/series.ts';
import { TextIndex } from '../rollouts/text-index.ts';
import { LiveQuery } from './live-query.svelte.ts';
import type { TrainerClient } from './trainer-client.svelte.ts';

/** Rows read at once: small enough that the page answers in between. */
const CHUNK = 5000;

export class RunData {
  readonly id: string;
  /** Changes at most once a frame, when rollouts have. */
  version = $state(0);
  #measured = $state(0);
  loaded = $state(false);
  error = $state.raw<Error | null>(null);
  readonly series = new MetricSeries();
  /** For charts: another object when the series have grown, and only then. */
  readonly charted = $derived({ series: this.series, version: this.#measured });
  /** The words of the trajectories that are kept. */
  readonly texts = new TextIndex({ ids: () => this.#kept(), trajectories: (ids) => this.trajectories(ids) });

  readonly #db: RunDatabase;
  readonly #row: LiveQuery<RunRow | undefined>;
  #recordedRow = $state.raw<RunRow>();
  /** None before all are read. */
  #rollouts = new RolloutRows();
  /** The group that was asked for first. */
  #ahead = new RolloutRows();
  readonly #unsubscribe: () => void;
  #frame = 0;
  /** What the next frame is to tell. */
  #news = { metrics: false, rollouts: false };

  /** @param first the rollout or the group that is on screen: it can be a long time before all are read */
  constructor(id: string, client: TrainerClient, db: RunDatabase, first: { id?: string; group?: string } = {}) {
    this.id = id;
    this.#db = db;
    this.#row = new LiveQuery(() => db.runs.get(id));
    // Events of a stored row that arrive while it is being read are the newer ones.
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

  get row(): RunRow | undefined {
    return this.id === RECORDED ? this.#recordedRow : this.#row.current;
  }

  /** True when storage has answered and there is no such run. */
  get missing(): boolean {
    return this.row === undefined && this.loaded && (this.id === RECORDED || this.#row.answered);
  }

  /** Steps that have rollouts, ascending. */
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

  /** Every rollout, in no order that matters. */
  get rollouts(): RolloutSummary[] {
    void this.version;
    return this.#rollouts.all();
  }

  rollout(id: string): RolloutSummary | undefined {
    void this.version;
    return this.#rollouts.get(id) ?? this.#ahead.get(id);
  }

  /** The whole trajectory, or undefined: those of old steps are not kept. */
  async trajectory(id: string): Promise<Trajectory | undefined> {
    if (this.id === RECORDED) return (await recordedRun())?.trajectories.get(id);
    return this.#db.trajectories.get([this.id, id]);
  }

  async trajectories(ids: string[]): Promise<(Trajectory | undefined)[]> {
    if (this.id === RECORDED) return Promise.all(ids.map((id) => this.trajectory(id)));
    return this.#db.trajectories.bulkGet(ids.map((id): [string, string] => [this.id, id]));
  }

  async #kept(): Promise<string[]> {
    if (this.id === RECORDED) return [...((await recordedRun())?.trajectories.keys() ?? [])];
    const keys = await beginningWith(this.#db.trajectories, this.id).primaryKeys();
    return keys.map(([, id]) => id);
  }

  async #load(first: { id?: string; group?: string }): Promise<void> {
    try {
      this.#rollouts = this.id === RECORDED ? await this.#recorded() : await this.#stored(first);
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    }
    this.#ahead = new RolloutRows();
    this.loaded = true;
    this.version += 1;
    this.#measured += 1;
  }

  async #recorded(): Promise<RolloutRows> {
    const recorded = await recordedRun();
    this.#recordedRow = recorded?.run;
    for (const metrics of recorded?.metrics ?? []) this.series.put(metrics);
    const rows = new RolloutRows();
    for (const rollout of recorded?.rollouts ?? []) rows.put(rollout);
    return rows;
  }

  async #stored(first: { id?: string; group?: string }): Promise<RolloutRows> {
    const group = first.group ?? (first.id && (await this.#db.rollouts.get([this.id, first.id]))?.group);
    if (group) {
      for (const rollout of await this.#db.rollouts.where('[run+group]').equals([this.id, group]).toArray()) this.#ahead.put(rollout);
      this.version += 1;
    }
    for (const { values } of await beginningWith(this.#db.metrics, this.id).toArray()) this.series.put(values);
    this.#measured += 1;
    const rows = new RolloutRows();
    for (let after = '', full = true; full; ) {
      const chunk = await this.#db.rollouts.where('[run+id]').between([this.id, after], [this.id, Dexie.maxKey], false).limit(CHUNK).toArray();
      for (const rollout of chunk) rows.put(rollout);
      full = chunk.length === CHUNK;
      after = chunk.at(-1)?.id ?? '';
    }
    return rows;
  }

  #take(events: readonly RunEvent[]): void {
    for (const event of events) {
      // A run that goes on from a checkpoint plays the steps after it again.
      const again = event.type === 'progress' && event.phase === 'compile';
      if (again) this.#forgetAfter(event.step);
      else if (event.type === 'metrics') this.series.put(event.metrics);
      else if (event.type === 'rollout') this.#rollouts.put(event.rollout);
      // Progress is no reason to draw all of it anew: it comes several times a second.
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
