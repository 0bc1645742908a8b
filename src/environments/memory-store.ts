/** @file The store of a server: episodes and worlds are only in memory, and end with the process. */
import type { Task, ToolCall } from '../records/task.ts';
import type { DomainDefinition } from './domain.ts';
import { type Episode, EpisodeStore, newId, runWithFaults } from './episode-store.ts';
import { entryHash, type LogEntry } from './log.ts';
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
    const unsigned = { index, call, text, error, changes: written, previous: episode.head };
    const entry: LogEntry = { episode: id, ...unsigned, hash: entryHash(unsigned) };
    episode.log.push(entry);
    episode.overlay.apply(written);
    episode.calls = index + 1;
    episode.head = entry.hash;
    return { index, text, error, changes, terminal: !error && episode.domain.terminalTools.includes(call.name) };
  }

  async state(id: string): Promise<Episode> {
    return this.#episode(id);
  }

  async log(id: string): Promise<LogEntry[]> {
    return [...this.#episode(id).log];
  }

  async fork(id: string, calls: number): Promise<string> {
    const { log, task } = this.#episode(id);
    if (!Number.isInteger(calls) || calls < 0 || calls > log.length)
      throw new Error(`calls: ${calls} is not in 0…${log.length}, the calls of episode ${id}`);
    const fork: Kept = { ...(await this.begin(newId(), task)), log: [] };
    for (const entry of log.slice(0, calls)) {
      fork.log.push({ ...entry, episode: fork.id });
      fork.overlay.apply(entry.changes);
      fork.head = entry.hash;
    }
    fork.calls = calls;
    this.#episodes.set(fork.id, fork);
    return fork.id;
  }

  async close(id: string): Promise<void> {
    this.#episodes.delete(id);
  }

  protected async loadWorld(definition: DomainDefinition, id: string): Promise<World> {
    return new World(id, await definition.world(id));
  }

  #episode(id: string): Kept {
    const episode = this.#episodes.get(id);
    if (!episode) throw new Error(`episode: '${id}' does not exist or was closed`);
    return episode;
  }
}
