/** @file The rollouts of the newest step's first group, or the first held-out trials, as the trainer plays them. */
import type { LiveRollout, RunEvent } from '../../trainer/messages.ts';
import type { TrainerClient } from '../clients/trainer-client.svelte.ts';

export class LiveRollouts {
  /** 0 until a rollout is known. */
  step = $state(0);
  /** The trials of the evaluation after the step. */
  heldOut = $state(false);
  /** By index. */
  #rollouts = $state.raw<ReadonlyMap<number, LiveRollout>>(new Map());
  readonly close: () => void;

  constructor(run: string, client: Pick<TrainerClient, 'subscribe'>) {
    this.close = client.subscribe((of, events) => {
      if (of !== run) return;
      for (const event of events) if (event.type === 'live') this.#take(event);
    });
  }

  get(index: number): LiveRollout | undefined {
    return this.#rollouts.get(index);
  }

  #take({ step, heldOut, rollouts }: Extract<RunEvent, { type: 'live' }>): void {
    const kept = step === this.step && heldOut === this.heldOut ? this.#rollouts : [];
    this.#rollouts = new Map([...kept, ...rollouts.map((rollout) => [rollout.index, rollout] as const)]);
    this.step = step;
    this.heldOut = heldOut;
  }
}
