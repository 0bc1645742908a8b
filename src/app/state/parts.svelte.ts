/** @file Named parts of the page. A lesson names the parts to highlight; each part highlights itself and scrolls itself into view. */
import { createAttachmentKey } from 'svelte/attachments';
import { useApp } from './app.svelte.ts';
import { bringIntoView } from '../kit/scroll.ts';

export interface PartAttributes {
  'data-part': string;
  'data-focus': '' | undefined;
}

/** The page around a part may still load. In ms. */
const SETTLING = 2000;

const show = (element: Element): void => bringIntoView(element, 'center', () => 0, SETTLING);

/** Attributes for the element of a part: `{...part('start')}`, where `part = useParts()`. */
export function useParts(): (name: string) => PartAttributes {
  const { lessons } = useApp();
  return (name) => ({
    'data-part': name,
    'data-focus': lessons.focus.includes(name) ? '' : undefined,
    ...(lessons.lead === name && { [createAttachmentKey()]: show }),
  });
}
