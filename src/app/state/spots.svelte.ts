/**
 * @file Spots are named elements of the page to which lessons point. A spot that a lesson names gets an
 * outline and is scrolled into view. While a lesson asks a question, only the spots that the question names are visible.
 */
import { createAttachmentKey } from 'svelte/attachments';
import { useApp } from './app.svelte.ts';
import { bringIntoView } from '../kit/scroll.ts';

export interface SpotAttributes {
  'data-part': string;
  'data-focus': '' | undefined;
  'data-shown': '' | undefined;
}

/** How long a spot is kept in view, in ms, because the page around it may still load. */
const SETTLING = 2000;

const show = (element: Element): void => bringIntoView(element, 'center', () => 0, SETTLING);

/** Returns a function that makes the attributes of a spot's element. Use: `const spot = useSpots()`, then `{...spot('start')}`. */
export function useSpots(): (name: string) => SpotAttributes {
  const { lessons } = useApp();
  return (name) => ({
    'data-part': name,
    'data-focus': lessons.focus.includes(name) ? '' : undefined,
    'data-shown': lessons.asks?.show.includes(name) ? '' : undefined,
    ...(lessons.lead === name && { [createAttachmentKey()]: show }),
  });
}
