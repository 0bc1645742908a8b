/**
 * @file `mua export`: writes a model in the format of another runtime, or an environment for another engine. It runs in Node
 * and needs no GPU.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type EngineName, ENGINES } from '../../formats/engines.ts';
import type { ModelFiles } from '../../records/model.ts';
import type { Flags, Values } from '../args.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { findModel, type ModelFolder, writeFolder } from '../files.ts';
import { contentOf } from '../job-files.ts';
import type { ProgressBar } from '../progress.ts';
import { STAGE_FLAGS, readPlace } from './env-serve.ts';
import { tokenizerFiles } from '../tokenizer-files.ts';
import { JSON_FLAG, MODEL } from './shared.ts';

const isEngine = (format: string): format is EngineName => ENGINES.some((name) => name === format);

/** Names of the errors about the files of --model and --lora. */
const FILE_ERRORS = ['ModelFolderError', 'ConfigError', 'SafetensorsError', 'GgufError', 'OnnxError', 'ImportError'];

async function contentsOf({ files }: ModelFolder): Promise<ModelFiles> {
  const read = Object.entries(files).map(async ([name, offer]) => [name, await contentOf(offer)] as const);
  return Object.fromEntries(await Promise.all(read));
}

const FLAGS = {
  format: {
    type: 'string',
    value: 'NAME',
    help: 'a model as onnx (for transformers.js and ONNX Runtime) or hf (Hugging Face, safetensors); or what trl, verifiers, verl or skyrl needs to train on mua env-serve',
    required: true,
    choices: ['onnx', 'hf', ...ENGINES],
  },
  model: {
    ...MODEL,
    required: false,
    help: 'model folder in Hugging Face layout, or a GGUF file; with an engine, the model to train, also by its name on the Hub (required)',
  },
  lora: { type: 'string', value: 'DIR', help: 'LoRA adapter in PEFT’s format, to merge into the weights' },
  out: { type: 'string', value: 'DIR', help: 'folder for the files', required: true },
  precision: {
    type: 'string',
    value: 'NAME',
    help: 'format of the weights: f32, f16 (only for onnx) or bf16 (only for hf)',
    default: 'f32',
    choices: ['f32', 'f16', 'bf16'],
  },
  ...STAGE_FLAGS,
  tasks: { type: 'integer', value: 'N', help: 'with an engine: number of training tasks of a generated domain (default 1,000)', min: 1 },
  url: { type: 'string', value: 'URL', help: 'with an engine: the address of mua env-serve (default http://127.0.0.1:8019)' },
  form: {
    type: 'string',
    value: 'NAME',
    help: 'with trl: text if the agent speaks in plain text, as in training here, or calls if it speaks with the tool respond (default: text for the folder of a model of the playground, else calls)',
    choices: ['text', 'calls'],
  },
  json: JSON_FLAG,
} as const satisfies Flags;

/** `precision` is only present for a model. */
interface Exported extends Written {
  format: string;
  precision?: string;
}

export const exportModel = command({
  summary: 'write a model as ONNX or as a Hugging Face folder, or a folder with which TRL, verifiers, verl or SkyRL trains',
  flags: FLAGS,
  async run(flags, progress): Promise<Exported> {
    const { format, model, lora, out, precision } = flags;
    if (model === undefined) throw new UsageError(`--model is missing: expected --model ${isEngine(format) ? 'NAME' : 'DIR'}`);
    if (isEngine(format)) return exportForEngine(format, model, flags, progress);
    const folder = await findModel(model, { tokenizer: format === 'onnx', lora });
    progress.phase(`writing ${model} as ${format}`);
    const { exportFolder } = await import('../../trainer/export-folder.ts');
    let files: Record<string, Uint8Array>;
    try {
      files = await exportFolder(await contentsOf(folder), { format, precision });
    } catch (error) {
      const { name, message } = error as Error;
      const given = lora !== undefined && message.startsWith('adapter_') ? `--lora is "${lora}"` : `--model is "${model}"`;
      throw FILE_ERRORS.includes(name) ? new UsageError(`${given}: ${message}`) : error;
    }
    return { format, precision, ...(await writeAllIn(out, files, progress)) };
  },
  show: ({ out, files }) => [`${out} contains:`, ...files.map(({ name, bytes }) => `  ${name}  ${bytes.toLocaleString('en')} bytes`)],
});

interface Written {
  out: string;
  files: { name: string; bytes: number }[];
}

async function writeAllIn(out: string, files: Record<string, Uint8Array>, progress: ProgressBar): Promise<Written> {
  const all = Object.entries(files);
  await writeFolder(out, async (temporary) => {
    for (const [i, [name, bytes]] of all.entries()) {
      progress.update(i, all.length, `files written to ${out}`);
      await mkdir(dirname(join(temporary, name)), { recursive: true });
      await writeFile(join(temporary, name), bytes);
    }
  });
  return { out, files: all.map(([name, { length }]) => ({ name, bytes: length })) };
}

async function exportForEngine(
  engine: EngineName,
  model: string,
  { out, tasks = 1000, url = 'http://127.0.0.1:8019', lora, precision, form, ...flags }: Values<typeof FLAGS>,
  progress: ProgressBar,
): Promise<Exported> {
  if (form !== undefined && engine !== 'trl') throw new UsageError('--form is given: expected --format trl with it');
  if (lora !== undefined || precision !== 'f32')
    throw new UsageError(`--${lora === undefined ? 'precision' : 'lora'} is given: expected --format onnx or hf with it`);
  if (/\.gguf$/i.test(model))
    throw new UsageError(
      `--model is "${model}": expected a name on the Hub or a Hugging Face folder, as ${engine} reads no GGUF files; --format hf makes a folder`,
    );
  const place = await readPlace({ user: 'scripted', ...flags }, progress);
  const { exportAdapter } = await import('../../serve/index.ts');
  const given = (['domain', 'world', 'level', 'rules', 'data', 'preset', 'seed'] as const).flatMap((name) =>
    flags[name] === undefined ? [] : [`--${name} ${flags[name]}`],
  );
  const settings = flags.set.map((pair) => `--set ${pair}`);
  const serveCommand = ['./mua env-serve', ...given, ...settings, '--max-sessions 256'].join(' ');
  let files: Record<string, string>;
  try {
    const { isOfPlayground } = await import('../../trainer/hugging-face.ts');
    const folder = await tokenizerFiles(model);
    const own = folder !== null && (await isOfPlayground(folder));
    files = await exportAdapter(place, {
      engine,
      count: tasks,
      // The engine runs in another folder.
      model: folder === null ? model : resolve(model),
      form: form ?? (own ? 'text' : 'calls'),
      url,
      command: serveCommand,
    });
  } catch (error) {
    const { name, message } = error as Error;
    throw ['InputError', 'ImportError', 'ConfigError'].includes(name) ? new UsageError(message) : error;
  }
  const bytes = Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]));
  return { format: engine, ...(await writeAllIn(out, bytes, progress)) };
}
