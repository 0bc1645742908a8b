/** @file Files that the visitor dropped or chose on any page. The page that reads them takes them from here. */
import type { PickedFile } from '../kit/picked-files.ts';
import { href } from './routes.ts';

class HandedOver {
  /** For the import page. */
  run = $state.raw<File | null>(null);
  /** For the models page. */
  model = $state.raw<readonly PickedFile[] | null>(null);
}

export const handedOver = new HandedOver();

/** The page for these files: `models` for files of a model folder, `import` for all others. */
export function destination(files: readonly PickedFile[]): 'models' | 'import' {
  return files.some(([path]) => /(^|\/)config\.json$|\.safetensors$/.test(path)) ? 'models' : 'import';
}

/** Opens the import page with a run's file. */
export function bringRun(file: File): void {
  handedOver.run = file;
  location.hash = href({ name: 'import' });
}
