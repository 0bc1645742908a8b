/** @file An episode on a server of its own. */
import { InputError } from '../../base/input-error.ts';
import type { SessionResult, WorldSession } from '../../environments/domain.ts';
import type { World } from '../../environments/overlay.ts';
import { SimulatorFault } from '../../environments/simulator-fault.ts';
import { compareOverlays } from '../../environments/verifier.ts';
import { type McpConnection, McpError, type McpTarget } from '../../mcp/types.ts';
import type { RowChange, Task, ToolCall, Verdict } from '../../records/task.ts';
import { judgeRows, withoutVolatile } from '../verdict.ts';
import { connect } from './connect.ts';
import { callServer } from './server-call.ts';
import { asRead, changesBetween, type Hosted, RowReader, seedOf } from './state.ts';

/** All later episodes would fail for these reasons too. */
const FINAL: readonly McpError['kind'][] = ['blocked', 'auth', 'changed'];

/**
 * The server's failure, or an error of the file, as a fault that gives the episode no score.
 * @param final whether an error of the file would meet all later episodes too
 */
async function faultless<T>(final: boolean, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof McpError) throw new SimulatorFault(`the MCP server failed: ${cause.message}`, FINAL.includes(cause.kind));
    if (cause instanceof InputError) throw new SimulatorFault(cause.message, final);
    throw cause;
  }
}

export class HostedSession implements WorldSession {
  #rows: World;

  private constructor(
    private readonly own: Hosted,
    private readonly task: Task,
    private readonly connection: McpConnection,
    private readonly reader: RowReader,
    private readonly start: World,
    private readonly goal: () => Promise<RowChange[]>,
  ) {
    this.#rows = start;
  }

  /**
   * Starts a server with the rows of the world.
   * @param goal gives the changed rows of the gold actions
   * @throws SimulatorFault if the server fails, has other tools, or does not begin with these rows
   */
  static open(own: Hosted, world: World, task: Task, goal: () => Promise<RowChange[]>): Promise<HostedSession> {
    return faultless(true, async () => {
      const connection = await connect(targetOf(own, world));
      try {
        checkPin(own, connection);
        const reader = new RowReader(own, connection);
        const start = await reader.read();
        checkStart(own, world, start);
        return new HostedSession(own, task, connection, reader, start, goal);
      } catch (error) {
        await connection.close();
        throw error;
      }
    });
  }

  call(call: ToolCall): Promise<SessionResult> {
    return faultless(false, async () => {
      const before = this.#rows;
      const answer = await callServer(this.own, this.connection, before, call, this.task.level);
      this.#rows = await this.reader.read();
      return { ...answer, changes: changesBetween(before, this.#rows) };
    });
  }

  /** The rows that differ from those of the start. */
  changes(): RowChange[] {
    return changesBetween(this.start, this.#rows);
  }

  get rows(): World {
    return this.#rows;
  }

  async verify(said: readonly string[]): Promise<Verdict> {
    const [changes, goal] = [this.changes(), await this.goal()];
    const { scenario } = this.own;
    return { ...compareOverlays(changes, goal), ...judgeRows(scenario, { task: this.task, changes, goal, said }) };
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

function targetOf(own: Hosted, world: World): McpTarget {
  const { here, command, env, url } = own.scenario.host;
  const files = seedOf(own, world);
  if (here !== undefined) return { kind: 'here', server: here, files };
  if (command) return { kind: 'command', command: command[0]!, args: command.slice(1), ...(env && { env }), files };
  return { kind: 'url', url: url! };
}

function checkPin({ file, scenario: { host } }: Hosted, { server }: McpConnection): void {
  if (server.tools_sha256 !== host.tools_sha256)
    throw new McpError(
      `${file}: host.tools_sha256: the tools of ${server.name} ${server.version} have the pin ${server.tools_sha256}: look at them with ./mua mcp list, then write this pin`,
      'changed',
    );
}

/** The tasks are about the rows of the world, so the server must begin with them. */
function checkStart(own: Hosted, world: World, start: World): void {
  const [other] = withoutVolatile(own.scenario, changesBetween(asRead(own, world), start));
  if (other)
    throw new InputError(
      `${own.file}: host: the server begins with the row ${other.key} of ${other.table} as ${JSON.stringify(other.after)}: expected ${JSON.stringify(other.before)}, as the tables have it. Let files and rows fit together`,
    );
}
