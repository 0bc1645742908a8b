/**
 * WebGPU for Node (Dawn, the npm package `webgpu`): the same WGSL outside a browser, for quick development and for
 * machines with a GPU but no browser. Without a GPU set VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json.
 */
import { create, globals } from 'webgpu';

let instance: GPU | undefined;

export function dawn(): GPU {
  Object.assign(globalThis, globals);
  // The instance must outlive every device: when it is collected, the package crashes.
  instance ??= create([]) as unknown as GPU;
  return instance;
}
