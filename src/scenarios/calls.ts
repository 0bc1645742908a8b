/** @file Computes the calls of a blueprint, and plays its gold actions. */
import { Overlay, type World } from '../environments/overlay.ts';
import type { Json } from '../records/json.ts';
import type { BlueprintCall } from '../records/scenario.ts';
import type { ToolCall } from '../records/task.ts';
import type { Scope } from './cel.ts';
import { execute } from './execute.ts';
import type { ReadScenario } from './read.ts';
import { tablesOf } from './state.ts';
import { fill } from './templates.ts';

/** The call, or null if its condition is false. An argument that is null is left out. */
export function callOf({ cel }: ReadScenario, planned: BlueprintCall, scope: Scope, path: string): ToolCall | null {
  if (planned.if !== undefined && !cel.true(planned.if, scope, `${path}.if`)) return null;
  const args: Record<string, Json> = {};
  for (const [name, value] of Object.entries(planned.arguments)) {
    const own = cel.json(value, scope, `${path}.arguments.${name}`);
    if (own !== null) args[name] = own;
  }
  return { name: planned.tool, arguments: args };
}

export const callsOf = (own: ReadScenario, planned: readonly BlueprintCall[], scope: Scope, path: string): ToolCall[] =>
  planned.flatMap((call, i) => callOf(own, call, scope, `${path}[${i}]`) ?? []);

/** How the agent says a call in a proposal. */
export function proposalOf({ scenario: { tools } }: ReadScenario, { name, arguments: args }: ToolCall): string {
  const says = tools.find((tool) => tool.name === name)?.says;
  return says === undefined ? name.replaceAll('_', ' ') : fill(says, args);
}

/**
 * Plays the gold actions. The arguments of a call may depend on the rows that the calls before it changed. If a server holds the state,
 * the calls are only computed, from the rows of the start, and the rows do not change.
 * @returns the calls and the rows after them, or what went wrong
 */
export function tryGold(
  own: ReadScenario,
  world: World,
  level: string,
  planned: readonly BlueprintCall[],
  scope: Scope,
  path: string,
): { actions: ToolCall[]; rows: Overlay } | { fault: string } {
  const rows = new Overlay(world);
  const actions: ToolCall[] = [];
  for (const [i, one] of planned.entries()) {
    const call = callOf(own, one, { ...scope, tables: tablesOf(own.scenario, rows) }, `${path}[${i}]`);
    if (!call) continue;
    actions.push(call);
    if (own.scenario.host) continue;
    const draft = new Overlay(rows);
    const { text, error } = execute(own, draft, call, level);
    if (error) return { fault: `${own.file}: ${path}[${i}]: ${call.name} with ${JSON.stringify(call.arguments)} answers “${text}”` };
    rows.apply(draft.written());
  }
  return { actions, rows };
}
