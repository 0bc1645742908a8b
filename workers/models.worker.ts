/** @file The models worker: checks a model and writes it as ONNX. Both take seconds for a large model, and a hostile file can hang it. */
import * as comlink from 'comlink';
import { zipOnnxFolder } from '../src/exchange/onnx/onnx-folder.ts';
import { inspectStored } from '../src/trainer/stored-models.ts';

const api = { zipOnnxFolder, inspectStored };

export type ModelsWorker = typeof api;

comlink.expose(api);
