/** @file The rollouts that the trainer plays now: the newest step's first group, or the first held-out trials. */
import type { LiveRollout, RunEvent } from '../../trainer/messages.ts';
import type { TrainerClient } from '../clients/trainer-client.svelte.ts';

export class LiveRollouts {
  /** The step of the rollouts; 0 until a rollout is known. */
  step = $state(0);
  /** True if these are trials of the evaluation after the step. */
  heldOut = $state(false);
  /** The rollouts, by their index. */
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
