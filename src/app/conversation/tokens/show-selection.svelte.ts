/** @file Shows the selection of the inspector in the list of messages. */
import { getAbortSignal, tick } from 'svelte';
import type { Inspection } from './inspection.svelte.ts';
import { tokenElement } from './token-elements.ts';

type ScrollTo = (element: Element, block: ScrollLogicalPosition) => void;

/** Attachment for the list of messages: marks the selected token and its match, and scrolls to the selected token or message. */
export const showSelection = (inspection: Inspection, scrollTo: ScrollTo) => (list: HTMLElement) => {
  let marked: Element[] = [];

  $effect(() => {
    // The effect depends on these, because a change of them replaces the elements of tokens.
    void [inspection.view, inspection.channel === 'none', inspection.source];
    const { position, match, sequence } = inspection;
    afterUpdate(() => {
      for (const element of marked) element.classList.remove('on', 'hit');
      marked = [];
      const { pointer } = inspection;
      if (pointer.byKey) pointer.clear();
      if (position === null) return;
      for (let at = position; at < Math.max(position + 1, match?.end ?? 0); at++) {
        const element = tokenElement(list, sequence, at);
        if (!element) continue;
        element.classList.add(at === position ? 'on' : 'hit');
        marked.push(element);
      }
      if (!marked[0]) return;
      scrollTo(marked[0], 'center');
      if (pointer.byKey) pointer.at(position, marked[0]);
    });
  });

  $effect(() => {
    void inspection.view;
    const { message, position } = inspection;
    if (message === null || position !== null) return;
    afterUpdate(() => {
      const element = list.querySelector(`[data-node="${message}"]`);
      if (element) scrollTo(element, 'start');
    });
  });
};

/** Runs `work` after Svelte has updated the page, unless the effect has run again before. */
function afterUpdate(work: () => void): void {
  const signal = getAbortSignal();
  void tick().then(() => {
    if (!signal.aborted) work();
  });
}
