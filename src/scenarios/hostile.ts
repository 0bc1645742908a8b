/** @file Arguments that no careful agent would send, to try tools with. */
import type { Json } from '../records/json.ts';
import type { ScenarioTool } from '../records/scenario.ts';
import type { ToolCall } from '../records/task.ts';

const HOSTILE: readonly Json[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  '',
  ' ',
  'none_99',
  '__proto__',
  'constructor',
  '99:99',
  '24:00',
  '09:00',
  '"}],',
  '{value}',
  '\u202e\u0000\u200b',
  '𝒳é漢字',
  'x'.repeat(400),
  'x'.repeat(100_000),
  [],
  [[]],
  ['x'],
  Array.from({ length: 200 }, () => 'x'),
  {},
  { id: 'x' },
];

/** Calls of a tool, each with one hostile value. @param good arguments that the tool accepts */
export function hostileCalls({ name, parameters }: ScenarioTool, good: ToolCall['arguments'] | undefined): ToolCall[] {
  const usual =
    good ?? Object.fromEntries(Object.entries(parameters).map(([parameter, { enum: choices }]) => [parameter, choices?.[0] ?? 'x']));
  const calls: ToolCall[] = [
    { name, arguments: {} },
    { name, arguments: { ...usual, unknown_parameter: 1 } },
  ];
  for (const parameter of Object.keys(parameters))
    for (const value of HOSTILE) calls.push({ name, arguments: { ...usual, [parameter]: value } });
  return calls;
}
