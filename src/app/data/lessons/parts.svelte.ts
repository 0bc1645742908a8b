/** @file Named parts of the page. A lesson names the parts to highlight, and each part highlights itself. */
import { useApp } from '../app.svelte.ts';

export interface PartAttributes {
  'data-part': string;
  'data-focus': '' | undefined;
}

/** Attributes for the element of a part: `{...part('start')}`, where `part = useParts()`. */
export function useParts(): (name: string) => PartAttributes {
  const { lessons } = useApp();
  return (name) => ({ 'data-part': name, 'data-focus': lessons.focus.includes(name) ? '' : undefined });
}
