/** @file All the page shows of one run: rows read once, then the trainer's events. Recorded runs come from their file. */
import type { Trajectory } from '../../agent/types.ts';
import type { RunDatabase, RunRow } from '../../storage/database.ts';
import type { RolloutSummary, RunEvent } from '../../training/types.ts';
import { type Group, groupRollouts } from '../logic/groups.ts';
import { RECORDED, recordedRun } from '../logic/recorded.ts';
import { MetricSeries } from '../logic/series.ts';
import { TextIndex } from '../rollouts/text-index.ts';
import { LiveQuery } from './live-query.svelte.ts';
import type { TrainerClient } from './trainer-client.svelte.ts';

export class RunData {
  readonly id: string;
  /** Changes at most once a frame, when series or rollouts have. */
  version = $state(0);
  loaded = $state(false);
  error = $state.raw<Error | null>(null);
  readonly series = new MetricSeries();
  /** The words of the trajectories that are kept. */
  readonly texts = new TextIndex({ ids: () => this.#kept(), trajectories: (ids) => this.trajectories(ids) });

  readonly #db: RunDatabase;
  readonly #row: LiveQuery<RunRow | undefined>;
  #recordedRow = $state.raw<RunRow>();
  readonly #rollouts = new Map<string, RolloutSummary>();
  readonly #byStep = new Map<number, Map<string, RolloutSummary>>();
  readonly #byGroup = new Map<string, Map<string, RolloutSummary>>();
  readonly #unsubscribe: () => void;
  #frame = 0;

  constructor(id: string, client: TrainerClient, db: RunDatabase) {
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
    void this.#load().then(() => this.#take(early));
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
    return [...this.#byStep.keys()].sort((a, b) => a - b);
  }

  /** The groups of a step. */
  groups(step: number): Group[] {
    void this.version;
    return groupRollouts(this.#byStep.get(step)?.values() ?? []);
  }

  group(id: string): Group | undefined {
    void this.version;
    return groupRollouts(this.#byGroup.get(id)?.values() ?? [])[0];
  }

  /** Every rollout, in no order that matters. */
  get rollouts(): RolloutSummary[] {
    void this.version;
    return [...this.#rollouts.values()];
  }

  rollout(id: string): RolloutSummary | undefined {
    void this.version;
    return this.#rollouts.get(id);
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
    const keys = await this.#db.trajectories.where('[run+id]').between([this.id, ''], [this.id, '\uffff']).primaryKeys();
    return keys.map(([, id]) => id);
  }

  async #load(): Promise<void> {
    try {
      if (this.id === RECORDED) await this.#loadRecorded();
      else await this.#loadStored();
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    }
    this.loaded = true;
    this.version += 1;
  }

  async #loadRecorded(): Promise<void> {
    const recorded = await recordedRun();
    this.#recordedRow = recorded?.run;
    for (const metrics of recorded?.metrics ?? []) this.series.put(metrics);
    for (const rollout of recorded?.rollouts ?? []) this.#put(rollout);
  }

  async #loadStored(): Promise<void> {
    const all: [[string, number], [string, number]] = [[this.id, 0], [this.id, Infinity]];
    const [metrics, rollouts] = await Promise.all([
      this.#db.metrics.where('[run+step]').between(...all).toArray(),
      this.#db.rollouts.where('[run+step]').between(...all).toArray(),
    ]);
    for (const { values } of metrics) this.series.put(values);
    for (const rollout of rollouts) this.#put(rollout);
  }

  #take(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'metrics') this.series.put(event.metrics);
      else if (event.type === 'rollout') this.#put(event.rollout);
      // A run that goes on from a checkpoint plays the steps after it again.
      else if (event.type === 'progress' && event.phase === 'compile') this.#forgetAfter(event.step);
    }
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.version += 1;
    });
  }

  #forgetAfter(step: number): void {
    this.series.truncate(step);
    for (const [later, rollouts] of this.#byStep) {
      if (later <= step) continue;
      for (const { id, group } of rollouts.values()) {
        this.#rollouts.delete(id);
        this.#byGroup.delete(group);
        this.texts.forget(id);
      }
      this.#byStep.delete(later);
    }
  }

  #put(rollout: RolloutSummary): void {
    this.#rollouts.set(rollout.id, rollout);
    file(this.#byStep, rollout.step, rollout);
    file(this.#byGroup, rollout.group, rollout);
  }
}

function file<K>(drawers: Map<K, Map<string, RolloutSummary>>, key: K, rollout: RolloutSummary): void {
  const drawer = drawers.get(key);
  if (drawer) drawer.set(rollout.id, rollout);
  else drawers.set(key, new Map([[rollout.id, rollout]]));
}
