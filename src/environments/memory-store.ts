/** @file The store of a server. Episodes and worlds are only in memory, and end with the process. */
import type { Task, ToolCall } from '../records/task.ts';
import type { TableDomain } from './domain.ts';
import { type Episode, EpisodeStore, type LogEntry, newId, runWithFaults } from './episode-store.ts';
import { World } from './overlay.ts';
import type { ToolResult } from './types.ts';

interface Kept extends Episode {
  log: LogEntry[];
}

export class MemoryStore extends EpisodeStore {
  readonly #episodes = new Map<string, Kept>();

  async start(task: Task): Promise<string> {
    const episode = await this.begin(newId(), task);
    this.#episodes.set(episode.id, { ...episode, log: [] });
    return episode.id;
  }

  async call(id: string, call: ToolCall): Promise<ToolResult> {
    const episode = this.#episode(id);
    const index = episode.calls;
    const { text, error, written, changes } = runWithFaults(episode, call, index);
    episode.log.push({ episode: id, index, call, text, error, changes: written });
    episode.overlay.apply(written);
    episode.calls = index + 1;
    return { index, text, error, changes, terminal: !error && episode.domain.terminalTools.includes(call.name) };
  }

  async state(id: string): Promise<Episode> {
    return this.#episode(id);
  }

  async log(id: string): Promise<LogEntry[]> {
    return [...this.#episode(id).log];
  }

  async close(id: string): Promise<void> {
    this.#episodes.delete(id);
  }

  protected async loadWorld(definition: TableDomain, id: string): Promise<World> {
    return new World(id, await definition.world(id));
  }

  #episode(id: string): Kept {
    const episode = this.#episodes.get(id);
    if (!episode) throw new Error(`episode: '${id}' does not exist or was closed`);
    return episode;
  }
}
