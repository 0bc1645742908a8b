/** @file Reads a scenario file and checks all of it, so that errors name a place in the file and not a moment of an episode. */
import { config } from 'zod/mini';
import { InputError, parserReason } from '../base/input-error.ts';
import { unknownName } from '../base/did-you-mean.ts';
import { canonicalJson } from '../base/json.ts';
import { repeatedKey } from '../base/repeated-key.ts';
import { schemaFault } from '../base/schema-fault.ts';
import { sha256 } from '../base/sha256.ts';
import type { BlueprintSlot, Scenario } from '../records/scenario.ts';
import { Expressions } from './cel.ts';
import { reaches } from './levels.ts';
import { checkHost } from './hosted/read-host.ts';
import { checkBlueprint } from './read-blueprint.ts';
import { checkTable } from './read-table.ts';
import { checkForbids } from './read-forbids.ts';
import { checkTool } from './read-tool.ts';
import { Reader } from './reader.ts';
import { SCENARIO } from './schema.ts';

/** A scenario that was read and checked. */
export interface ReadScenario {
  /** The name of the file, for messages. */
  file: string;
  /** The name of its domain: that of the scenario, or the one that `asOwn` gives. */
  domain: string;
  scenario: Scenario;
  /** SHA-256 of the scenario's canonical JSON: the same for files that differ only in white space and in the order of fields. */
  hash: string;
  cel: Expressions;
}

/** The most characters of a file. */
export const MOST_TEXT = 2_000_000;

/** @param text the text of the file  @param file its name, for messages  @throws InputError that names the first fault */
export function readScenario(text: string, file: string): ReadScenario {
  if (text.length > MOST_TEXT) throw new InputError(`${file}: has ${text.length} characters: expected at most ${MOST_TEXT}`);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (cause) {
    throw new InputError(`${file}: is no JSON: ${parserReason(cause)}`);
  }
  const twice = repeatedKey(text);
  if (twice !== undefined) throw new InputError(`${file}: ${twice}: stands twice in its object: expected each key once`);
  return checkScenario(value, file);
}

/** Checks the value of a file. @param file its name, for messages  @throws InputError that names the first fault */
export function checkScenario(value: unknown, file: string): ReadScenario {
  // zod would try `new Function` once, which the page's policy forbids.
  config({ jitless: true });
  const result = parsed(value, file);
  if (!result.success) {
    const { path, reason } = schemaFault(result.error, value);
    throw new InputError([file, path, reason].filter(Boolean).join(': '));
  }
  const scenario = withFacts(result.data as Scenario, file);
  const cel = new Expressions(file);
  checkNames(new Reader(scenario, cel));
  return { file, domain: scenario.name, scenario, hash: sha256(canonicalJson(scenario)), cel };
}

function parsed(value: unknown, file: string) {
  try {
    return SCENARIO.safeParse(value);
  } catch (cause) {
    // The schema calls itself for each level of nested values.
    if (cause instanceof RangeError) throw new InputError(`${file}: is nested too deeply`);
    throw cause;
  }
}

/** The scenario with its facts in the places that name them. @throws InputError */
function withFacts(scenario: Scenario, file: string): Scenario {
  const { facts = {}, blueprints } = scenario;
  const filled = (slots: Readonly<Record<string, BlueprintSlot | string>>, path: string) =>
    Object.fromEntries(
      Object.entries(slots).map(([name, slot]) => {
        if (typeof slot !== 'string') return [name, slot];
        if (!Object.hasOwn(facts, slot)) throw new InputError(`${file}: ${path}.${name}: ${unknownName('fact', slot, Object.keys(facts))}`);
        return [name, facts[slot]!];
      }),
    );
  return {
    ...scenario,
    blueprints: blueprints.map((blueprint, i) => ({
      ...blueprint,
      identity: filled(blueprint.identity, `blueprints[${i}].identity`),
      slots: filled(blueprint.slots, `blueprints[${i}].slots`),
    })),
  };
}

function checkNames(reader: Reader): void {
  const { levels, tables, tools, blueprints } = reader.scenario;
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);
  for (const [path, list] of Object.entries({ levels, tools: names(tools), blueprints: names(blueprints) })) reader.unique(list, path);
  for (const name of Object.keys(tables)) checkTable(reader, name);
  checkHost(reader);
  tools.forEach((tool, i) => checkTool(reader, tool, `tools[${i}]`));
  checkForbids(reader);
  blueprints.forEach((blueprint, i) => checkBlueprint(reader, blueprint, `blueprints[${i}]`));
  const missing = levels.find((level) => !blueprints.some(({ from }) => reaches(levels, from, level)));
  if (missing !== undefined) reader.fail('levels', missing, 'a level with a blueprint');
}
