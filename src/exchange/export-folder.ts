/** @file A model folder in another format, with a LoRA adapter merged into its weights if there is one. */
import type { ModelFiles } from '../records/model.ts';
import { mergeAdapter, readAdapter } from './adapter-folder.ts';
import { loadModel, ModelFolderError, withWeights } from './model-folder.ts';
import { onnxFolder } from './onnx/onnx-folder.ts';

export interface ExportOptions {
  /** `hf`: a Hugging Face folder with safetensors. */
  format: 'onnx' | 'hf';
  /** f16 in onnx only, bf16 in hf only. */
  precision: 'f32' | 'f16' | 'bf16';
  /** The files of an adapter as PEFT writes them. */
  adapter?: ModelFiles;
}

/** @throws ModelFolderError for a precision that the format lacks; as `onnxFolder`, `loadModel`, `readAdapter` and `mergeAdapter` */
export function exportFolder(files: ModelFiles, { format, precision, adapter }: ExportOptions): ModelFiles {
  if (format === 'onnx') {
    if (precision === 'bf16') throw new ModelFolderError('precision is bf16: expected f32 or f16 for format onnx');
    return onnxFolder(adapter ? withWeights(files, merged(files, adapter)) : files, precision);
  }
  if (precision === 'f16') throw new ModelFolderError('precision is f16: expected f32 or bf16 for format hf');
  return withWeights(files, adapter ? merged(files, adapter) : loadModel(files).weights, precision === 'f32' ? 'F32' : 'BF16');
}

const merged = (files: ModelFiles, adapter: ModelFiles) => mergeAdapter(loadModel(files).weights, readAdapter(adapter));
