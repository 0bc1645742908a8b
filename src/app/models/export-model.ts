/** @file Writes a model as a zip in the format that the visitor chose. */
import type { ModelFiles } from '../../records/model.ts';
import { inFolder, zipFiles } from '../../exchange/zip.ts';
import { inModelsWorker } from '../data/models-worker.ts';

export const EXPORT_FORMATS = {
  safetensors: { name: 'Hugging Face folder', note: 'safetensors, which transformers and this playground read' },
  f32: { name: 'ONNX, float32', note: 'for transformers.js and ONNX Runtime; the same numbers as here' },
  f16: { name: 'ONNX, float16', note: 'half the size; rounding changes probabilities a little' },
} as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/**
 * @param folder name of the folder in the zip
 * @throws Error if the model cannot be written in this format, or if the worker fails
 */
export async function exportZip(folder: string, files: ModelFiles, format: ExportFormat): Promise<Blob> {
  if (format === 'safetensors') return zipFiles(inFolder(folder, files), new Date());
  return inModelsWorker('the export', (worker) => worker.zipOnnxFolder(folder, files, format));
}
