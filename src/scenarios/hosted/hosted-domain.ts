/** @file A domain whose state is in MCP servers: each episode has one of its own. Tasks and texts are those of the scenario's tables. */
import { canonicalJson } from '../../base/json.ts';
import { Recent } from '../../base/recent.ts';
import type { SessionDomain } from '../../environments/domain.ts';
import { World } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import type { RowChange, Task } from '../../records/task.ts';
import { tableDomain } from '../table-domain.ts';
import { HostedSession } from './session.ts';
import type { Hosted } from './state.ts';

const GOALS_KEPT = 4096;

export interface HostedDomain extends SessionDomain {
  start(task: Task): Promise<HostedSession>;
}

export function hostedDomain(own: Hosted): HostedDomain {
  const { name, levels, domain, tasks, world } = tableDomain(own);
  const goals = new Recent<string, Promise<RowChange[]>>(GOALS_KEPT);
  const open = async (task: Task, goal: () => Promise<RowChange[]>) =>
    HostedSession.open(own, new World(task.world, await world(task.world)), task, goal);

  /** The rows that the gold actions change on another server of the same start. */
  async function playGold(task: Task): Promise<RowChange[]> {
    const twin = await open(task, async () => []);
    try {
      for (const action of task.actions) await twin.call(action);
      return twin.changes();
    } finally {
      await twin.close();
    }
  }

  return {
    name,
    levels,
    conditions: true,
    unseen: true,
    promises: { replays: true },
    domain,
    tasks,
    start: (task) =>
      open(task, () => {
        const key = canonicalJson([task.level, task.world, task.actions as unknown as Json]);
        const goal = goals.get(key, () => playGold(task));
        goal.catch(() => goals.delete(key));
        return goal;
      }),
  };
}
