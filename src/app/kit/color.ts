/** @file Design tokens for drawing on a canvas. */

/** The colour of a design token on an element. Tokens are light-dark() pairs, which the browser resolves only when they are used. */
export function resolveColor(element: HTMLElement, token: string): string {
  const { color } = element.style;
  element.style.color = `var(${token})`;
  const resolved = getComputedStyle(element).color;
  element.style.color = color;
  return resolved;
}
