/** @file The type of a command. */
import type { Flags, Values } from './args.ts';
import type { ProgressBar } from './progress.ts';

/** `run` returns the value that `--json` prints. `show` turns this value into lines for people. */
export interface Command<F extends Flags = Flags, Positional extends string = string, Result = unknown> {
  summary: string;
  flags: F;
  /** Whether the command runs in a thread of its own, because it reads files of strangers. */
  inThread?: true;
  /** The first argument, if it is not a flag. */
  positional?: { name: Positional; value: string };
  /** The second argument, if neither is a flag. */
  second?: { name: Positional; value: string };
  run(flags: Values<F> & { [Name in Positional]?: string | undefined }, progress: ProgressBar): Promise<Result>;
  show(result: Result): string[];
  /** Whether the result means that the command failed: then the exit code is 1. */
  failed?(result: Result): boolean;
}

/** Defines a command whose `run` gets its flags with their types. */
export const command = <const F extends Flags, Result, const Positional extends string = never>(
  definition: Command<F, Positional, Result>,
): Command<F, Positional, Result> => definition;

/** A command as the help and the reading of flags need it, without the types of its flags. */
export interface AnyCommand extends Omit<Command, 'run' | 'positional' | 'second'> {
  positional?: { name: string; value: string };
  second?: { name: string; value: string };
  run(flags: Record<string, unknown>, progress: ProgressBar): Promise<unknown>;
}

/** Commands with a common first word, such as `mua mcp list`. */
export interface CommandGroup {
  summary: string;
  commands: Readonly<Record<string, AnyCommand>>;
}
