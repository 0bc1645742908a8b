/** @file The models worker: checks a model and writes it in other formats. Both take seconds for a large model, and a hostile file can hang it. */
import * as comlink from 'comlink';
import { zipExport } from '../src/exchange/export-folder.ts';
import { inspectStored } from '../src/trainer/stored-models.ts';

const api = { zipExport, inspectStored };

export type ModelsWorker = typeof api;

comlink.expose(api);
