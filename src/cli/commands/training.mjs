// @ts-check
/** `mua train`, `mua sft` and `mua synthesize`. */
import { appendFile, copyFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readPairs, SEED } from '../args.mjs';
import { ROOT } from '../build.mjs';
import { UsageError } from '../errors.mjs';
import { checkParent, findModel, readText, writeAll, writeFolder } from '../files.mjs';
import { runInPage } from '../page.mjs';
import { DOMAIN, JSON_FLAG, LEVEL, MODEL, passLine, readUser, SET, USER_FLAGS } from './shared.mjs';

/** @typedef {import('./shared.mjs').Command} Command */

/** The bundled model of a preset. */
export const bundledModel = (/** @type {string} */ preset) => join(ROOT, 'models', preset === 'glimpse' ? 'glimpse-retail' : 'nano-retail');
/** The names in `src/training/algorithms`. */
export const ALGORITHMS = ['grpo', 'dr-grpo', 'rloo', 'reinforce-plus-plus', 'gspo', 'cispo', 'dapo', 'ppo-epochs'];
const STEPS = /** @type {const} */ ({ type: 'integer', value: 'N', help: 'optimiser steps (default: the preset’s)', min: 1 });
const { default: _, ...SEED_OF_PRESET } = SEED;

/** The page may only write plain file names into the output folder. */
export const safeName = (/** @type {string} */ name) => {
  if (basename(name) !== name || name.startsWith('.')) throw new Error(`file name "${name}" is not a plain name`);
  return name;
};

/**
 * Copies the model's files without its weights into `folder`. The page sends the new weights.
 * @param {import('../files.mjs').ModelFolder} model
 * @param {string} folder
 */
export async function copyModel(model, folder) {
  for (const name of model.files)
    if (!name.endsWith('.safetensors') && !name.endsWith('.index.json')) await copyFile(join(model.directory, name), join(folder, name));
}

/** Writes `metrics.jsonl` (one line for each step) and `trajectories.jsonl` (one line for each conversation). */
export class StepLog {
  static FILES = ['metrics.jsonl', 'trajectories.jsonl'];
  #folder = '';
  #steps = 0;
  #closed = false;
  /** @type {Promise<void>} */
  #written = Promise.resolve();

  /** @param {string} folder */
  async create(folder) {
    this.#folder = folder;
    for (const name of StepLog.FILES) await writeFile(join(folder, name), '');
  }

  /** Appends a step. @param {string} text a line of metrics, then the lines of the step's conversations */
  append(text) {
    if (this.#closed) return this.#written;
    const end = text.indexOf('\n');
    this.#written = this.#written.then(async () => {
      const [metrics, trajectories] = StepLog.FILES.map((name) => join(this.#folder, name));
      if (end >= 0) await appendFile(/** @type {string} */ (trajectories), `${text.slice(end + 1)}\n`);
      await appendFile(/** @type {string} */ (metrics), `${end < 0 ? text : text.slice(0, end)}\n`);
      this.#steps++;
    });
    return this.#written;
  }

  /** Ignores later steps and waits for the current write. Returns the names of the files, or no names if no step is finished. */
  async finished() {
    this.#closed = true;
    await this.#written.catch(() => {});
    return this.#steps > 0 ? StepLog.FILES : [];
  }
}

/** @type {Command} */
export const train = {
  summary: 'train by GRPO or another algorithm (--algorithm, --set algorithm=rft or sft); writes metrics, trajectories and the model',
  flags: {
    preset: {
      type: 'string',
      value: 'NAME',
      help: 'nano, glimpse (the shortest conversations), tiny (a quick look), nano-32 (the paper’s batch) or faithful (as MUA-RL’s code does it)',
      default: 'nano',
    },
    algorithm: {
      type: 'string',
      value: 'NAME',
      help: `settings of an algorithm, applied before --set: ${ALGORITHMS.join(', ')} (default: the preset’s, which is grpo)`,
      choices: ALGORITHMS,
    },
    model: { ...MODEL, required: false, help: 'model folder to start from (default: the preset’s bundled model)' },
    steps: STEPS,
    seed: SEED_OF_PRESET,
    'stop-on-alarm': { type: 'boolean', help: 'end the run at the step at which an alarm begins' },
    ...USER_FLAGS,
    set: SET,
    out: { type: 'string', value: 'DIR', help: 'folder for the results', required: true },
    json: JSON_FLAG,
  },
  async run({ preset, algorithm = '', model: directory, steps, seed, stopOnAlarm, set, out, ...flags }, progress) {
    const overrides = {
      ...(stopOnAlarm && { stop_on_alarm: 'true' }),
      ...readPairs('set', set),
      ...(steps === undefined ? {} : { total_training_steps: String(steps) }),
      ...(seed === undefined ? {} : { seed: String(seed) }),
    };
    const model = await findModel(directory ?? bundledModel(preset), { tokenizer: true });
    const { user, userEndpoint } = await readUser(/** @type {any} */ (flags));
    const log = new StepLog();
    return writeFolder(
      out,
      async (folder) => {
        await log.create(folder);
        await copyModel(model, folder);
        const { before, after, ...rest } = await runInPage({
          request: { command: 'train', preset, algorithm, overrides, user },
          model,
          userEndpoint,
          progress,
          onStep: (text) => log.append(text),
          onFile: (name, body) => writeFile(join(folder, safeName(name)), body),
        });
        return { out, ...rest, before, after };
      },
      { finished: () => log.finished(), note: (message) => progress.note(`mua: ${message}`) },
    );
  },
  show: ({ out, before, after, steps, seconds, dropped, retried, alarms }) => [
    `held-out success before  ${passLine(before)}`,
    `held-out success after   ${passLine(after)}`,
    `${steps} steps in ${(seconds / 60).toFixed(1)} minutes; episodes retried ${retried}, dropped ${dropped}`,
    ...alarms.map((/** @type {string} */ alarm) => `alarm: ${alarm}`),
    `results in ${out}`,
  ],
};

/** @type {Command} */
export const sft = {
  summary: 'supervised fine-tuning on conversations, on assistant tokens only',
  flags: {
    model: MODEL,
    data: { type: 'string', value: 'FILE.jsonl', help: 'OpenAI-style messages with tool calls, a conversation a line', required: true },
    steps: { ...STEPS, help: 'optimiser steps (default: two passes over the data)' },
    seed: SEED_OF_PRESET,
    set: SET,
    out: { type: 'string', value: 'DIR', help: 'folder for the model', required: true },
    json: JSON_FLAG,
  },
  async run({ model: directory, data, steps, seed, set, out }, progress) {
    const overrides = {
      ...readPairs('set', set),
      ...(steps === undefined ? {} : { total_training_steps: String(steps) }),
      ...(seed === undefined ? {} : { seed: String(seed) }),
    };
    const model = await findModel(directory, { tokenizer: true });
    if ((await readText(data)).trim() === '') throw new UsageError(`--data is "${data}": the file is empty`);
    return writeFolder(out, async (folder) => {
      await copyModel(model, folder);
      const onFile = (/** @type {string} */ name, /** @type {Buffer} */ body) => writeFile(join(folder, safeName(name)), body);
      const result = await runInPage({ request: { command: 'sft', overrides }, model, data, progress, onFile });
      return { out, ...result };
    });
  },
  show: ({ out, losses, tokens, seconds }) => [
    `loss ${losses[0]?.toFixed(4)} → ${losses.at(-1)?.toFixed(4)} in ${losses.length} steps, ${tokens} tokens, ${(tokens / seconds).toFixed(0)} tokens/s`,
    `model in ${out}`,
  ],
};

/** @type {Command} */
export const synthesize = {
  summary: 'write conversations of honest demonstrators with the scripted user, those with reward 1',
  flags: {
    domain: DOMAIN,
    level: LEVEL,
    count: { type: 'integer', value: 'N', help: 'conversations to keep', default: 2000, min: 1 },
    demonstrator: {
      type: 'string',
      value: 'NAME',
      help: 'careful (asks before each write), brisk (writes as soon as it knows enough) or both (a seeded draw)',
      default: 'both',
      choices: ['careful', 'brisk', 'both'],
    },
    carelessness: {
      type: 'number',
      value: 'P',
      help: 'injected flaws: how often the demonstrator transfers, skips the question or claims to be done; above 0 failures are kept',
      default: 0,
      min: 0,
      max: 1,
    },
    set: { ...SET, help: 'customers.* or tools.*: who the customers are and how often tools fail (default: cooperative customers)' },
    seed: SEED,
    out: { type: 'string', value: 'FILE.jsonl', help: 'output', required: true },
    json: JSON_FLAG,
  },
  async run({ domain, level, count, demonstrator, carelessness, set, seed, out }, progress) {
    await checkParent('out', out);
    /** @type {Uint8Array} */
    let jsonl = new Uint8Array();
    const result = await runInPage({
      request: {
        command: 'synthesize',
        options: { domain, level, count, ...(demonstrator !== 'both' && { styles: [demonstrator] }), carelessness, seed },
        settings: readPairs('set', set),
      },
      progress,
      onFile: (_, body) => void (jsonl = body),
    });
    await writeAll({ [out]: jsonl });
    return { out, ...result };
  },
  show: ({ out, kept, tried, solved }) => [`${kept} conversations of ${tried} tried, ${solved} of them with reward 1, in ${out}`],
};
