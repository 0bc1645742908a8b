/** @file Finds the files of a Hugging Face model folder in a folder, in a list of files, or in a zip. A single GGUF file is a model too. */
import { type BenchmarkFiles, type ImportLimits, LIMITS, openFiles } from './file-source.ts';
import { isBaseWeights } from './adapter-folder.ts';
import { isGguf, ModelFolderError, type ModelParts } from './model-folder.ts';

/**
 * The limits for a zip, which is unpacked in memory, and for files that are not weights. Weights outside of a zip are read in pieces, and
 * have no limit.
 */
export const MODEL_LIMITS: ImportLimits = { ...LIMITS, files: 10_000, fileBytes: 2 ** 30, totalBytes: 2 ** 30 + 64 * 2 ** 20 };

/** Whether the playground uses a file of the folder. Other files are ignored. */
export const isModelFile = (name: string) =>
  /^(config|generation_config|tokenizer|tokenizer_config|adapter_config|model\.safetensors\.index)\.json$|^chat_template\.jinja$|^README\.md$|^[\w-][\w.-]{0,100}\.(safetensors|gguf)$/.test(
    name,
  );

const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);

/**
 * Returns the model's files by name, and the folder's name ('' if the files are in no folder) or that of the GGUF file. Weights outside of
 * a zip are not read into memory.
 * @throws ModelFolderError if there is no config.json or more than one, ImportError on a broken zip or files above the limits
 */
export async function readModelFiles(source: BenchmarkFiles): Promise<{ name: string; files: ModelParts }> {
  const { paths, read, blob } = await openFiles(source, MODEL_LIMITS);
  const [single] = paths;
  if (paths.length === 1 && isGguf(single!)) {
    const file = single!.slice(folderOf(single!).length);
    return {
      name: file.replace(/\.gguf$/i, ''),
      files: { [file]: (await blob(single!)) ?? ((await read(single!)) as Uint8Array<ArrayBuffer>) },
    };
  }
  const folders = paths.filter((path) => path === 'config.json' || path.endsWith('/config.json')).map(folderOf);
  const depth = Math.min(...folders.map((folder) => folder.split('/').length));
  const [folder, second] = folders.filter((path) => path.split('/').length === depth);
  const shown = paths.slice(0, 10).join(', ') || 'nothing';
  if (folder === undefined)
    throw new ModelFolderError(
      `config.json is missing: expected a Hugging Face folder with config.json, tokenizer.json, tokenizer_config.json and model.safetensors, or one GGUF file, found ${shown}${paths.length > 10 ? ', …' : ''}`,
    );
  if (second !== undefined)
    throw new ModelFolderError(`there are several models: ${folder}config.json, ${second}config.json; choose one folder`);
  const files: ModelParts = {};
  for (const path of paths) {
    const name = path.slice(folder.length);
    if (folderOf(path) === folder && isModelFile(name))
      files[name] = (isBaseWeights(name) && (await blob(path))) || ((await read(path)) as Uint8Array<ArrayBuffer>);
  }
  return { name: folder.split('/').at(-2) ?? '', files };
}
