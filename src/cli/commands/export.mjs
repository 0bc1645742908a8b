// @ts-check
/** `mua export`: writes a model in the format of another runtime. It runs in Node and needs no GPU. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { exportModule } from '../build.mjs';
import { UsageError } from '../errors.mjs';
import { findModel, writeFolder } from '../files.mjs';
import { JSON_FLAG, MODEL } from './shared.mjs';

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
  summary: 'write a model as ONNX, or as a Hugging Face folder; a LoRA adapter is merged into the weights',
  flags: {
    format: {
      type: 'string',
      value: 'onnx|hf',
      help: 'onnx (for transformers.js and ONNX Runtime) or hf (Hugging Face, safetensors)',
      required: true,
      choices: ['onnx', 'hf'],
    },
    model: MODEL,
    lora: { type: 'string', value: 'DIR', help: 'LoRA adapter as PEFT writes it, to merge into the weights' },
    out: { type: 'string', value: 'DIR', help: 'folder for the model', required: true },
    precision: {
      type: 'string',
      value: 'NAME',
      help: 'f32; f16 in onnx, bf16 in hf',
      default: 'f32',
      choices: ['f32', 'f16', 'bf16'],
    },
    json: JSON_FLAG,
  },
  async run({ format, model, lora, out, precision }, progress) {
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
    await writeFolder(out, async (temporary) => {
      for (const [name, bytes] of Object.entries(files)) {
        await mkdir(dirname(join(temporary, name)), { recursive: true });
        await writeFile(join(temporary, name), bytes);
      }
    });
    return { format, precision, out, files: Object.entries(files).map(([name, { length }]) => ({ name, bytes: length })) };
  },
  show: ({ out, files }) => [
    `${out} holds:`,
    ...files.map((/** @type {{ name: string, bytes: number }} */ { name, bytes }) => `  ${name}  ${bytes.toLocaleString('en')} bytes`),
  ],
};
