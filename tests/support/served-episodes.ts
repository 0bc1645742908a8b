/** Plays tasks with an agent behind a real HTTP server. The name of the model in a request is the id of the task. */
import { runEpisode } from '../../src/agent/episode.ts';
import { serverAgents } from '../../src/agent/server/agents.ts';
import { NO_TOKENS } from '../../src/agent/server/server-turns.ts';
import { importedDomains } from '../../src/benchmarks/imported-domain.ts';
import { type ImportedBenchmark, importedName } from '../../src/benchmarks/imported-benchmark.ts';
import { rulesFor } from '../../src/benchmarks/rules.ts';
import { createEnvironments } from '../../src/environments/index.ts';
import type { AgentServer } from '../../src/records/agent-server.ts';
import type { Task } from '../../src/records/task.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { ServerModel } from '../../src/users/agent-model.ts';
import { STOP, type UserSimulator } from '../../src/users/types.ts';

export const LIMITS = {
  max_turns: 30,
  response_length_one_turn: 200,
  max_model_len: Number.MAX_SAFE_INTEGER,
  malformed_policy: 'feedback',
  require_done: false,
} as const;

export const servedBy = (server: AgentServer) => serverAgents(new ServerModel(server, { backoffMs: 1 }), server.format);

/** All tasks of an import, and a function that plays one of them. */
export async function importedStage(imported: ImportedBenchmark, level = 'full') {
  const name = importedName(imported.benchmark, imported.domain);
  const domains = importedDomains(async () => ({ id: 'import', imported })).filter((domain) => domain.name === name);
  const environments = createEnvironments({ domains, inMemory: true });
  const domain = await environments.domain(name, level);
  const ids = imported.tasks.map(({ id }) => id);
  const tasks = await environments.tasks({ domain: name, level, split: 'heldout', seed: 1, count: ids.length, select: { ids } });
  return {
    tasks,
    play: (task: Task, users: UserSimulator, baseUrl: string, more: Partial<AgentServer> = {}): Promise<Trajectory> =>
      runEpisode({
        task,
        domain,
        environments,
        users,
        agents: servedBy({ baseUrl, model: task.id, maxRetries: 0, ...more }),
        tokenizer: NO_TOKENS,
        limits: LIMITS,
        sampling: { temperature: 0, top_p: 1, top_k: 0 },
        seed: 1,
        stream: 0,
        group: 'g',
        index: 0,
        rules: rulesFor(domain, 'domain'),
      }),
  };
}

/** How far the gold of a task is played. The agent and the customer each play their own actions, in the order of the gold. */
export class GoldPlan {
  #next = 0;
  constructor(
    readonly task: Task,
    /** What the agent must say. */
    readonly told: readonly string[],
  ) {}

  /** The next actions of one side. */
  take(side: 'assistant' | 'user', most = Infinity) {
    const rest = this.task.actions.slice(this.#next);
    const end = rest.findIndex(({ requestor = 'assistant' }) => requestor !== side);
    const taken = rest.slice(0, Math.min(most, end < 0 ? rest.length : end));
    this.#next += taken.length;
    return taken;
  }

  get done(): boolean {
    return this.#next >= this.task.actions.length;
  }

  /** The customer: it makes its own calls, and leaves when the gold is played. */
  get users(): UserSimulator {
    return {
      session: (_, __, tools) => {
        const say = async (): Promise<string> => {
          const calls = this.take('user');
          if (calls.length > 0) await tools!.call(calls);
          return this.done ? STOP : 'Go on.';
        };
        return { open: async () => 'Hello, I need help.', reply: say };
      },
    };
  }
}
