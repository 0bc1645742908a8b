/** @file What `mua env-serve` runs: the domain of its flags behind an environment server. */
import { readFile } from 'node:fs/promises';
import { importBenchmark } from '../benchmarks/import/import.ts';
import { importedDomains } from '../benchmarks/imported-domain.ts';
import { IMPORTED_LEVEL, importedName } from '../benchmarks/imported-benchmark.ts';
import { rulesFor } from '../benchmarks/rules.ts';
import { canonicalJson } from '../base/json.ts';
import { InputError } from '../base/input-error.ts';
import { sha256 } from '../base/sha256.ts';
import { conditionsOf } from '../environments/conditions.ts';
import { customerScripts, GENERATED_DOMAINS, usualLevel } from '../domains/registry.ts';
import { createEnvironments } from '../environments/index.ts';
import { resetName } from '../benchmarks/imported-benchmark.ts';
import { adapterFolder } from '../formats/adapters.ts';
import type { EngineName } from '../formats/engines.ts';
import { limitsOf } from '../evaluation/types.ts';
import type { ModelWorker } from '../local/spawn.ts';
import type { Benchmark } from '../records/benchmark-task.ts';
import type { GrpoConfig } from '../records/run.ts';
import type { UserConfig } from '../records/user.ts';
import { evaluationConfig } from '../training/config.ts';
import { createUsers } from '../users/index.ts';
import type { ServedStage } from './served-episode.ts';
import { type EnvServer, type EnvServerOptions, startEnvServer } from './server.ts';
import { TaskSource } from './task-source.ts';

export { serveInProcess, startProcesses } from './processes.ts';

export interface ServedPlace {
  domain: string;
  /** Only a generated domain has levels. */
  level?: string;
  /** Files of a benchmark: the path in the benchmark's folder and the path on disk. */
  benchmark?: { rules: Benchmark; domain: string; files: [path: string, file: string][] };
  preset?: string;
  /** Settings of episodes and customers, under the names of runs. */
  settings: Record<string, string>;
  /** The seed of tasks that a reset does not name. */
  seed: number;
  user: UserConfig;
  /** Starts the model of a `local` customer: Node has no worker that runs one. */
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
  const served = await environments.domain(name, benchmark ? IMPORTED_LEVEL : (level ?? usualLevel(name) ?? ''));
  const config = evaluationConfig({ domain: name, level: served.level, settings, ...(preset !== undefined && { preset }) });
  const users = createUsers(user, customerScripts, spawnModel);
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
      conditions: { train: conditionsOf(config, 'train'), heldout: conditionsOf(config, 'val') },
    }),
  };
}

export interface AdapterOptions {
  engine: EngineName;
  /** Tasks of a generated domain. Of a benchmark, all its training tasks are taken. */
  count: number;
  /** The model to train, by its name on the Hub or its path. */
  model: string;
  url: string;
  /** The command that serves the place. */
  command: string;
}

/** A folder with which another engine trains on the place. @throws as `openStage`; InputError if there are no training tasks */
export async function exportAdapter(place: ServedPlace, { engine, count, model, url, command }: AdapterOptions) {
  const { stage, config } = await openStage({ ...place, user: { mode: 'scripted' } });
  const { domain, environments, rules } = stage;
  const conditions = conditionsOf(config, 'train');
  const tasks = await environments.tasks({
    domain: domain.name,
    level: domain.level,
    split: 'train',
    seed: place.seed,
    count: domain.finite ? Number.MAX_SAFE_INTEGER : count,
    conditions,
  });
  if (tasks.length === 0) throw new InputError(`the data of ${domain.name} has no training tasks`);
  return adapterFolder(engine, { domain, greeting: rules.greeting, tasks: tasks.map(resetName), config, model, serve: command, url });
}

export async function serve(place: ServedPlace, options: EnvServerOptions): Promise<EnvServer> {
  const { stage, tasks } = await openStage(place);
  return startEnvServer(stage, tasks, options);
}
