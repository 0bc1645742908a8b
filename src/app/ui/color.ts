/** @file Design tokens for what is drawn on a canvas. */

/** The colour that a token has on an element. Tokens are light-dark() pairs: only a used colour is one of the two. */
export function resolveColor(element: HTMLElement, token: string): string {
  const { color } = element.style;
  element.style.color = `var(${token})`;
  const resolved = getComputedStyle(element).color;
  element.style.color = color;
  return resolved;
}
