/**
 * WebGPU for Node (Dawn, the npm package `webgpu`). It runs the same WGSL without a browser, for quick development and for
 * machines with a GPU and no browser. Without a GPU, set VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json, or to the
 * lvp_icd.json of Mesa 24 or newer (lavapipe), which is two to four times as fast; there LP_NUM_THREADS=8 keeps all cores busy.
 */
import { create, globals } from 'webgpu';

let instance: GPU | undefined;

export function dawn(): GPU {
  Object.assign(globalThis, globals);
  // The package crashes if the instance is garbage-collected before its devices.
  instance ??= create([]) as unknown as GPU;
  return instance;
}
