/** @file Texts of benchmark files as values: JSON with its order kept, TOML, UTF-8 only. */
import { parse as parseTomlText, TomlDate } from 'smol-toml';
import { parseOrdered } from '../environments/exact/ordered-json.ts';
import type { Json } from '../environments/types.ts';
import { ImportError } from './import-error.ts';

export function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ImportError(file, '', 'it is not text in UTF-8');
  }
}

/** What a parser throws, in one line. */
function reasonOf(cause: unknown): string {
  if (cause instanceof RangeError) return 'it is nested too deeply, or too large';
  return (cause as Error).message.split('\n')[0]!;
}

/** @param ordered objects whose keys look like integers become lists of pairs */
export function parseJson(file: string, text: string, ordered = false): Json {
  if (text.trim() === '') throw new ImportError(file, '', 'it is empty');
  // Large files of another system's pointers to them are a common find in clones of repositories.
  if (text.startsWith('version https://git-lfs')) throw new ImportError(file, '', 'it is a Git LFS pointer, not the file itself: run git lfs pull');
  try {
    return ordered ? parseOrdered(text) : (JSON.parse(text) as Json);
  } catch (cause) {
    const cutOff = /[}\]]\s*$/.test(text) ? '' : ' (it seems to be cut off)';
    throw new ImportError(file, '', `it is not JSON: ${reasonOf(cause)}${cutOff}`);
  }
}

export function parseToml(file: string, text: string): Json {
  try {
    return plain(parseTomlText(text));
  } catch (cause) {
    throw new ImportError(file, '', `it is not TOML: ${reasonOf(cause)}`);
  }
}

/** Dates of TOML as the texts they were. */
function plain(value: unknown): Json {
  if (value instanceof TomlDate) return value.toISOString().replace(/\.000(?=\D|$)/, '');
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, plain(child)]));
  return value as Json;
}
