/** @file Finds, shows and selects the elements of tokens, which `Tokens.svelte` builds. */
import { spanAt, type TokenSequence } from './sequence.ts';

/** The element of the token at `position`, if its message is drawn as tokens. */
export function tokenElement(list: Element, sequence: TokenSequence, position: number): Element | undefined {
  const span = spanAt(sequence, position);
  const blocks = span && list.querySelectorAll<HTMLElement>(`[data-node="${span.node.id}"] p[data-from]`);
  const block = blocks && [...blocks].findLast((one) => Number(one.dataset.from) <= position);
  return block?.children[position - Number(block.dataset.from)];
}

/** Time for the layout of new blocks, whose real height differs from the assumed height. */
const SETTLING_MS = 500;
let wanted: Element | null = null;

/** Scrolls an element into view below the tool bar, and keeps it there during the layout of new blocks. A later call takes over. */
export function bringIntoView(element: Element, block: ScrollLogicalPosition, bar?: Element): void {
  const until = performance.now() + SETTLING_MS;
  wanted = element;
  const look = () => {
    const { top, bottom } = element.getBoundingClientRect();
    if (top < (bar?.getBoundingClientRect().bottom ?? 0) || bottom > innerHeight) element.scrollIntoView({ block });
    if (performance.now() < until) requestAnimationFrame(() => element === wanted && element.isConnected && look());
  };
  look();
}

/** Attachment: a click on a token selects it. With the keyboard, tokens are selected on the heat strip. */
export const selectByClick = (onselect: (position: number) => void) => (element: HTMLElement) => {
  const onclick = ({ target }: MouseEvent) => {
    const token = (target as Element).closest('.t');
    const block = token?.parentElement;
    if (token && block && getSelection()?.isCollapsed !== false) onselect(Number(block.dataset.from) + [...block.children].indexOf(token));
  };
  element.addEventListener('click', onclick);
  return () => element.removeEventListener('click', onclick);
};
