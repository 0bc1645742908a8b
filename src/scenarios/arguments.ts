/** @file Checks the arguments of a call. The messages are for the agent. */
import { didYouMean } from '../base/did-you-mean.ts';
import { shown } from '../base/input-error.ts';
import type { Json } from '../records/json.ts';
import type { ScenarioTool } from '../records/scenario.ts';
import { fits, TYPE_WORDS } from './types.ts';

const MOST_CHARACTERS = 500;
const MOST_ENTRIES = 50;

/** The first fault of the arguments, or undefined. Null is the same as no value. */
export function wrongArgument({ name: tool, parameters }: ScenarioTool, given: Readonly<Record<string, Json>>): string | undefined {
  const known = Object.keys(parameters);
  const extra = Object.keys(given).find((name) => !known.includes(name));
  if (extra !== undefined)
    return `${tool} has no parameter ${shown(extra, 40)}${didYouMean(extra, known)}; expected ${known.length ? `only ${known.join(', ')}` : 'none'}`;
  for (const [name, { type, enum: choices, optional }] of Object.entries(parameters)) {
    const value = Object.hasOwn(given, name) ? given[name]! : null;
    if (value === null) {
      if (optional) continue;
      return `${name} is missing; expected ${TYPE_WORDS[type]}`;
    }
    if (!fits(value, type)) return `${name} is ${shown(value, 40)}; expected ${TYPE_WORDS[type]}`;
    const texts = typeof value === 'string' ? [value] : Array.isArray(value) ? (value as string[]) : [];
    if (texts.length > MOST_ENTRIES) return `${name} has ${texts.length} entries; expected at most ${MOST_ENTRIES}`;
    const long = texts.find((text) => text.length > MOST_CHARACTERS);
    if (long !== undefined) return `${name} has ${long.length} characters; expected at most ${MOST_CHARACTERS}`;
    const wrong = choices && texts.find((text) => !choices.includes(text));
    if (wrong !== undefined) return `${name} is ${shown(wrong, 40)}${didYouMean(wrong, choices!)}; expected one of ${choices!.join(', ')}`;
  }
  return undefined;
}
