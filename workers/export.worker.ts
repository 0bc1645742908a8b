/** @file The export worker: writes a model as ONNX, which takes seconds for a large model. */
import * as comlink from 'comlink';
import { zipOnnxFolder } from '../src/exchange/onnx/onnx-folder.ts';

comlink.expose({ zipOnnxFolder });
