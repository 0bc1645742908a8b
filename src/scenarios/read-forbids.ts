/** @file Checks `forbids` of a scenario file. */
import type { Reader } from './reader.ts';

/** @throws InputError */
export function checkForbids(reader: Reader): void {
  const { policy, forbids = [] } = reader.scenario;
  for (const [i, { tools, when, says }] of forbids.entries()) {
    const path = `forbids[${i}]`;
    for (const [j, name] of tools.entries()) {
      const { kind, parameters } = reader.tool(name, `${path}.tools[${j}]`);
      if (kind !== 'write') reader.fail(`${path}.tools[${j}]`, name, 'a tool of the kind write');
      reader.cel.check(when, { args: Object.keys(parameters), shown: null }, `${path}.when`);
    }
    if (!policy.some((rule) => rule.includes(says))) reader.fail(`${path}.says`, says, 'words of the policy');
  }
}
