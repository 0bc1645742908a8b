/** @file Episodes in worlds that keep their state themselves. They are in memory and end with the process. */
import type { Task, ToolCall, Verdict } from '../records/task.ts';
import { checkLevel, type SessionDomain, type SessionResult, thrownText, type WorldSession } from './domain.ts';
import { newId } from './episode-store.ts';
import { faultOf, OUTAGE, TIMEOUT } from './faults.ts';
import { isSimulatorFault } from './simulator-fault.ts';
import type { ToolResult, TurnChange } from './types.ts';

interface Running {
  task: Task;
  terminalTools: readonly string[];
  session: WorldSession;
  /** The number of calls so far. */
  calls: number;
  /** Resolves when all earlier requests have ended. The requests of one episode run one after another. */
  queue: Promise<unknown>;
}

export class SessionWorlds {
  readonly #running = new Map<string, Running>();

  /** Whether an episode is running here. */
  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** @throws if the level is unknown, or if the task has stale reads, because there are no earlier rows to read */
  async start(definition: SessionDomain, task: Task): Promise<string> {
    checkLevel(definition, task);
    const stale = task.faults?.stale_reads ?? 0;
    if (stale > 0) throw new Error(`task.faults.stale_reads is ${stale}: expected 0, because '${definition.name}' has no tables`);
    const { terminalTools } = await definition.domain(task.level);
    const session = await definition.start(task);
    const id = newId();
    this.#running.set(id, { task, terminalTools, session, calls: 0, queue: Promise.resolve() });
    return id;
  }

  /** Runs one call. A transfer has no fault, so a conversation can always end. @throws SimulatorFault */
  call(id: string, call: ToolCall): Promise<ToolResult> {
    return this.#inTurn(id, async (episode) => {
      const { session, task, terminalTools } = episode;
      const index = episode.calls++;
      const ends = terminalTools.includes(call.name);
      let result: SessionResult;
      try {
        const fault = ends ? null : faultOf(task, index);
        if (fault === 'outage') result = { text: OUTAGE, error: true };
        else if (fault === 'timeout') result = { text: TIMEOUT, error: true };
        else {
          result = await session.call(call);
          if (fault === 'late') result = { ...result, text: TIMEOUT, error: true };
        }
      } catch (cause) {
        if (isSimulatorFault(cause)) throw cause;
        result = { text: thrownText(cause), error: true };
      }
      const { text, error, changes = [] } = result;
      return { index, text, error, changes: changes.map((change) => ({ ...change, call: index })), terminal: !error && ends };
    });
  }

  turn(id: string, n: number): Promise<TurnChange | null> {
    return this.#inTurn(id, async ({ session }) => (await session.turn?.(n)) ?? null);
  }

  verify(id: string, said: readonly string[], met?: readonly boolean[]): Promise<Verdict> {
    return this.#inTurn(id, ({ session }) => session.verify(said, met));
  }

  /** Closes the episode after its running call has ended. */
  close(id: string): Promise<void> {
    const closed = this.#inTurn(id, ({ session }) => session.close());
    this.#running.delete(id);
    return closed;
  }

  #inTurn<T>(id: string, work: (episode: Running) => Promise<T>): Promise<T> {
    const episode = this.#running.get(id)!;
    const result = episode.queue.then(() => work(episode));
    episode.queue = result.catch(() => {});
    return result;
  }
}
