/** @file A model folder in another format, with the LoRA adapter of the folder merged into its weights if there is one. */
import type { ModelFiles } from '../records/model.ts';
import { adapterFiles, hasAdapter, mergeAdapter, readAdapter } from './adapter-folder.ts';
import { loadModel, ModelFolderError, withWeights } from './model-folder.ts';
import { onnxFolder } from './onnx/onnx-folder.ts';
import { inFolder, zipFiles } from './zip.ts';

export interface ExportOptions {
  /** `hf`: a Hugging Face folder with safetensors. `peft`: the adapter alone. */
  format: 'onnx' | 'hf' | 'peft';
  /** f16 in onnx only, bf16 in hf only. An adapter is f32. */
  precision: 'f32' | 'f16' | 'bf16';
}

/** @throws ModelFolderError for a precision that the format lacks, or for an adapter that the folder lacks; as `onnxFolder`, `loadModel`, `readAdapter` and `mergeAdapter` */
export function exportFolder(files: ModelFiles, { format, precision }: ExportOptions): ModelFiles {
  if (format === 'onnx') {
    if (precision === 'bf16') throw new ModelFolderError('precision is bf16: expected f32 or f16 for format onnx');
    return onnxFolder(hasAdapter(files) ? withWeights(files, merged(files)) : files, precision);
  }
  if (format === 'peft') return adapterFiles(files);
  if (precision === 'f16') throw new ModelFolderError('precision is f16: expected f32 or bf16 for format hf');
  return withWeights(files, hasAdapter(files) ? merged(files) : loadModel(files).weights, precision === 'f32' ? 'F32' : 'BF16');
}

const merged = (files: ModelFiles) => mergeAdapter(loadModel(files).weights, readAdapter(files));

/** `exportFolder` as a zip in which `folder` holds the files. */
export async function zipExport(folder: string, files: ModelFiles, options: ExportOptions): Promise<Blob> {
  return zipFiles(inFolder(folder, exportFolder(files, options)), new Date());
}
