/**
 * @file `mua`: the entry point of the command line. Commands that need a model run the built app in headless Chromium, or a
 * session in Node. Other commands run in Node. Results go to stdout; progress and errors go to stderr. Exit codes: 0 done, 1
 * failed, 2 wrong use, 130 stopped by Ctrl-C, 143 stopped by SIGTERM.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { didYouMean } from '../base/did-you-mean.ts';
import { readFlags } from './args.ts';
import type { AnyCommand } from './command.ts';
import { audit } from './commands/audit.ts';
import { replay, rescore } from './commands/benchmark.ts';
import { envServe } from './commands/env-serve.ts';
import { experiment } from './commands/experiment.ts';
import { evaluate } from './commands/evaluate.ts';
import { exportRun } from './commands/export-run.ts';
import { gate } from './commands/gate.ts';
import { exportModel } from './commands/export.ts';
import { bench, generate, grad, plan, score, selfTest } from './commands/model.ts';
import { models } from './commands/models.ts';
import { overlap } from './commands/overlap.ts';
import { open, userServer } from './commands/local.ts';
import { report } from './commands/report.ts';
import { robust } from './commands/robust.ts';
import { synthesize } from './commands/synthesize.ts';
import { shadow } from './commands/shadow.ts';
import { sft, train } from './commands/training.ts';
import { verify, verifyLog } from './commands/verify.ts';
import { oneLine, printable, printableJson, UsageError } from './errors.ts';
import { runInterruptions } from './files.ts';
import { ProgressBar } from './progress.ts';
import { reading } from './read.ts';
import { listenToWaits } from '../trainer/customer-server.ts';
import { type FromThread, runInThread, type ThreadOrder } from './thread.ts';

const COMMANDS: Record<string, AnyCommand> = {
  open,
  train,
  experiment,
  evaluate,
  robust,
  report,
  gate,
  overlap,
  synthesize,
  sft,
  score,
  grad,
  generate,
  plan,
  models,
  bench,
  'self-test': selfTest,
  export: exportModel,
  'export-run': exportRun,
  verify,
  'verify-log': verifyLog,
  audit,
  shadow,
  replay,
  rescore,
  'user-server': userServer,
  'env-serve': envServe,
};

/** What this thread shall do, if it is a thread of the command line. */
const order = workerData as Partial<ThreadOrder> | null;

/** Only the bundled command line can be the script of a thread. */
const BUNDLED = import.meta.url.endsWith('.js');

/** @param argv the arguments without `node` and the script @returns the exit code */
export async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const topic = name === 'help' && Object.hasOwn(COMMANDS, args[0] ?? '') ? COMMANDS[args[0]!] : undefined;
    console.log(topic ? commandHelp(args[0]!, topic) : help());
    return 0;
  }
  const progress = new ProgressBar(order?.terminal && { ...order.terminal, write: (text) => process.stderr.write(text) });
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command)
      throw new UsageError(
        `unknown command "${name}"${didYouMean(name, Object.keys(COMMANDS))}: expected ${Object.keys(COMMANDS).join(', ')}`,
      );
    if (args.includes('--help') || args.includes('-h')) {
      console.log(commandHelp(name, command));
      return 0;
    }
    if (command.inThread && BUNDLED && isMainThread) {
      listenForInterrupts(progress);
      return await runInThread(fileURLToPath(import.meta.url), [name, ...args]);
    }
    const { positional } = command;
    const first = positional && args[0] !== undefined && !args[0].startsWith('-') ? args.shift() : undefined;
    const flags: Record<string, unknown> = { ...readFlags(args, command.flags), ...(positional && { [positional.name]: first }) };
    if (isMainThread) listenForInterrupts(progress);
    progress.phase(`mua ${name}`);
    reading.listen((text) => progress.activity(text));
    listenToWaits((text) => progress.activity(text));
    const result = await command.run(flags, progress);
    progress.end();
    console.log(flags.json ? printableJson(result) : printable(command.show(result).join('\n')));
    return command.failed?.(result) ? 1 : 0;
  } catch (error) {
    if (interruption) return interruption; // the interruption closed the browser, which caused this error
    progress.end();
    const { message, exitCode } = readable(error);
    console.error(`mua: ${oneLine(message)}`);
    if (exitCode === undefined && process.env.MUA_DEBUG) console.error(error);
    return exitCode ?? 1;
  }
}

/** The error, or for input that is nested too deeply for a reader, an error that says so. */
const readable = (error: unknown): Error & { exitCode?: number } =>
  error instanceof RangeError && /call stack/.test(error.message)
    ? new UsageError('a file or a value is nested too deeply: expected fewer levels')
    : (error as Error);

let interruption: Promise<number> | null = null;

function listenForInterrupts(progress: ProgressBar): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      interruption = stopped(progress).then(() => (signal === 'SIGINT' ? 130 : 143));
      process.exit(await interruption);
    });
  }
}

/** Ends the work, and says what is kept of it. */
async function stopped(progress: ProgressBar): Promise<void> {
  progress.phase('stopping');
  const kept = await runInterruptions();
  progress.end();
  for (const line of kept.length > 0 ? kept : ['stopped: nothing was written']) console.error(`mua: ${oneLine(line)}`);
}

function help(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`);
  return ['usage: ./mua COMMAND [flags]', '', ...rows, '', './mua COMMAND --help shows its flags.'].join('\n');
}

function commandHelp(name: string, { summary, flags, positional }: AnyCommand): string {
  const rows = Object.entries(flags).map(([flag, { type, value, help: text, default: fallback, required }]) => {
    const left = `--${flag}${type === 'boolean' ? '' : ` ${value}`}`;
    const note = required ? ' (required)' : fallback === undefined || text.includes('default') ? '' : ` (default ${fallback})`;
    return `  ${left.padEnd(24)} ${text}${note}`;
  });
  return [`./mua ${name}${positional ? ` ${positional.value}` : ''}: ${summary}`, '', ...rows].join('\n');
}

if (parentPort && order?.muaArguments) {
  const port = parentPort;
  const send = (message: FromThread) => port.postMessage(message);
  port.on('message', () => send('alive'));
  port.unref();
  // Not awaited, because the modules that a command imports wait for the end of this module.
  void main(order.muaArguments).then((code) => send({ code }));
}
