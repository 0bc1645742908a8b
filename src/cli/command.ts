/** @file What a command is. */
import type { Flags, Values } from './args.ts';
import type { ProgressBar } from './progress.ts';

/** `run` returns what `--json` prints; `show` turns it into lines for people. */
export interface Command<F extends Flags = Flags, Positional extends string = string, Result = unknown> {
  summary: string;
  flags: F;
  /** A first argument that is no flag. */
  positional?: { name: Positional; value: string };
  run(flags: Values<F> & { [Name in Positional]?: string | undefined }, progress: ProgressBar): Promise<Result>;
  show(result: Result): string[];
}

/** A command whose `run` gets the types of its flags. */
export const command = <const F extends Flags, Result, const Positional extends string = never>(
  definition: Command<F, Positional, Result>,
): Command<F, Positional, Result> => definition;

/** A command of which only the help and the text of flags are known. */
export interface AnyCommand extends Omit<Command, 'run' | 'positional'> {
  positional?: { name: string; value: string };
  run(flags: Record<string, unknown>, progress: ProgressBar): Promise<unknown>;
}
