/** @file Files that were dropped or chosen anywhere, on their way to the page that reads them. */
import type { PickedFile } from '../logic/picked-files.ts';

class HandedOver {
  /** For the import page. */
  run = $state.raw<File | null>(null);
  /** For the models page. */
  model = $state.raw<readonly PickedFile[] | null>(null);
}

export const handedOver = new HandedOver();

/** Where files belong: those of a model folder to the models, anything else is taken for a run. */
export function destination(files: readonly PickedFile[]): 'models' | 'import' {
  return files.some(([path]) => /(^|\/)config\.json$|\.safetensors$/.test(path)) ? 'models' : 'import';
}
