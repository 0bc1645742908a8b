/** @file How telecom's tools take their arguments. */
import { checkArguments, type Arguments } from '../exact/arguments.ts';
import type { Json } from '../types.ts';

export interface Parameters { required: readonly string[]; optional?: Readonly<Record<string, Json>> }

/** The arguments with defaults filled in. @throws {Refusal} on missing and unknown ones */
export function takeArguments(tool: string, { required, optional = {} }: Parameters, given: Arguments): Arguments {
  const optionalNames = Object.keys(optional);
  checkArguments(tool, given, [...required, ...optionalNames], optionalNames);
  return { ...optional, ...given };
}
