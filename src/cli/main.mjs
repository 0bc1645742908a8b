// @ts-check
/**
 * `mua`: commands that need a model run the built app in headless Chromium. Other commands run in Node. Results go to stdout,
 * progress and errors to stderr. Exit codes: 0 done, 1 failed, 2 wrong use, 130 stopped by Ctrl-C, 143 stopped by SIGTERM.
 */
import { readFlags } from './args.mjs';
import { replay, rescore } from './commands/benchmark.mjs';
import { envServe } from './commands/env-serve.mjs';
import { experiment } from './commands/experiment.mjs';
import { evaluate } from './commands/evaluate.mjs';
import { exportRun } from './commands/export-run.mjs';
import { exportModel } from './commands/export.mjs';
import { bench, generate, grad, plan, score } from './commands/model.mjs';
import { open, userServer } from './commands/local.mjs';
import { sft, synthesize, train } from './commands/training.mjs';
import { verify, verifyLog } from './commands/verify.mjs';
import { oneLine, UsageError } from './errors.mjs';
import { runInterruptions } from './files.mjs';
import { ProgressBar } from './progress.mjs';

/** @type {Record<string, import('./commands/shared.mjs').Command>} */
const COMMANDS = {
  open,
  train,
  experiment,
  evaluate,
  synthesize,
  sft,
  score,
  grad,
  generate,
  plan,
  bench,
  export: exportModel,
  'export-run': exportRun,
  verify,
  'verify-log': verifyLog,
  replay,
  rescore,
  'user-server': userServer,
  'env-serve': envServe,
};

/**
 * @param {string[]} argv without node and script
 * @returns {Promise<number>} the exit code
 */
export async function main([name, ...args]) {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const topic = name === 'help' ? COMMANDS[args[0] ?? ''] : undefined;
    console.log(topic ? commandHelp(/** @type {string} */ (args[0]), topic) : help());
    return 0;
  }
  const progress = new ProgressBar();
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command) throw new UsageError(`unknown command "${name}": expected ${Object.keys(COMMANDS).join(', ')}`);
    if (args.includes('--help') || args.includes('-h')) {
      console.log(commandHelp(name, command));
      return 0;
    }
    const { positional } = command;
    const first = positional && args[0] !== undefined && !args[0].startsWith('-') ? args.shift() : undefined;
    const flags = { ...readFlags(args, command.flags), ...(positional && { [positional.name]: first }) };
    listenForInterrupts();
    const result = await command.run(flags, progress);
    console.log(flags.json ? JSON.stringify(result) : command.show(result).join('\n'));
    return 0;
  } catch (error) {
    if (interruption) return interruption; // the closed browser caused this error
    progress.clear();
    const { message, exitCode } = /** @type {Error & { exitCode?: number }} */ (error);
    console.error(`mua: ${oneLine(message)}`);
    if (exitCode === undefined && process.env.MUA_DEBUG) console.error(error);
    return exitCode ?? 1;
  }
}

/** @type {Promise<number> | null} */
let interruption = null;

function listenForInterrupts() {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
    process.once(signal, async () => {
      interruption = runInterruptions().then(() => (signal === 'SIGINT' ? 130 : 143));
      process.exit(await interruption);
    });
  }
}

function help() {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`);
  return ['usage: mua COMMAND [flags]', '', ...rows, '', 'mua COMMAND --help shows its flags.'].join('\n');
}

/** @param {string} name @param {import('./commands/shared.mjs').Command} command */
function commandHelp(name, { summary, flags, positional }) {
  const rows = Object.entries(flags).map(([flag, { type, value, help: text, default: fallback, required }]) => {
    const left = `--${flag}${type === 'boolean' ? '' : ` ${value}`}`;
    const note = required ? ' (required)' : fallback === undefined || text.includes('default') ? '' : ` (default ${fallback})`;
    return `  ${left.padEnd(24)} ${text}${note}`;
  });
  return [`mua ${name}${positional ? ` ${positional.value}` : ''}: ${summary}`, '', ...rows].join('\n');
}
