/** @file Files that the visitor dropped or chose on one page, for the page that imports them. */
import type { PickedFile } from '../kit/picked-files.ts';
import { href } from './routes.ts';

class HandedOver {
  /** Files for the import page. */
  run = $state.raw<readonly File[] | null>(null);
  /** Files for the models page. */
  model = $state.raw<readonly PickedFile[] | null>(null);
  /** A scenario file for the page of worlds. */
  scenario = $state.raw<File | null>(null);
}

export const handedOver = new HandedOver();

/** Endings of the files that the import page reads. */
export const RUN_FILES = '.zip,.jsonl,.json,.parquet,.eval';

/** The page that imports these files: `models` for the files of a model, `import` for all others. */
export function destination(files: readonly PickedFile[]): 'models' | 'import' {
  return files.some(([path]) => /(^|\/)config\.json$|\.(safetensors|gguf)$/i.test(path)) ? 'models' : 'import';
}

/** Opens the import page with the files of a run. */
export function bringRun(files: readonly File[]): void {
  handedOver.run = files;
  location.hash = href({ name: 'import' });
}
