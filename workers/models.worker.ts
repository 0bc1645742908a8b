/**
 * @file The models worker: downloads a model, checks a model and writes a model in other formats. This takes seconds or minutes for
 * a large model, and a hostile file can hang the worker.
 */
import * as comlink from 'comlink';
import { zipExport } from '../src/exchange/export-folder.ts';
import { downloadHubModel } from '../src/exchange/hub-model.ts';
import { inspectStored } from '../src/trainer/stored-models.ts';

const api = { downloadHubModel, zipExport, inspectStored };

export type ModelsWorker = typeof api;

comlink.expose(api);
