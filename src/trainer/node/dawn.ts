/** @file WebGPU for Node: Dawn, which is also Chromium's (package `webgpu`). It runs the same WGSL without a browser. */
import { create, globals } from 'webgpu';

let instance: GPU | undefined;

export function dawn(): GPU {
  Object.assign(globalThis, globals);
  // The package crashes if the instance is garbage-collected before its devices.
  instance ??= create([]) as unknown as GPU;
  return instance;
}
