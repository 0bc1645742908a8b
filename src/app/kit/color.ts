/** @file Reads the page's colours for drawing on a canvas. */

/** The colour of a CSS variable on an element. The variables are light-dark() pairs, so the browser must resolve them to a colour. */
export function resolveColor(element: HTMLElement, token: string): string {
  const { color } = element.style;
  element.style.color = `var(${token})`;
  const resolved = getComputedStyle(element).color;
  element.style.color = color;
  return resolved;
}
