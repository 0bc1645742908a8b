/** @file Writes a model as a zip in the format that the visitor chose. */
import type { ModelFiles } from '../../records/model.ts';
import { hasAdapter } from '../../exchange/adapter-files.ts';
import type { ExportOptions } from '../../trainer/export-folder.ts';
import { ggufOf } from '../../exchange/model-folder.ts';
import { inFolder, zipFiles } from '../../exchange/zip.ts';
import { inModelsWorker } from '../clients/models-worker.ts';

export const EXPORT_FORMATS = {
  hf: { name: 'Hugging Face folder', note: 'safetensors files, for transformers and this playground', format: 'hf', precision: 'f32' },
  f32: { name: 'ONNX, float32', note: 'for transformers.js and ONNX Runtime; weights have the same values as here', format: 'onnx', precision: 'f32' },
  f16: { name: 'ONNX, float16', note: 'half the size; rounding changes probabilities a little', format: 'onnx', precision: 'f16' },
  peft: { name: 'LoRA adapter', note: 'only the trained adapter, in the format of PEFT', format: 'peft', precision: 'f32' },
} as const satisfies Record<string, ExportOptions & { name: string; note: string }>;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/**
 * @param folder name of the folder in the zip
 * @throws Error if the model cannot be written in this format, or if the worker fails
 */
export async function exportZip(folder: string, files: ModelFiles, chosen: ExportFormat): Promise<Blob> {
  // The stored files are exported unchanged, even if their weights are in bf16.
  if (chosen === 'hf' && !hasAdapter(files) && ggufOf(files) === undefined) return zipFiles(inFolder(folder, files), new Date());
  const { format, precision } = EXPORT_FORMATS[chosen];
  return inModelsWorker('the export', (worker) => worker.zipExport(folder, files, { format, precision }));
}

/** The formats that transformers.js reads. */
export type CustomerFormat = Exclude<ExportFormat, 'hf' | 'peft'>;
export const isForCustomers = (chosen: ExportFormat): chosen is CustomerFormat => EXPORT_FORMATS[chosen].format === 'onnx';

/**
 * Stores the model as one that can play customers in this browser.
 * @throws Error if the model cannot be written or has no chat template, or if the worker fails
 */
export const keepAsCustomer = (name: string, files: ModelFiles, chosen: CustomerFormat): Promise<void> =>
  inModelsWorker('the export', (worker) => worker.keepCustomer(name, files, chosen));
