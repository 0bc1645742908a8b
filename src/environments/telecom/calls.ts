/** @file What agent and user tools share: how a call's arguments are taken and refused. */
import type { Json } from '../types.ts';

/** A refusal, shown after `Error: `. */
export class Refusal extends Error {}

export type Arguments = Record<string, Json>;

export interface Parameters { required: readonly string[]; optional?: Readonly<Record<string, Json>> }

/** The arguments with defaults filled in. @throws Refusal on missing and unknown ones */
export function takeArguments(tool: string, { required, optional = {} }: Parameters, given: Arguments): Arguments {
  for (const name of Object.keys(given)) if (!required.includes(name) && !Object.hasOwn(optional, name)) throw new Refusal(`${tool} has no argument '${name}'`);
  const missing = required.filter((name) => !Object.hasOwn(given, name));
  if (missing.length) throw new Refusal(`${tool} needs the argument${missing.length > 1 ? 's' : ''} ${missing.map((name) => `'${name}'`).join(', ')}`);
  return { ...optional, ...given };
}

/** @throws Refusal where the original would stumble over another type */
export function text(value: Json | undefined, name: string): string {
  if (typeof value !== 'string') throw new Refusal(`${name} must be a string`);
  return value;
}
