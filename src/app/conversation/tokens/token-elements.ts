/** @file Finds, shows and selects the elements of tokens, which `Tokens.svelte` builds. */
import type { Pointer } from './pointed.svelte.ts';
import { spanAt, type TokenSequence } from './sequence.ts';

/** The element of the token at `position`, if its message is drawn as tokens. */
export function tokenElement(list: Element, sequence: TokenSequence, position: number): Element | undefined {
  const span = spanAt(sequence, position);
  const blocks = span && list.querySelectorAll<HTMLElement>(`[data-node="${span.node.id}"] p[data-from]`);
  const block = blocks && [...blocks].findLast((one) => Number(one.dataset.from) <= position);
  return block?.children[position - Number(block.dataset.from)];
}

/** The token at the target of an event, and its position; null if the target is not a token. */
function positionOf(target: EventTarget | null): { position: number; token: Element } | null {
  const token = (target as Element).closest('.t');
  const block = token?.parentElement;
  return token && block ? { position: Number(block.dataset.from) + [...block.children].indexOf(token), token } : null;
}

/** Attachment: the mouse over a token points at this token. One listener serves all tokens. Touches are ignored: a finger cannot hover. */
export const pointByMouse = (pointer: Pick<Pointer, 'hover'>) => (element: HTMLElement) => {
  const over = ({ target, pointerType }: PointerEvent) => pointer.hover(pointerType === 'mouse' ? positionOf(target) : null);
  const leave = () => pointer.hover(null);
  element.addEventListener('pointerover', over);
  element.addEventListener('pointerleave', leave);
  return () => {
    element.removeEventListener('pointerover', over);
    element.removeEventListener('pointerleave', leave);
  };
};

/** Attachment: a click on a token selects the token. Keyboard users select tokens on the heat strip. */
export const selectByClick = (onselect: (position: number) => void) => (element: HTMLElement) => {
  const onclick = ({ target }: MouseEvent) => {
    const found = positionOf(target);
    if (found && getSelection()?.isCollapsed !== false) onselect(found.position);
  };
  element.addEventListener('click', onclick);
  return () => element.removeEventListener('click', onclick);
};
