// @ts-check
/** `mua export`: writes a model in the format of another runtime. It runs in Node and needs no GPU. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onnxModule } from '../build.mjs';
import { UsageError } from '../errors.mjs';
import { findModel, writeFolder } from '../files.mjs';
import { JSON_FLAG, MODEL } from './shared.mjs';

/** Errors about the files of --model. */
const FILE_ERRORS = ['ModelFolderError', 'ConfigError', 'SafetensorsError', 'OnnxError'];

/** @type {import('./shared.mjs').Command} */
export const exportModel = {
  summary: 'write a model as ONNX, for transformers.js and ONNX Runtime',
  flags: {
    format: { type: 'string', value: 'onnx', help: 'format of the files', required: true, choices: ['onnx'] },
    model: MODEL,
    out: { type: 'string', value: 'DIR', help: 'folder for the model', required: true },
    precision: { type: 'string', value: 'f32|f16', help: 'float32 or float16', default: 'f32', choices: ['f32', 'f16'] },
    json: JSON_FLAG,
  },
  async run({ format, model, out, precision }, progress) {
    const { directory, files: names } = await findModel(model, { tokenizer: true });
    const { onnxFolder } = await onnxModule((text) => progress.note(text));
    const contents = await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(directory, name)))]));
    /** @type {Record<string, Uint8Array>} */
    let files;
    try {
      files = onnxFolder(Object.fromEntries(contents), precision);
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error);
      throw FILE_ERRORS.includes(name) ? new UsageError(`--model is "${model}": ${message}`) : error;
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
