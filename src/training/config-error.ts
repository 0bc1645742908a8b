/** @file The error of a setting. */
import { InputError } from '../base/input-error.ts';

export class ConfigError extends InputError {
  override name = 'ConfigError';
}
