/** @file The rollouts of the newest step's first group as the trainer plays them. */
import type { LiveRollout } from '../../trainer/messages.ts';
import type { TrainerClient } from '../data/trainer-client.svelte.ts';

export class LiveRollouts {
  /** 0 until a rollout is known. */
  step = $state(0);
  /** By index. */
  #rollouts = $state.raw<ReadonlyMap<number, LiveRollout>>(new Map());
  readonly close: () => void;

  constructor(run: string, client: Pick<TrainerClient, 'subscribe'>) {
    this.close = client.subscribe((of, events) => {
      if (of !== run) return;
      for (const event of events) if (event.type === 'live') this.#take(event.step, event.rollouts);
    });
  }

  get(index: number): LiveRollout | undefined {
    return this.#rollouts.get(index);
  }

  #take(step: number, changed: readonly LiveRollout[]): void {
    const kept = step === this.step ? this.#rollouts : [];
    this.#rollouts = new Map([...kept, ...changed.map((rollout) => [rollout.index, rollout] as const)]);
    this.step = step;
  }
}
