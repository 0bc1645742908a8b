/** @file The elements of tokens in the page, which `Tokens.svelte` builds by hand: finding, showing and choosing them. */
import { spanAt, type TokenSequence } from './sequence.ts';

/** The element of the token at `position`, when its message is drawn as tokens. */
export function tokenElement(list: Element, sequence: TokenSequence, position: number): Element | undefined {
  const span = spanAt(sequence, position);
  const blocks = span && list.querySelectorAll<HTMLElement>(`[data-node="${span.node.id}"] p[data-from]`);
  const block = blocks && [...blocks].findLast((one) => Number(one.dataset.from) <= position);
  return block?.children[position - Number(block.dataset.from)];
}

/** Long enough for what is new on the page to be laid out: blocks in sight turn out to be of another height than assumed. */
const SETTLING_MS = 500;
let wanted: Element | null = null;

/** Brings an element into view below the tool bar, and keeps it there while the page settles, unless another is wanted. */
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

/** Attachment: a click on any token selects it; the keyboard's way is the heat strip. */
export const selectByClick = (onselect: (position: number) => void) => (element: HTMLElement) => {
  const onclick = ({ target }: MouseEvent) => {
    const token = (target as Element).closest('.t');
    const block = token?.parentElement;
    if (token && block && getSelection()?.isCollapsed !== false) onselect(Number(block.dataset.from) + [...block.children].indexOf(token));
  };
  element.addEventListener('click', onclick);
  return () => element.removeEventListener('click', onclick);
};
