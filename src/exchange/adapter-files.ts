/** @file The names of PEFT's files. It imports no reader of weights, so the first page can tell adapters from models. */
import type { ModelParts } from './model-folder.ts';

export const CONFIG = 'adapter_config.json';
export const WEIGHTS = 'adapter_model.safetensors';

export const hasAdapter = (files: ModelParts): boolean => Object.hasOwn(files, CONFIG);
