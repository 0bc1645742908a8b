/** @file Reads the arguments of telecom's tools. */
import { checkArguments, type Arguments } from '../exact/arguments.ts';
import type { Json } from '../../records/json.ts';

export interface Parameters {
  required: readonly string[];
  optional?: Readonly<Record<string, Json>>;
}

/** Adds default values to the arguments. @throws {Refusal} on missing and unknown arguments */
export function takeArguments(tool: string, { required, optional = {} }: Parameters, given: Arguments): Arguments {
  const optionalNames = Object.keys(optional);
  checkArguments(tool, given, [...required, ...optionalNames], optionalNames);
  return { ...optional, ...given };
}
