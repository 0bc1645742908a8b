/** @file Writes that the policy forbids, found in a transcript: by the conditions `forbids` of the scenario and what the tools have shown. */
import { InputError } from '../base/input-error.ts';
import type { Json } from '../records/json.ts';
import type { ScenarioTool } from '../records/scenario.ts';
import type { ToolCall } from '../records/task.ts';
import type { Scope } from './cel.ts';
import { argumentsOf } from './execute.ts';
import { type Native, toNative } from './native.ts';
import type { ReadScenario } from './read.ts';

/** A call with the value of its result. */
export interface AnsweredCall {
  call: ToolCall;
  value: Json;
  failed: boolean;
}

interface Shown {
  tool: ScenarioTool;
  native: Native;
}

/**
 * For each call, the sentence of the policy that it breaks if it changes something. Null: no condition shows that it breaks one.
 * Undefined: no condition is about its tool.
 */
export function brokenSentences(
  { scenario: { tools, forbids = [] }, cel }: Pick<ReadScenario, 'scenario' | 'cel'>,
  calls: readonly AnsweredCall[],
): (string | null | undefined)[] {
  let shown: Shown[] = [];
  return calls.map(({ call, value, failed }) => {
    const tool = tools.find(({ name }) => name === call.name);
    if (!tool) return undefined;
    const args = argumentsOf(tool, call);
    const own = forbids.filter((one) => one.tools.includes(tool.name));
    const scope: Scope = { args, shown: shown.map(({ native }) => native) };
    const broken = own.find(({ when }) => isTrue(cel, when, scope));
    // A write that seems to have failed may have changed rows all the same.
    if (tool.kind === 'write') shown = shown.filter((earlier) => !mayChange(tool, earlier.tool));
    if (!failed) shown.push({ tool, native: { tool: tool.name, args, result: toNative(value) } });
    return own.length === 0 ? undefined : (broken?.says ?? null);
  });
}

/** Whether a write may change what a tool has shown: the tool reads a table of the write. What a server writes is not known. */
function mayChange({ writes, server }: ScenarioTool, { values, result }: ScenarioTool): boolean {
  const read = JSON.stringify([values, result]);
  return server !== undefined || (writes ?? []).some(({ table }) => new RegExp(`\\btables(?:\\.${table}\\b|(?!\\.))`).test(read));
}

/** A result of another form than the condition expects shows nothing. */
function isTrue(cel: ReadScenario['cel'], when: string, scope: Scope): boolean {
  try {
    return cel.true(when, scope, 'forbids');
  } catch (cause) {
    if (cause instanceof InputError) return false;
    throw cause;
  }
}
