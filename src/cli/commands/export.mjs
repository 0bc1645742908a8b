// @ts-check
/** `mua export`: a model in the format of another runtime, or an environment for another engine. It runs in Node and needs no GPU. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { envServerModule, exportModule } from '../build.mjs';
import { UsageError } from '../errors.mjs';
import { findModel, writeFolder } from '../files.mjs';
import { STAGE_FLAGS, readPlace } from './env-serve.mjs';
import { JSON_FLAG, MODEL } from './shared.mjs';

const ENGINES = ['trl', 'verifiers', 'verl'];

/** Errors about the files of --model and --lora. */
const FILE_ERRORS = ['ModelFolderError', 'ConfigError', 'SafetensorsError', 'OnnxError', 'ImportError'];

/** @param {import('../files.mjs').ModelFolder} folder */
async function contentsOf({ paths }) {
  return Object.fromEntries(
    await Promise.all(Object.entries(paths).map(async ([name, path]) => [name, new Uint8Array(await readFile(path))])),
  );
}

/** @type {import('./shared.mjs').Command} */
export const exportModel = {
  summary: 'write a model as ONNX or as a Hugging Face folder, or a folder with which TRL, verifiers or verl trains',
  flags: {
    format: {
      type: 'string',
      value: 'NAME',
      help: 'a model as onnx (for transformers.js and ONNX Runtime) or hf (Hugging Face, safetensors); or what trl, verifiers or verl needs to train on mua env-serve',
      required: true,
      choices: ['onnx', 'hf', ...ENGINES],
    },
    model: {
      ...MODEL,
      required: false,
      help: 'model folder in Hugging Face layout; with an engine, the model to train, also by its name on the Hub (required)',
    },
    lora: { type: 'string', value: 'DIR', help: 'LoRA adapter as PEFT writes it, to merge into the weights' },
    out: { type: 'string', value: 'DIR', help: 'folder for the model', required: true },
    precision: {
      type: 'string',
      value: 'NAME',
      help: 'f32; f16 in onnx, bf16 in hf',
      default: 'f32',
      choices: ['f32', 'f16', 'bf16'],
    },
    ...STAGE_FLAGS,
    tasks: { type: 'integer', value: 'N', help: 'with an engine: training tasks of a generated domain (default 1,000)', min: 1 },
    url: { type: 'string', value: 'URL', help: 'with an engine: where mua env-serve will be (default http://127.0.0.1:8019)' },
    json: JSON_FLAG,
  },
  async run(flags, progress) {
    const { format, model, lora, out, precision } = flags;
    if (model === undefined) throw new UsageError(`--model is missing: expected --model ${ENGINES.includes(format) ? 'NAME' : 'DIR'}`);
    if (ENGINES.includes(format)) return exportForEngine(flags, progress);
    const folder = await findModel(model, { tokenizer: format === 'onnx', lora });
    const { exportFolder } = await exportModule((text) => progress.note(text));
    /** @type {Record<string, Uint8Array>} */
    let files;
    try {
      files = exportFolder(await contentsOf(folder), { format, precision });
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error);
      const given = lora !== undefined && message.startsWith('adapter_') ? `--lora is "${lora}"` : `--model is "${model}"`;
      throw FILE_ERRORS.includes(name) ? new UsageError(`${given}: ${message}`) : error;
    }
    return { format, precision, ...(await writeAllIn(out, files)) };
  },
  show: ({ out, files }) => [
    `${out} holds:`,
    ...files.map((/** @type {{ name: string, bytes: number }} */ { name, bytes }) => `  ${name}  ${bytes.toLocaleString('en')} bytes`),
  ],
};

/**
 * @param {string} out
 * @param {Record<string, Uint8Array>} files
 */
async function writeAllIn(out, files) {
  await writeFolder(out, async (temporary) => {
    for (const [name, bytes] of Object.entries(files)) {
      await mkdir(dirname(join(temporary, name)), { recursive: true });
      await writeFile(join(temporary, name), bytes);
    }
  });
  return { out, files: Object.entries(files).map(([name, { length }]) => ({ name, bytes: length })) };
}

/**
 * @param {Record<string, any>} flags
 * @param {import('../progress.mjs').ProgressBar} progress
 */
async function exportForEngine(
  { format, model, out, tasks = 1000, url = 'http://127.0.0.1:8019', lora, precision, json: _, ...flags },
  progress,
) {
  if (lora !== undefined || precision !== 'f32')
    throw new UsageError(`--${lora === undefined ? 'precision' : 'lora'} is given: expected --format onnx or hf with it`);
  const place = await readPlace({ user: 'scripted', ...flags }, (text) => progress.note(text));
  const { exportAdapter } = await envServerModule((text) => progress.note(text));
  const given = ['domain', 'level', 'rules', 'data', 'preset', 'seed'].flatMap((name) =>
    flags[name] === undefined ? [] : [`--${name} ${flags[name]}`],
  );
  const settings = flags.set.map((/** @type {string} */ pair) => `--set ${pair}`);
  const command = ['npx mua env-serve', ...given, ...settings, '--max-sessions 256'].join(' ');
  let files;
  try {
    files = await exportAdapter(place, { engine: format, count: tasks, model, url, command });
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    throw ['InputError', 'ImportError', 'ConfigError'].includes(name) ? new UsageError(message) : error;
  }
  const bytes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
  return { format, ...(await writeAllIn(out, bytes)) };
}
