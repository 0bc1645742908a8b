/**
 * @file `mua`: the entry point of the command line. Commands that need a model run the built app in headless Chromium, or a
 * session in Node. Other commands run in Node. Results go to stdout; progress and errors go to stderr. Exit codes: 0 done, 1
 * failed, 2 wrong use, 130 stopped by Ctrl-C, 143 stopped by SIGTERM.
 */
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { didYouMean } from '../base/did-you-mean.ts';
import { readFlags } from './args.ts';
import type { AnyCommand, CommandGroup } from './command.ts';
import { audit } from './commands/audit.ts';
import { convert } from './commands/convert.ts';
import { replay, rescore } from './commands/benchmark.ts';
import { dataCardCommand } from './commands/data-card.ts';
import { envServe } from './commands/env-serve.ts';
import { experiment } from './commands/experiment.ts';
import { evaluate } from './commands/evaluate.ts';
import { exportRun } from './commands/export-run.ts';
import { gate } from './commands/gate.ts';
import { exportModel } from './commands/export.ts';
import { bench, generate, grad, plan, score, selfTest } from './commands/model.ts';
import { mcp } from './commands/mcp.ts';
import { grade } from './commands/grade.ts';
import { models } from './commands/models.ts';
import { overlap } from './commands/overlap.ts';
import { open, userServer } from './commands/local.ts';
import { report } from './commands/report.ts';
import { robust } from './commands/robust.ts';
import { synthesize } from './commands/synthesize.ts';
import { scenario } from './commands/scenario.ts';
import { shadow } from './commands/shadow.ts';
import { train } from './commands/training.ts';
import { dpo, sft } from './commands/tuning.ts';
import { verify, verifyLog } from './commands/verify.ts';
import { oneLine, printable, printableJson, UsageError } from './errors.ts';
import { runInterruptions } from './files.ts';
import { ProgressBar } from './progress.ts';
import { reading } from './read.ts';
import { listenToWaits } from '../trainer/customer-server.ts';
import { removeFolders } from '../mcp/node/folders.ts';
import { connectWith } from '../scenarios/hosted/connect.ts';
import { type FromThread, ownScript, runInThread, setOwnScript, type ThreadOrder } from './thread.ts';

connectWith(async (target) => (await import('../mcp/node/index.ts')).connect(target));

const COMMANDS: Record<string, AnyCommand | CommandGroup> = {
  open,
  train,
  experiment,
  evaluate,
  robust,
  report,
  gate,
  overlap,
  synthesize,
  grade,
  'data-card': dataCardCommand,
  sft,
  dpo,
  score,
  grad,
  generate,
  plan,
  models,
  bench,
  'self-test': selfTest,
  export: exportModel,
  'export-run': exportRun,
  convert,
  verify,
  'verify-log': verifyLog,
  audit,
  shadow,
  replay,
  rescore,
  'user-server': userServer,
  'env-serve': envServe,
  scenario,
  mcp,
};

/** What this thread shall do, if it is a thread of the command line. */
const order = workerData as (Partial<ThreadOrder> & { plays?: true }) | null;

/** Only the bundled command line can be the script of a thread. */
if (import.meta.url.endsWith('.js')) setOwnScript(fileURLToPath(import.meta.url));

/** @param argv the arguments without `node` and the script @returns the exit code */
export async function main([word, ...args]: string[]): Promise<number> {
  if (word === undefined || word === 'help' || word === '--help' || word === '-h') {
    const topic = word === 'help' && Object.hasOwn(COMMANDS, args[0] ?? '') ? COMMANDS[args[0]!] : undefined;
    console.log(topic ? helpOf(args[0]!, topic) : help());
    return 0;
  }
  const progress = new ProgressBar(order?.terminal && { ...order.terminal, write: (text) => process.stderr.write(text) });
  try {
    const found = find(word, args);
    if (args.includes('--help') || args.includes('-h')) {
      console.log(helpOf(...found));
      return 0;
    }
    const [name, command] = found;
    if ('commands' in command) throw new UsageError(`mua ${name} what? expected ${Object.keys(command.commands).join(', ')}`);
    const script = ownScript();
    if (command.inThread && script !== null && isMainThread) {
      listenForInterrupts(progress);
      return await runInThread(script, [word, ...args]);
    }
    const words = placesOf(command).map((place) => [place.name, args[0]?.startsWith('-') ? undefined : args.shift()]);
    const flags: Record<string, unknown> = { ...readFlags(args, command.flags), ...Object.fromEntries(words) };
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

/** The command that the words name, or the group if they name none of its commands. Takes the second word from `args`. @throws UsageError */
function find(word: string, args: string[]): [name: string, AnyCommand | CommandGroup] {
  const choose = <T>(name: string, known: Readonly<Record<string, T>>, group = ''): T => {
    if (Object.hasOwn(known, name)) return known[name]!;
    throw new UsageError(
      `unknown command "${group}${name}"${didYouMean(name, Object.keys(known))}: expected ${Object.keys(known).join(', ')}`,
    );
  };
  const entry = choose(word, COMMANDS);
  if (!('commands' in entry) || args[0] === undefined || args[0].startsWith('-')) return [word, entry];
  const second = args.shift()!;
  return [`${word} ${second}`, choose(second, entry.commands, `${word} `)];
}

/** The arguments of a command that are not flags. */
const placesOf = ({ positional, second }: AnyCommand) => [positional, second].filter((place) => place !== undefined);

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
  // The servers that other threads have started end with this process.
  process.once('exit', removeFolders);
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

function helpOf(name: string, command: AnyCommand | CommandGroup): string {
  const { summary } = command;
  if ('commands' in command) {
    const rows = Object.entries(command.commands).map(([own, { summary }]) => `  ${own.padEnd(12)} ${summary}`);
    return [`./mua ${name}: ${summary}`, '', ...rows, '', `./mua ${name} COMMAND --help shows its flags.`].join('\n');
  }
  const { flags } = command;
  const rows = Object.entries(flags).map(([flag, { type, value, help: text, default: fallback, required }]) => {
    const left = `--${flag}${type === 'boolean' ? '' : ` ${value}`}`;
    const note = required ? ' (required)' : fallback === undefined || text.includes('default') ? '' : ` (default ${fallback})`;
    return `  ${left.padEnd(24)} ${text}${note}`;
  });
  const words = placesOf(command).map(({ value }) => ` ${value}`);
  return [`./mua ${name}${words.join('')}: ${summary}`, '', ...rows].join('\n');
}

if (parentPort && order?.plays) void import('./synthesis-part.ts').then(({ serveParts }) => serveParts(parentPort!));
if (parentPort && order?.muaArguments) {
  const port = parentPort;
  const send = (message: FromThread) => port.postMessage(message);
  port.on('message', () => send('alive'));
  port.unref();
  // Not awaited, because the modules that a command imports wait for the end of this module.
  void main(order.muaArguments).then((code) => send({ code }));
}
