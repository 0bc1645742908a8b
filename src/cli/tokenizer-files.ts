/** @file The files of a tokenizer, from a model folder or from the files that a GGUF file gives. */
import type { ModelFiles } from '../records/model.ts';
import { onDisk } from './files.ts';
import { contentOf, type Offer } from './job-files.ts';

const NAMES = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'];

/** @param from a model folder, or files by name. @returns null if it has no complete tokenizer, such as a name on the Hub */
export async function tokenizerFiles(from: string | Record<string, Offer>): Promise<ModelFiles | null> {
  const offers = typeof from === 'string' ? onDisk(from, NAMES) : from;
  const read = NAMES.map(async (name) => [name, offers[name] && (await contentOf(offers[name]).catch(() => null))] as const);
  const found = (await Promise.all(read)).filter(
    (file): file is readonly [string, Uint8Array<ArrayBuffer>] => file[1] instanceof Uint8Array,
  );
  const files: ModelFiles = Object.fromEntries(found);
  return files['tokenizer.json'] && files['tokenizer_config.json'] ? files : null;
}
