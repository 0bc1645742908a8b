/** @file Parses the files of a benchmark: UTF-8 text, JSON with its order of keys, and TOML. */
import { parserReason } from '../../base/input-error.ts';
import { mapJson } from '../../base/json.ts';
import { parse as parseTomlText, TomlDate } from 'smol-toml';
import { parseOrdered } from '../../domains/exact/ordered-json.ts';
import type { Json } from '../../records/json.ts';
import { ImportError } from '../../exchange/import-error.ts';

export function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ImportError(file, '', 'it is not text in UTF-8');
  }
}

/** @param ordered whether to turn objects whose keys look like integers into lists of `[key, value]` */
export function parseJson(file: string, text: string, ordered = false): Json {
  if (text.trim() === '') throw new ImportError(file, '', 'it is empty');
  // Many clones of a repository contain Git LFS pointers instead of the large files.
  if (text.startsWith('version https://git-lfs'))
    throw new ImportError(file, '', 'it is a Git LFS pointer, not the file itself: run git lfs pull');
  try {
    return ordered ? parseOrdered(text) : (JSON.parse(text) as Json);
  } catch (cause) {
    const cutOff = /[}\]]\s*$/.test(text) ? '' : ' (it seems to be cut off)';
    throw new ImportError(file, '', `it is not JSON: ${parserReason(cause)}${cutOff}`);
  }
}

export function parseToml(file: string, text: string): Json {
  try {
    return mapJson(parseTomlText(text), withoutDates) as Json;
  } catch (cause) {
    throw new ImportError(file, '', `it is not TOML: ${parserReason(cause)}`);
  }
}

/** Converts a date of TOML back to its text. */
const withoutDates = (value: unknown): unknown => (value instanceof TomlDate ? value.toISOString().replace(/\.000(?=\D|$)/, '') : value);
