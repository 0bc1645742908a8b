/**
 * @file The models worker downloads, copies and checks models, and writes them in other formats. It is a worker because this takes seconds
 * or minutes for a large model, and because a hostile file may make it hang.
 */
import * as comlink from 'comlink';
import { exportFolder, zipExport } from '../src/trainer/export-folder.ts';
import { downloadHubModel } from '../src/exchange/hub-model.ts';
import { readModelFiles } from '../src/exchange/model-files.ts';
import { copyFiles } from '../src/exchange/model-storage.ts';
import { keepFiles } from '../src/local/folder.ts';
import type { ModelFiles } from '../src/records/model.ts';
import { inspectStored } from '../src/trainer/stored-models.ts';

/** Stores the model as one that can play customers in this browser. @throws as `exportFolder` and `keepFiles` */
const keepCustomer = async (name: string, files: ModelFiles, precision: 'f32' | 'f16'): Promise<void> =>
  keepFiles(name, precision === 'f16' ? 'fp16' : 'fp32', await exportFolder(files, { format: 'onnx', precision }));

const api = { copyFiles, downloadHubModel, zipExport, keepCustomer, readModelFiles, inspectStored };

export type ModelsWorker = typeof api;

comlink.expose(api);
