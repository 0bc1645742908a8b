/** @file Parts of the page by name: a lesson names those to look at, and a part that is named shows it. Lessons touch no other component. */
import { useApp } from '../state/app.svelte.ts';

export interface PartAttributes {
  'data-part': string;
  'data-focus': '' | undefined;
}

/** For the element of a part: `{...part('start')}`, where `part = useParts()`. */
export function useParts(): (name: string) => PartAttributes {
  const { lessons } = useApp();
  return (name) => ({ 'data-part': name, 'data-focus': lessons.focus.includes(name) ? '' : undefined });
}
