/**
 * @file The models worker downloads, copies and checks models, and writes them in other formats. It is a worker because this takes seconds
 * or minutes for a large model, and because a hostile file may make it hang.
 */
import * as comlink from 'comlink';
import { zipExport } from '../src/trainer/export-folder.ts';
import { downloadHubModel } from '../src/exchange/hub-model.ts';
import { copyFiles } from '../src/exchange/model-storage.ts';
import { inspectStored } from '../src/trainer/stored-models.ts';

const api = { copyFiles, downloadHubModel, zipExport, inspectStored };

export type ModelsWorker = typeof api;

comlink.expose(api);
