/** @file What the page shows while it is played: the rollouts of a step's first group, and the turns of a played conversation. */
import type { LiveAct, LiveEpisode } from '../agent/live.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { keptGroup } from '../training/inspect.ts';
import type { LiveRollout, RunEvent } from './messages.ts';

/** At most so many rollouts, and of each so many acts. */
const ROLLOUTS = 8;
const ACTS = 8;

interface Watched {
  episode: LiveEpisode;
  /** The outcome; undefined while the rollout is played. */
  reward?: number | null;
  audit?: LiveRollout['audit'];
  /** The size that the viewer has seen; −1 if the viewer does not know the state of the rollout. */
  seen: number;
}

export class LiveGroup {
  #step = 0;
  #rollouts = new Map<number, Watched>();

  begin(step: number, episode: LiveEpisode): void {
    if (step !== this.#step) this.#rollouts.clear();
    this.#step = step;
    if (episode.group === keptGroup(step) && episode.index < ROLLOUTS) this.#rollouts.set(episode.index, { episode, seen: -1 });
  }

  end({ group, index, reward, task: { id, domain }, violations }: Trajectory): void {
    const watched = group === keptGroup(this.#step) && this.#rollouts.get(index);
    if (watched) Object.assign(watched, { reward, audit: { task: id, domain, violations: violations.length }, seen: -1 });
  }

  /** For a new viewer: the next `news` has every rollout. */
  show(): void {
    for (const watched of this.#rollouts.values()) watched.seen = -1;
  }

  /** The rollouts that changed since the last call, or null. */
  news(): Extract<RunEvent, { type: 'live' }> | null {
    const rollouts: LiveRollout[] = [];
    for (const [index, watched] of this.#rollouts) {
      const { episode, reward, audit, seen } = watched;
      if (episode.size === seen) continue;
      watched.seen = episode.size;
      rollouts.push({ index, acts: episode.acts(ACTS), ...(reward !== undefined && { reward }), ...(audit && { audit }) });
    }
    return rollouts.length > 0 ? { type: 'live', step: this.#step, rollouts } : null;
  }
}

/** How often a viewer of a played conversation gets its acts. */
const SHOW_INTERVAL_MS = 100;

/** Shows the acts after the first `from` messages whenever they changed, until the returned function is called. */
export function showActs(episode: LiveEpisode, from: number, show: (acts: LiveAct[]) => void): () => void {
  let seen = episode.size;
  const timer = setInterval(() => {
    if (episode.size === seen) return;
    seen = episode.size;
    show(episode.acts(Infinity, from));
  }, SHOW_INTERVAL_MS);
  return () => clearInterval(timer);
}
