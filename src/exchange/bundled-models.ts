/** @file The models that ship with the page: the folders `models/<name>/`, in Hugging Face layout. */
import type { ModelFiles } from '../records/model.ts';

const urls = import.meta.glob<string>(['../../models/*/*.json', '../../models/*/*.safetensors'], {
  query: '?url',
  import: 'default',
  eager: true,
});
const cards = import.meta.glob<string>('../../models/*/README.md', { query: '?raw', import: 'default' });

export const bundledModels = [...new Set(Object.keys(urls).map((path) => path.split('/').at(-2)!))];

/** @throws Error if no bundled model has this name, or if a file cannot be fetched */
export async function fetchBundledModel(name: string): Promise<ModelFiles> {
  const names = Object.keys(urls)
    .filter((path) => path.split('/').at(-2) === name)
    .map((path) => path.split('/').at(-1)!);
  if (names.length === 0) throw new Error(`there is no bundled model "${name}"; bundled: ${bundledModels.join(', ') || 'none'}`);
  return Object.fromEntries(await Promise.all(names.map(async (file) => [file, await fetchBundledFile(name, file)] as const)));
}

/** One file of a bundled model. @throws Error if it cannot be fetched */
export async function fetchBundledFile(name: string, file: string): Promise<Uint8Array<ArrayBuffer>> {
  const url = urls[`../../models/${name}/${file}`];
  if (url === undefined) throw new Error(`the bundled model "${name}" has no ${file}`);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`could not fetch ${name}/${file}: HTTP ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** The text of a bundled model's card. '' if the model has no card. */
export async function bundledCard(name: string): Promise<string> {
  return (await cards[`../../models/${name}/README.md`]?.()) ?? '';
}
