/** @file Why a model does not run in the tab, in one sentence that names the file and what was expected. */
import { InputError } from '../base/input-error.ts';

export type LocalErrorKind =
  /** Its files are missing or are not those of a text-generation model. */
  | 'files'
  | 'network'
  /** The memory or the storage of the browser is full. */
  | 'memory'
  /** The device cannot run it. */
  | 'device'
  | 'cancelled';

export class LocalError extends InputError {
  override name = 'LocalError';

  constructor(
    message: string,
    readonly kind: LocalErrorKind,
  ) {
    super(message);
  }
}

const MEMORY = /out of memory|bad_alloc|allocation failed|failed to allocate|could not allocate|invalid (typed )?array length|\bOOM\b/i;

/** Whether an error says that memory ran out. */
export const isOutOfMemory = (error: unknown): boolean => MEMORY.test(String(error));

/** Whether the storage of the browser refused to keep more. */
export const isQuota = (error: unknown): boolean => error instanceof DOMException && error.name === 'QuotaExceededError';
