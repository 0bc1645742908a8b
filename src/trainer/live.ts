/**
 * @file Sends the page the conversations that are being played: the rollouts of a step's first group, held-out trials, and the
 * turns of a conversation that the visitor plays.
 */
import type { LiveAct, LiveEpisode } from '../agent/live.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { keptGroup } from '../training/inspect.ts';
import type { LiveRollout, RunEvent } from './messages.ts';

/** The largest number of rollouts that are shown, and the largest number of acts of each. */
const ROLLOUTS = 8;
const ACTS = 8;

interface Watched {
  episode: LiveEpisode;
  /** The outcome. Undefined while the rollout is played. */
  reward?: number | null;
  audit?: LiveRollout['audit'];
  /** The size of the rollout when the viewer last got it. −1 if the viewer has not got its current state. */
  seen: number;
}

export class LiveGroup {
  #step = 0;
  #heldOut = false;
  #rollouts = new Map<number, Watched>();
  /** The index of a rollout or trial on the page. If it is `ROLLOUTS` or more, the page does not show it. */
  #indexOf = ({ group, index }: { group: string; index: number }) =>
    this.#heldOut ? Number(group.split('-').at(-1)) : group === keptGroup(this.#step) ? index : ROLLOUTS;

  /** A rollout of a step begins. */
  begin(step: number, episode: LiveEpisode): void {
    this.#begin(step, false, episode);
  }

  /** A held-out trial begins, with the weights after a step. Each task is one group. */
  beginTrial(step: number, episode: LiveEpisode): void {
    this.#begin(step, true, episode);
  }

  #begin(step: number, heldOut: boolean, episode: LiveEpisode): void {
    if (step !== this.#step || heldOut !== this.#heldOut) this.#rollouts.clear();
    this.#step = step;
    this.#heldOut = heldOut;
    const index = this.#indexOf(episode);
    if (index < ROLLOUTS) this.#rollouts.set(index, { episode, seen: -1 });
  }

  end(trajectory: Trajectory): void {
    const { reward, task, violations } = trajectory;
    const watched = this.#rollouts.get(this.#indexOf(trajectory));
    if (watched) Object.assign(watched, { reward, audit: { task: task.id, domain: task.domain, violations: violations.length }, seen: -1 });
  }

  /** Called for a new viewer: the next `news` contains every rollout. */
  show(): void {
    for (const watched of this.#rollouts.values()) watched.seen = -1;
  }

  /** The rollouts that changed since the last call. Null if none changed. */
  news(): Extract<RunEvent, { type: 'live' }> | null {
    const rollouts: LiveRollout[] = [];
    for (const [index, watched] of this.#rollouts) {
      const { episode, reward, audit, seen } = watched;
      if (episode.size === seen) continue;
      watched.seen = episode.size;
      rollouts.push({ index, acts: episode.acts(ACTS), ...(reward !== undefined && { reward }), ...(audit && { audit }) });
    }
    return rollouts.length > 0 ? { type: 'live', step: this.#step, heldOut: this.#heldOut, rollouts } : null;
  }
}

/** How often a viewer of a played conversation gets its acts. */
const SHOW_INTERVAL_MS = 100;

/** Calls `show` with the acts after the first `from` messages whenever they have changed. The returned function stops this. */
export function showActs(episode: LiveEpisode, from: number, show: (acts: LiveAct[]) => void): () => void {
  let seen = episode.size;
  const timer = setInterval(() => {
    if (episode.size === seen) return;
    seen = episode.size;
    show(episode.acts(Infinity, from));
  }, SHOW_INTERVAL_MS);
  return () => clearInterval(timer);
}
