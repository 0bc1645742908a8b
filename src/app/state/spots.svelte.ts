/** @file Spots: named elements of the page. A lesson names the spots to point to; each spot outlines itself and scrolls itself into view. */
import { createAttachmentKey } from 'svelte/attachments';
import { useApp } from './app.svelte.ts';
import { bringIntoView } from '../kit/scroll.ts';

export interface SpotAttributes {
  'data-part': string;
  'data-focus': '' | undefined;
}

/** The page around a spot may still load. In ms. */
const SETTLING = 2000;

const show = (element: Element): void => bringIntoView(element, 'center', () => 0, SETTLING);

/** Attributes for the element of a spot: `{...spot('start')}`, where `spot = useSpots()`. */
export function useSpots(): (name: string) => SpotAttributes {
  const { lessons } = useApp();
  return (name) => ({
    'data-part': name,
    'data-focus': lessons.focus.includes(name) ? '' : undefined,
    ...(lessons.lead === name && { [createAttachmentKey()]: show }),
  });
}
