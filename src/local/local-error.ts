/** @file The error for a model that does not run in the tab. Its message is one sentence that names the file and what was expected. */
import { InputError } from '../base/input-error.ts';

export type LocalErrorKind =
  /** The model's files are missing, or are not those of a text-generation model. */
  | 'files'
  | 'network'
  /** The memory or the storage of the browser is full. */
  | 'memory'
  /** The device cannot run the model. */
  | 'device'
  /** The conversation is longer than the model's context. */
  | 'length'
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

/** Whether a write failed because the storage of the browser is full. */
export const isQuota = (error: unknown): boolean => error instanceof DOMException && error.name === 'QuotaExceededError';
