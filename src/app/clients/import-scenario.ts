/** @file Imports a scenario file in the worker of the worlds. */
import * as comlink from 'comlink';
import type { OwnScenario } from '../../worlds/types.ts';
import { READ_LIMIT_MS } from './in-worker.ts';
import { askWorlds, endWorlds } from './worlds-client.ts';

/**
 * Checks and stores a scenario file. If its expressions keep the worker too busy, the worker is ended.
 * @param onProgress called with the number of tasks that were checked
 * @throws Error that names the first fault of the file, or what its tasks lack. Then nothing is stored
 */
export async function importScenario(file: File, onProgress?: (checked: number) => void): Promise<OwnScenario> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = (checked: number) => {
    onProgress?.(checked);
    clearTimeout(timer);
    timer = setTimeout(
      () => endWorlds(new Error(`the checks of ${file.name} made no progress for ${READ_LIMIT_MS / 1000} s and were ended`)),
      READ_LIMIT_MS,
    );
  };
  try {
    watch(0);
    return await askWorlds((browser) => browser.importScenario(file, file.name, comlink.proxy(watch)));
  } finally {
    clearTimeout(timer);
  }
}
