/** @file What the audit of the agent knows of a scenario: which tools write, and how people name these writes. */
import type { AuditRules } from '../agent/audit-rules.ts';
import { spelledOut } from '../agent/spelled-out.ts';
import type { Scenario } from '../records/scenario.ts';
import { placesIn } from './templates.ts';

/** No tool of a scenario has the customer's id as its only result, so the audit does not ask who the customer is. */
export function auditOf({ tools }: Pick<Scenario, 'tools'>): AuditRules {
  const writes = tools.filter(({ kind }) => kind === 'write');
  const named = new Map(writes.map(({ name, says = '' }) => [name, new Set(placesIn(says))]));
  // The first word of `says` is the verb that people hear.
  const verbs = new Map(writes.map(({ name, says = '' }) => [name, says.split(' ').slice(0, 1)]));
  return {
    authenticate: [],
    details: [],
    owner: '',
    thing: '',
    writes: writes.map(({ name }) => name),
    // A question need not name what people do not say, such as the customer's own id.
    describe: () => (call) => {
      const said = named.get(call.name);
      const args = Object.fromEntries(Object.entries(call.arguments).filter(([name]) => said?.has(name)));
      return spelledOut({ ...call, arguments: args }, verbs.get(call.name));
    },
  };
}
