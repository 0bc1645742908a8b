/** @file A domain from a scenario file: its levels, tools and policy, its worlds and tasks, and the verdict. */
import { Recent } from '../base/recent.ts';
import type { TableDomain } from '../environments/domain.ts';
import { World } from '../environments/overlay.ts';
import type { Domain } from '../environments/types.ts';
import type { Json } from '../records/json.ts';
import type { ScenarioParameter, ScenarioTool } from '../records/scenario.ts';
import type { ToolSchema } from '../records/task.ts';
import { execute, toolsAt } from './execute.ts';
import type { ReadScenario } from './read.ts';
import { makeTasks } from './tasks.ts';
import { judge } from './verdict.ts';
import { makeWorld, parseWorldId, TASKS_PER_WORLD, worldId } from './world.ts';

/** Several runs may ask for tasks of different worlds in turn. */
const WORLDS_KEPT = 8;

/** The domain of a scenario. Its methods throw errors that name the file if the file is wrong. */
export function tableDomain(own: ReadScenario): TableDomain {
  const name = own.domain;
  const { levels, policy } = own.scenario;
  const worlds = new Recent<string, World>(WORLDS_KEPT);
  const worldOf = (id: string) => worlds.get(id, () => new World(id, makeWorld(own, parseWorldId(own, id))));
  const domains = new Map(
    levels.map((level): [string, Domain] => {
      const tools = toolsAt(own, level);
      const terminalTools = tools.filter(({ kind }) => kind === 'transfer').map((tool) => tool.name);
      return [level, { name, level, policy: policy.map((rule) => `- ${rule}`).join('\n'), tools: tools.map(schemaOf), terminalTools }];
    }),
  );
  const definition: TableDomain = {
    name,
    levels,
    // Worlds of other versions of the file are made again.
    version: Number.parseInt(own.hash.slice(0, 12), 16),
    conditions: true,
    unseen: true,
    domain(level) {
      const domain = domains.get(level);
      if (!domain) throw new Error(`level: '${level}' is unknown; expected one of ${levels.join(', ')}`);
      return domain;
    },
    worlds: { tasks: TASKS_PER_WORLD, id: (level, world) => worldId(name, { level, ...world }) },
    tasks: (query) => makeTasks(own, query, (key) => worldOf(worldId(name, key))),
    world: (id) => worldOf(id).tables,
    execute: (rows, call, level) => execute(own, rows, call, level),
    judge: (played) => judge(definition, own.scenario, played),
  };
  return definition;
}

function schemaOf({ name, description, parameters }: ScenarioTool): ToolSchema {
  const required = Object.keys(parameters).filter((parameter) => !parameters[parameter]!.optional);
  const properties = Object.fromEntries(Object.entries(parameters).map(([parameter, own]) => [parameter, propertyOf(own)]));
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties, required } } };
}

function propertyOf({ type, description, enum: choices }: ScenarioParameter): Json {
  const values: Record<string, Json> = choices ? { enum: [...choices] } : {};
  if (type !== 'strings') return { type, description, ...values };
  return { type: 'array', items: { type: 'string', ...values }, description };
}
