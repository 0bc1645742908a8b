/** @file Exports a model folder in another format. If the folder has a LoRA adapter, the adapter is merged into the weights. */
import type { ModelFiles } from '../records/model.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { adapterFiles, mergeAdapter, readAdapter } from '../exchange/adapter-folder.ts';
import { loadModel, ModelFolderError, withWeights } from '../exchange/model-folder.ts';
import { onnxFolder } from '../exchange/onnx/onnx-folder.ts';
import { inFolder, zipFiles } from '../exchange/zip.ts';
import { forTransformers } from './hugging-face.ts';

export interface ExportOptions {
  /** `hf`: a Hugging Face folder with safetensors. `peft`: only the adapter. */
  format: 'onnx' | 'hf' | 'peft';
  /** `f16` is for `onnx` only, `bf16` for `hf` only. `peft` is always `f32`. */
  precision: 'f32' | 'f16' | 'bf16';
}

/**
 * @throws ModelFolderError if the format does not have the precision, or if the folder has no adapter; also the errors of `onnxFolder`,
 *   `loadModel`, `readAdapter` and `mergeAdapter`
 */
export async function exportFolder(files: ModelFiles, { format, precision }: ExportOptions): Promise<ModelFiles> {
  if (format === 'onnx') {
    if (precision === 'bf16') throw new ModelFolderError('precision is bf16: expected f32 or f16 for format onnx');
    return onnxFolder(hasAdapter(files) ? withWeights(files, merged(files)) : files, precision);
  }
  if (format === 'peft') return adapterFiles(files);
  if (precision === 'f16') throw new ModelFolderError('precision is f16: expected f32 or bf16 for format hf');
  const weights = hasAdapter(files) ? merged(files) : loadModel(files).weights;
  return forTransformers(withWeights(files, weights, precision === 'f32' ? 'F32' : 'BF16'));
}

const merged = (files: ModelFiles) => mergeAdapter(loadModel(files).weights, readAdapter(files));

/** Exports with `exportFolder`, and returns a zip whose files are in a folder with the name `folder`. */
export async function zipExport(folder: string, files: ModelFiles, options: ExportOptions): Promise<Blob> {
  return zipFiles(inFolder(folder, await exportFolder(files, options)), new Date());
}
