/** @file Reads a visitor's own scenario, and makes it a domain of this thread. */
import { InputError, shown } from '../base/input-error.ts';
import { asOwn, moduleOf, summaryOf } from '../scenarios/module.ts';
import type { ReadScenario } from '../scenarios/read.ts';
import { addDomain, isTaken } from './registry.ts';

/** Reads the file of a visitor's scenario. @throws InputError that names the first fault, or a name that is in use */
export async function readOwn(text: string, file: string): Promise<ReadScenario> {
  const { readScenario } = await import('../scenarios/read.ts');
  const own = asOwn(readScenario(text, file));
  if (isTaken(own.domain))
    throw new InputError(`${file}: name: is "${own.scenario.name}", the name of a built-in domain: choose another name`);
  return own;
}

/** Makes the scenario a domain of this thread. */
export const addOwn = (own: ReadScenario): void => addDomain(moduleOf(summaryOf(own), async () => own));

/** What the scenario starts or asks outside this program: the program or the address of its MCP server. Undefined if it needs neither. */
export function reachedBy({ scenario: { host } }: ReadScenario): string | undefined {
  if (!host || host.here !== undefined) return undefined;
  return host.command ? `the program ${shown(host.command.join(' '), 200)}` : `the server ${shown(host.url, 200)}`;
}
