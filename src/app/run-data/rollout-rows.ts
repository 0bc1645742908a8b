/** @file Finds rollouts by id, by step and by group. A new rollout replaces a rollout with the same id. */
import type { RolloutSummary } from '../../records/rollout.ts';
import { type Group, groupRollouts } from './groups.ts';

export class RolloutRows {
  readonly #byId = new Map<string, RolloutSummary>();
  readonly #byStep = new Map<number, Map<string, RolloutSummary>>();
  readonly #byGroup = new Map<string, Map<string, RolloutSummary>>();

  put(rollout: RolloutSummary): void {
    this.#byId.set(rollout.id, rollout);
    file(this.#byStep, rollout.step, rollout);
    file(this.#byGroup, rollout.group, rollout);
  }

  get(id: string): RolloutSummary | undefined {
    return this.#byId.get(id);
  }

  /** All rollouts, in no particular order. */
  all(): RolloutSummary[] {
    return [...this.#byId.values()];
  }

  /** The steps that have rollouts, in ascending order. */
  steps(): number[] {
    return [...this.#byStep.keys()].sort((a, b) => a - b);
  }

  groups(step: number): Group[] {
    return groupRollouts(this.#byStep.get(step)?.values() ?? []);
  }

  group(id: string): Group | undefined {
    return groupRollouts(this.#byGroup.get(id)?.values() ?? [])[0];
  }

  /** Removes the steps after `step`. Returns the ids of the removed rollouts. */
  forgetAfter(step: number): string[] {
    const gone = [...this.#byStep].flatMap(([later, rollouts]) => (later > step ? [...rollouts.values()] : []));
    for (const { id, group, step: later } of gone) {
      this.#byId.delete(id);
      this.#byGroup.delete(group);
      this.#byStep.delete(later);
    }
    return gone.map(({ id }) => id);
  }
}

function file<K>(drawers: Map<K, Map<string, RolloutSummary>>, key: K, rollout: RolloutSummary): void {
  const drawer = drawers.get(key);
  if (drawer) drawer.set(rollout.id, rollout);
  else drawers.set(key, new Map([[rollout.id, rollout]]));
}
