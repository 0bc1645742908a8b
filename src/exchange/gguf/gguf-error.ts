/** @file The error for a GGUF file that cannot be read. */
import { InputError } from '../../base/input-error.ts';

export class GgufError extends InputError {
  override name = 'GgufError';
}
