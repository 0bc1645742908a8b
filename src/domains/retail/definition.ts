/** @file The generated retail domain: generated shops, with the tools of tau-bench v1. */
import type { TableDomain } from '../../environments/domain.ts';
import type { Domain } from '../../environments/types.ts';
import { TRANSFER } from './acts.ts';
import { inject } from '../attacks.ts';
import { makeAttacks } from './attacks.ts';
import { observe } from './observations.ts';
import { POLICIES } from './policy.ts';
import { LEVELS, type Level } from './schema.ts';
import { makeTasks } from './tasks.ts';
import { TOOLS_OF, toolSchemas } from './tool-schemas.ts';
import { runTool } from './tools.ts';
import { makeWorld, parseWorldId, TASKS_PER_WORLD, worldId } from './world.ts';

function levelOf(level: string): Level {
  if (!LEVELS.includes(level as Level)) throw new Error(`level: '${level}' is unknown; expected one of ${LEVELS.join(', ')}`);
  return level as Level;
}

const domains = new Map<Level, Domain>(
  LEVELS.map((level) => [
    level,
    {
      name: 'retail',
      level,
      policy: POLICIES[level],
      tools: toolSchemas(level),
      terminalTools: [TRANSFER].filter((name) => TOOLS_OF[level].includes(name)),
    },
  ]),
);

export const retail = {
  name: 'retail',
  levels: LEVELS,
  version: 1,
  conditions: true,
  unseen: true,
  attacks: true,
  domain: (level) => domains.get(levelOf(level))!,
  worlds: { tasks: TASKS_PER_WORLD, id: (level, world) => worldId({ level: levelOf(level), ...world }) },
  tasks: (query) => (query.split === 'attacks' ? makeAttacks(query) : makeTasks(query)),
  initialize: inject,
  world: (id) => makeWorld(parseWorldId(id)),
  execute: (rows, call, name) => {
    const level = levelOf(name);
    const { error, ...observation } = runTool(rows, call, (tool) => TOOLS_OF[level].includes(tool));
    return { text: observe(observation, level), error };
  },
} satisfies TableDomain;
