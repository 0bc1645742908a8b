/** Plays calls in worlds whose state is in MCP servers. */
import type { SessionResult } from '../../src/environments/domain.ts';
import type { World } from '../../src/environments/overlay.ts';
import type { RowChange, Task, ToolCall } from '../../src/records/task.ts';
import { hostedDomain } from '../../src/scenarios/hosted/hosted-domain.ts';
import { type Hosted, isHosted } from '../../src/scenarios/hosted/state.ts';
import { checkScenario } from '../../src/scenarios/read.ts';

export interface Played {
  start: World;
  answers: SessionResult[];
  changes: RowChange[];
}

export function read(file: unknown): Hosted {
  const own = checkScenario(file, 'scenario.json');
  if (!isHosted(own)) throw new Error('the scenario has no host');
  return own;
}

/** The scenario with its server as a process of the installed package instead of one here. */
export function inProcess<S extends { host: { here: string; command: readonly string[] } }>(file: S) {
  const { here, command, ...host } = file.host;
  const name = here === 'taskmanager' ? '@kazuph/mcp-taskmanager' : `@modelcontextprotocol/server-${here}`;
  const script = `${process.cwd()}/node_modules/${name}/dist/index.js`;
  return { ...file, host: { ...host, command: [process.execPath, script, ...command.slice(3)] } };
}

/** Plays the calls in a new episode. */
export async function playIn(own: Hosted, task: Task, calls: readonly ToolCall[]): Promise<Played> {
  const session = await hostedDomain(own).start(task);
  try {
    const start = session.rows;
    const answers = [];
    for (const call of calls) answers.push(await session.call(call));
    return { start, answers, changes: session.changes() };
  } finally {
    await session.close();
  }
}
