/**
 * @file The models worker: downloads, copies and checks a model and writes a model in other formats. This takes seconds or minutes for
 * a large model, and a hostile file can hang the worker.
 */
import * as comlink from 'comlink';
import { zipExport } from '../src/exchange/export-folder.ts';
import { downloadHubModel } from '../src/exchange/hub-model.ts';
import { copyFiles } from '../src/exchange/model-storage.ts';
import { inspectStored } from '../src/trainer/stored-models.ts';

const api = { copyFiles, downloadHubModel, zipExport, inspectStored };

export type ModelsWorker = typeof api;

comlink.expose(api);
