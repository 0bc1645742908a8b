/** @file Plays calls for the checks of a scenario: on tables, or on servers of its host. */
import { runDrafted } from '../environments/domain.ts';
import { Overlay, type World } from '../environments/overlay.ts';
import type { RowChange, Task, ToolCall } from '../records/task.ts';
import { execute } from './execute.ts';
import { hostedDomain } from './hosted/hosted-domain.ts';
import { type Hosted, isHosted } from './hosted/state.ts';
import { broken } from './invariants.ts';
import type { ReadScenario } from './read.ts';
import { tableDomain } from './table-domain.ts';

export interface Player {
  /** Plays the calls in a new episode. */
  play(world: World, calls: readonly ToolCall[]): Promise<{ results: { text: string; error: boolean }[]; changes: RowChange[] }>;
  /** Tries calls, and returns those after which something is wrong, in words. */
  tryAll(world: World, calls: readonly ToolCall[]): Promise<{ call: ToolCall; fault: string }[]>;
}

export const playerOf = (own: ReadScenario, level: string): Player => (isHosted(own) ? onServers(own, level) : onTables(own, level));

function onTables(own: ReadScenario, level: string): Player {
  const definition = tableDomain(own);
  return {
    async play(world, calls) {
      const rows = new Overlay(world);
      const results = calls.map((call, i) => {
        const result = runDrafted(definition, rows, call, level, i);
        rows.apply(result.written);
        return result;
      });
      return { results, changes: rows.changes() };
    },
    async tryAll(world, calls) {
      return calls.flatMap((call) => {
        const rows = new Overlay(world);
        try {
          const { error } = execute(own, rows, call, level);
          const fault = error ? undefined : broken(own, rows);
          return fault ? [{ call, fault: `breaks a condition: ${fault}` }] : [];
        } catch (cause) {
          return [{ call, fault: `fails: ${(cause as Error).message}` }];
        }
      });
    },
  };
}

/** What a server accepts is its own matter, so only failures count. */
function onServers(own: Hosted, level: string): Player {
  const domain = hostedDomain(own);
  const start = (world: World) => domain.start({ level, world: world.id, actions: [] as ToolCall[] } as Task);
  return {
    async play(world, calls) {
      if (calls.length === 0) return { results: [], changes: [] };
      const session = await start(world);
      try {
        const results = [];
        for (const call of calls) results.push(await session.call(call));
        return { results, changes: session.changes() };
      } finally {
        await session.close();
      }
    },
    async tryAll(world, calls) {
      const session = await start(world);
      const faults = [];
      for (const call of calls)
        try {
          await session.call(call);
        } catch (cause) {
          faults.push({ call, fault: `fails: ${(cause as Error).message}` });
        }
      await session.close();
      return faults;
    },
  };
}
