/** @file The queue of one experiment as the page shows it: finished runs, the current run, the time left, start and stop. */
import type { ExperimentRow } from '../../records/experiment.ts';
import type { UserConfig } from '../../records/user.ts';
import { allPairs, pendingPairs, secondsLeft } from '../../experiments/plan.ts';
import type { BegunRun } from '../library/experiments.ts';
import type { Settings } from '../state/settings.svelte.ts';
import type { TrainerClient } from '../clients/trainer-client.svelte.ts';

type Client = Pick<
  TrainerClient,
  'activeExperiment' | 'activeRun' | 'progress' | 'busy' | 'availability' | 'runExperiment' | 'stopExperiment'
>;

export class Queue {
  readonly #row: () => ExperimentRow | undefined;
  readonly #begun: () => readonly BegunRun[];
  readonly #client: Client;
  readonly #settings: Pick<Settings, 'user'>;
  stopping = $state(false);

  constructor(row: () => ExperimentRow | undefined, begun: () => readonly BegunRun[], client: Client, settings: Pick<Settings, 'user'>) {
    this.#row = row;
    this.#begun = begun;
    this.#client = client;
    this.#settings = settings;
  }

  get total(): number {
    const row = this.#row();
    return row ? allPairs(row).length : 0;
  }

  get finished(): number {
    const row = this.#row();
    return row ? this.total - pendingPairs(row, row.results).length : 0;
  }

  /** True while this tab trains this experiment. */
  get active(): boolean {
    const row = this.#row();
    return row !== undefined && this.#client.activeExperiment === row.id;
  }

  /** The run that is trained now, with the trainer's newest step. */
  get current(): BegunRun | null {
    const { activeRun, progress } = this.#client;
    const run = this.active ? this.#begun().find((begun) => begun.run === activeRun) : undefined;
    if (!run) return null;
    // While the trainer works on step k, k − 1 steps are finished.
    return { ...run, step: Math.max(run.step, (progress?.step ?? 0) - 1) };
  }

  /** The number of finished runs, plus the finished share of the current run. */
  get done(): number {
    const { current } = this;
    return this.finished + (current ? current.step / Math.max(1, current.steps) : 0);
  }

  /** The estimated seconds until the end. Null before a step is measured, and if no run is left. */
  get secondsLeft(): number | null {
    const row = this.#row();
    return row && this.finished < this.total ? secondsLeft(row, this.current) : null;
  }

  /** True if runs are left to train, but this tab does not train them now. */
  get waiting(): boolean {
    return !this.#row()?.bundled && !this.active && this.finished < this.total;
  }

  /** True if at least a part of the experiment is trained. */
  get begun(): boolean {
    return this.finished > 0 || this.#begun().length > 0;
  }

  /** Why the queue cannot go on now, in one sentence; '' if it can. */
  get blocked(): string {
    return this.#client.availability('train');
  }

  async start(): Promise<void> {
    const row = this.#row();
    if (!row || !this.waiting || this.blocked !== '') return;
    this.stopping = false;
    await this.#client.runExperiment(row.id, this.#user(row.base.user));
    this.stopping = false;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.#client.stopExperiment();
  }

  /** The customer with its key. An endpoint's key is never stored, so the key from the settings is used if it is for the same endpoint. */
  #user(stored: UserConfig): UserConfig {
    const typed = this.#settings.user;
    const same =
      stored.mode === 'endpoint' && typed.mode === 'endpoint' && typed.baseUrl === stored.baseUrl && typed.model === stored.model;
    return same ? typed : stored;
  }
}
