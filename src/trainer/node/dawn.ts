/** @file WebGPU for Node: Dawn (package `webgpu`), which is also Chromium's WebGPU. It runs the same WGSL without a browser. */
import { create, globals } from 'webgpu';
import { paceDawn } from './pace-dawn.ts';

let instance: GPU | undefined;

export function dawn(): GPU {
  if (instance) return instance;
  Object.assign(globalThis, globals);
  paceDawn();
  // Keep the instance in a variable: the package crashes if the instance is garbage-collected before its devices.
  instance = create([]) as unknown as GPU;
  return instance;
}
