/** @file What the audit of the agent knows of a scenario: which tools write, and how people name these writes. */
import type { AuditRules, Detail, WriteWords } from '../agent/audit-rules.ts';
import type { Scenario, ScenarioTool } from '../records/scenario.ts';
import type { ToolCall } from '../records/task.ts';
import { namesValue, plain } from './people/values.ts';
import { namesAct } from './people/verbs.ts';
import { placesIn } from './templates.ts';

export const writesOf = ({ tools }: Pick<Scenario, 'tools'>): readonly ScenarioTool[] => tools.filter(({ kind }) => kind === 'write');

/**
 * The verbs of a write: the first words of `says` and of the tool's name. Other words of the name are things. A question about a booking
 * is no question for `cancel_booking`.
 */
export const verbsOf = ({ name, says = '' }: ScenarioTool): string[] => [
  ...new Set([says.split(' ')[0]!, name.split('_')[0]!].filter((verb) => /^[a-z]+$/.test(verb))),
];

/** No tool of a scenario has the customer's id as its only result, so the audit does not ask who the customer is. */
export function auditOf(scenario: Pick<Scenario, 'tools'>): AuditRules {
  const writes = new Map(writesOf(scenario).map((tool) => [tool.name, tool]));
  return {
    authenticate: [],
    details: [],
    owner: '',
    thing: '',
    writes: [...writes.keys()],
    describe: () => (call) => wordsOf(call, writes.get(call.name)!),
  };
}

/** A question need not name what people do not say, such as the customer's own id. */
function wordsOf({ name, arguments: args }: ToolCall, tool: ScenarioTool): WriteWords {
  const verbs = verbsOf(tool);
  const said = placesIn(tool.says ?? '').filter((place) => !['boolean', 'object', 'undefined'].includes(typeof args[place]));
  return {
    about: (text) => text,
    verb: verbs[0],
    act: detail(`the act (${name})`, (text) => namesAct(plain(text), verbs)),
    details: said.map((place) => detail(place, (text) => namesValue(text, args[place]!))),
  };
}

const detail = (name: string, names: (text: string) => boolean): Detail => ({
  name,
  heard: (text) => (names(text) ? 'named' : 'absent'),
});
