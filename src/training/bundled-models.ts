/** @file The models that ship with the page, `models/<name>/` in Hugging Face layout. */
import type { ModelFiles } from './api.ts';

const urls = import.meta.glob<string>(['../../models/*/*.json', '../../models/*/*.safetensors'], { query: '?url', import: 'default', eager: true });

export const bundledModels = [...new Set(Object.keys(urls).map((path) => path.split('/').at(-2)!))];

/** @throws Error when there is no such model or a file can't be fetched */
export async function fetchBundledModel(name: string): Promise<ModelFiles> {
  const files = Object.entries(urls).filter(([path]) => path.split('/').at(-2) === name);
  if (files.length === 0) throw new Error(`there is no bundled model "${name}"; bundled: ${bundledModels.join(', ') || 'none'}`);
  const entries = await Promise.all(
    files.map(async ([path, url]) => {
      const response = await fetch(url);
      if (!response.ok) throw new Error(`could not fetch ${name}/${path.split('/').at(-1)}: HTTP ${response.status}`);
      return [path.split('/').at(-1)!, new Uint8Array(await response.arrayBuffer())] as const;
    }),
  );
  return Object.fromEntries(entries);
}
