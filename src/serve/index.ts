/** @file Runs `mua env-serve`: an environment server for the domain that the flags choose. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { importBenchmark } from '../benchmarks/import/import.ts';
import { importedDomains } from '../benchmarks/imported-domain.ts';
import { importedName } from '../benchmarks/imported-benchmark.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import { canonicalJson } from '../base/json.ts';
import { InputError } from '../base/input-error.ts';
import { sha256 } from '../base/sha256.ts';
import { conditionsOf } from '../environments/conditions.ts';
import { customerScripts, GENERATED_DOMAINS, IMPORTED_LEVEL, usualLevel } from '../domains/registry.ts';
import { createEnvironments } from '../environments/index.ts';
import { resetName } from '../benchmarks/imported-benchmark.ts';
import { adapterFolder } from '../formats/adapters.ts';
import type { AdapterPlace } from '../formats/adapter-input.ts';
import type { EngineName } from '../formats/engines.ts';
import { limitsOf } from '../evaluation/types.ts';
import type { ModelWorker } from '../local/spawn.ts';
import type { Split } from '../records/task.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { UserConfig } from '../records/user.ts';
import { evaluationConfig } from '../training/config.ts';
import { createUsers } from '../users/index.ts';
import { LocalHosts } from '../users/local-hosts.ts';
import type { ServedStage } from './served-episode.ts';
import { type EnvServer, type EnvServerOptions, startEnvServer } from './server.ts';
import { TaskSource } from './task-source.ts';

export { ConversationLog } from './conversation-log.ts';
export { serveInProcess, startProcesses } from './processes.ts';

/** A client over stdio has no limit of time, as it is a parent of this process. Its handles are bounded. */
const FOREVER = { sessionSeconds: Infinity, idleSeconds: Infinity };
const STDIO_EPISODES = 256;

export interface ServedPlace {
  domain: string;
  /** The level of a generated domain. Other domains have no levels. */
  level?: string;
  /** The files of an imported benchmark: for each, its path in the benchmark's folder and its path on disk. */
  benchmark?: { rules: Benchmark; domain: string; files: [path: string, file: string][] };
  preset?: string;
  /** Settings of episodes and customers, with the names that a run's settings have. */
  settings: Record<string, string>;
  /** The seed of the tasks that are generated when a reset names no task. */
  seed: number;
  user: UserConfig;
  /** Starts the model of a `local` customer. A caller must give this function, because Node has no worker that runs such a model. */
  spawnModel?: () => ModelWorker;
}

/** @throws InputError, ConfigError, UserError */
export async function openStage({ domain, level, benchmark, preset, settings, seed, user, spawnModel }: ServedPlace): Promise<{
  stage: ServedStage;
  tasks: TaskSource;
  config: GrpoConfig;
}> {
  const imported =
    benchmark &&
    (await importBenchmark(
      benchmark.files.map(([path, file]) => [path, () => readFile(file)] as const),
      { benchmark: benchmark.rules, domain: benchmark.domain },
    ));
  const name = benchmark ? importedName(benchmark.rules, benchmark.domain) : domain;
  const id = imported && `${name}/${sha256(canonicalJson(imported.database)).slice(0, 16)}`;
  const domains = imported
    ? importedDomains(async () => ({ id: id!, imported })).filter((definition) => definition.name === name)
    : GENERATED_DOMAINS;
  const environments = createEnvironments({ domains, inMemory: true });
  const served = await environments.domain(name, level ?? (benchmark ? IMPORTED_LEVEL : (usualLevel(name) ?? '')));
  const config = evaluationConfig({ domain: name, level: served.level, settings, ...(preset !== undefined && { preset }) });
  const users = createUsers(user, customerScripts, new LocalHosts(spawnModel));
  await users.ready?.();
  return {
    stage: {
      domain: served,
      environments,
      users,
      rules: rulesFor(served, config.conversation_rules),
      limits: limitsOf(config),
    },
    config,
    tasks: new TaskSource(environments, served, {
      seed,
      conditions: {
        train: conditionsOf(config, 'train'),
        heldout: conditionsOf(config, 'val'),
        unseen: conditionsOf(config, 'val'),
        attacks: conditionsOf(config, 'val'),
      },
    }),
  };
}

export interface AdapterOptions {
  engine: EngineName;
  /** Number of tasks to generate. A benchmark always gives all its training tasks. */
  count: number;
  /** The model to train: its name on the Hub, or its path. */
  model: string;
  form: AdapterPlace['form'];
  url: string;
  /** The command that starts the environment server. */
  command: string;
}

/** Makes a folder with which another engine can train on the domain. @throws as `openStage`; InputError if there are no training tasks */
export async function exportAdapter(place: ServedPlace, { engine, count, command, ...options }: AdapterOptions) {
  const { stage, config } = await openStage({ ...place, user: { mode: 'scripted' } });
  const { domain, environments, rules } = stage;
  const { name, level, finite } = domain;
  const tasksOf = async (split: Split, wanted: number, side: 'train' | 'val') => {
    const conditions = conditionsOf(config, side);
    return (await environments.tasks({ domain: name, level, split, seed: place.seed, count: wanted, conditions })).map(resetName);
  };
  const tasks = await tasksOf('train', finite ? Number.MAX_SAFE_INTEGER : count, 'train');
  if (tasks.length === 0) throw new InputError(`the data of ${name} has no training tasks`);
  const validation = await tasksOf(config.val_split, config.val_tasks, 'val');
  return adapterFolder(engine, { ...options, domain, greeting: rules.greeting, tasks, validation, config, serve: command });
}

/** Serves MCP over stdin and stdout, until stdin ends. @throws as `openStage` */
export async function serveOverStdio(place: ServedPlace): Promise<void> {
  const { stage, tasks } = await openStage(place);
  const [{ serveStdio }, { McpWorlds }, { Sessions }] = await Promise.all([
    import('@modelcontextprotocol/server/stdio'),
    import('./mcp-worlds.ts'),
    import('./sessions.ts'),
  ]);
  const worlds = new McpWorlds(new Sessions(stage, tasks, { maxSessions: STDIO_EPISODES, log: () => {} }), FOREVER);
  const handle = serveStdio(({ era }) => worlds.server(era === 'legacy' ? worlds.open() : null));
  await once(process.stdin, 'end');
  worlds.close();
  await handle.close();
}

export async function serve(place: ServedPlace, options: EnvServerOptions): Promise<EnvServer> {
  const { stage, tasks } = await openStage(place);
  return startEnvServer(stage, tasks, options);
}
