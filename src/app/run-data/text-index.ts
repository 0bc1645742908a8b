/** @file Full-text search in the stored trajectories. Each text is read from the storage once. */
import { path } from '../../base/message-path.ts';
import type { Trajectory } from '../../records/trajectory.ts';

const CHUNK = 32;

export interface TextSource {
  /** Ids of the stored trajectories. */
  ids(): Promise<string[]>;
  /** The trajectories in the order of `ids`; undefined for one that was deleted in the meantime. */
  trajectories(ids: string[]): Promise<(Trajectory | undefined)[]>;
}

export interface TextSearch {
  found: Set<string>;
  done: number;
  total: number;
}

export class TextIndex {
  readonly #source: TextSource;
  readonly #texts = new Map<string, string>();

  constructor(source: TextSource) {
    this.#source = source;
  }

  /** Forgets the text of a rollout, because the rollout is played again. */
  forget(id: string): void {
    this.#texts.delete(id);
  }

  /**
   * Finds the ids whose text contains `words`, ignoring case. Calls `onchunk` with the ids found so far. Stops early if `signal` is
   * aborted.
   */
  async search(words: string, onchunk: (search: TextSearch) => void, signal: AbortSignal): Promise<TextSearch> {
    const wanted = words.toLowerCase();
    const ids = await this.#source.ids();
    const search: TextSearch = { found: new Set(), done: 0, total: ids.length };
    for (let from = 0; from < ids.length && !signal.aborted; from += CHUNK) {
      const chunk = ids.slice(from, from + CHUNK);
      await this.#read(chunk.filter((id) => !this.#texts.has(id)));
      for (const id of chunk) if (this.#texts.get(id)?.includes(wanted)) search.found.add(id);
      search.done += chunk.length;
      if (!signal.aborted) onchunk({ ...search, found: new Set(search.found) });
    }
    return search;
  }

  async #read(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const trajectory of await this.#source.trajectories(ids)) if (trajectory) this.#texts.set(trajectory.id, textOf(trajectory));
  }
}

/** A trajectory as one text: messages, tool calls and results. The system prompt is not in it: it is the same in all trajectories. */
function textOf(trajectory: Pick<Trajectory, 'nodes' | 'leaf'>): string {
  const said = path(trajectory).filter(({ role }) => role !== 'system' && role !== 'template');
  return said
    .map(({ text }) => text)
    .join('\n')
    .toLowerCase();
}
