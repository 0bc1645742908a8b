/** @file Calls with one mistake, made from the right call. They are as near to the right call as a mistake of an agent is. */
import { hash32 } from '../../base/random.ts';
import { equalJson } from '../../base/json.ts';
import type { Json } from '../../records/json.ts';
import type { PersonFact, PlannedCall } from '../../records/scenario.ts';
import type { ToolCall, ToolSchema } from '../../records/task.ts';
import { DAYS, prefixOf } from './values.ts';

/** The entry of a list that the seed chooses. Null if the list is empty. */
const chosen = <T>(list: readonly T[], seed: number): T | null => (list.length > 0 ? list[hash32(seed, 0x3a1) % list.length]! : null);

const withArgument = (call: PlannedCall, name: string, value: Json): ToolCall => ({
  name: call.name,
  arguments: { ...call.arguments, [name]: value },
});

/** The call about another record of the same kind that a tool has shown. Null: there is none. */
export function otherRecord(call: PlannedCall, shown: string, seed: number): ToolCall | null {
  const wrong = Object.entries(call.arguments).flatMap(([name, value]) => {
    const prefix = prefixOf(value);
    if (prefix === undefined) return [];
    const others = new Set(shown.match(new RegExp(`\\b${prefix}\\d+\\b`, 'g')) ?? []);
    return [...others].filter((id) => id !== value).map((id) => withArgument(call, name, id));
  });
  return chosen(wrong, seed);
}

interface Known {
  schema: ToolSchema | undefined;
  facts: readonly PersonFact[];
  seed: number;
}

/** The call with one other value that is no id. Null: every argument is an id, or a text without known alternatives. */
export function wrongArgument(call: PlannedCall, { schema, facts, seed }: Known): ToolCall | null {
  const wrong = Object.entries(call.arguments).flatMap(([name, value]) => {
    const { enum: options } = (schema?.function.parameters.properties[name] ?? {}) as { enum?: Json[] };
    const others = facts.find((fact) => equalJson(fact.value, value))?.others ?? [];
    const other = options?.find((option) => !equalJson(option, value)) ?? otherValue(value) ?? others[0];
    return other === undefined ? [] : [withArgument(call, name, other)];
  });
  return chosen(wrong, seed);
}

/** The next number, day, hour or date, or the opposite. Undefined for other values. */
function otherValue(value: Json): Json | undefined {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (Array.isArray(value)) return value.length > 1 ? value.slice(0, -1) : undefined;
  if (typeof value !== 'string') return undefined;
  const day = DAYS.indexOf(value.toLowerCase());
  // Of the days, Monday to Friday follow each other, because many worlds are closed at the weekend.
  if (day >= 0) return cased(DAYS[day < 4 ? day + 1 : 0]!, value);
  const [, hour, minute] = /^(\d{2}):(\d{2})$/.exec(value) ?? [];
  if (hour) return `${String((Number(hour) + 1) % 24).padStart(2, '0')}:${minute}`;
  const [, month, date] = /^(\d{4}-\d{2}-)(\d{2})$/.exec(value) ?? [];
  return month ? `${month}${String(Number(date) < 28 ? Number(date) + 1 : 1).padStart(2, '0')}` : undefined;
}

const cased = (word: string, like: string): string =>
  like[0] === like[0]!.toUpperCase() ? `${word[0]!.toUpperCase()}${word.slice(1)}` : word;

/** The call without the last argument that the tool needs. */
export function lackingArgument(call: PlannedCall, schema: ToolSchema | undefined): ToolCall {
  const required = schema?.function.parameters.required ?? Object.keys(call.arguments);
  const left = required.findLast((name) => name in call.arguments);
  return { name: call.name, arguments: Object.fromEntries(Object.entries(call.arguments).filter(([name]) => name !== left)) };
}
