/** The colours of tokens: text on every value is readable, and a stronger value looks stronger, in both themes. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const elements = readFileSync('src/app/elements.css', 'utf8');
const tokens = readFileSync('src/app/conversation/tokens/tokens.css', 'utf8');

type Rgb = [number, number, number];
/** A design token in a theme. */
function color(name: string, theme: 'light' | 'dark'): Rgb {
  const [, light, dark] = elements.match(new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`))!;
  const hex = theme === 'light' ? light! : dark!;
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
}
/** WCAG 2: relative luminance and contrast. */
function luminance(rgb: Rgb): number {
  const [r, g, b] = rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a: Rgb, b: Rgb): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}
/** A mix of a colour with `transparent` is that colour with this opacity; here it lies on `paper`. */
const over = (paint: Rgb, opacity: number, paper: Rgb) => paint.map((value, i) => value * opacity + paper[i]! * (1 - opacity)) as Rgb;

test('the style sheet mixes as this test does: with transparent, by the share of the clip', () => {
  expect(tokens).toContain('color-mix(in oklab, var(--heat) calc(var(--i) * 100%), transparent)');
  expect(tokens.replace(/\s+/g, ' ')).toContain(
    'color-mix( in oklab, var(--heat-up) calc(max(0, var(--i)) * 100%), color-mix(in oklab, var(--heat-down) calc(max(0, -1 * var(--i)) * 100%), transparent) )',
  );
});

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  const [paper, text] = [color('surface', theme), color('text', theme)];
  const steps = Array.from({ length: 101 }, (_, i) => i / 100);

  test.each(['heat', 'heat-up', 'heat-down'])('text on %s has a contrast of 4.5 at every value', (name) => {
    for (const share of steps) expect(contrast(text, over(color(name, theme), share, paper))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(['heat', 'heat-up', 'heat-down'])('%s: zero is the background, and a larger value differs more from it', (name) => {
    expect(over(color(name, theme), 0, paper)).toEqual(paper);
    const apart = steps.map((share) => contrast(over(color(name, theme), share, paper), paper));
    for (let i = 1; i < apart.length; i++) expect(apart[i]!).toBeGreaterThan(apart[i - 1]!);
    // The full colour is seen as a colour.
    expect(apart.at(-1)!).toBeGreaterThan(1.5);
  });

  test('tokens that were not sampled stay readable, and the bars are seen on the full colour', () => {
    expect(contrast(color('muted', theme), paper)).toBeGreaterThanOrEqual(4.5);
    for (const name of ['heat', 'heat-up', 'heat-down'])
      expect(contrast(color('heat-mark', theme), color(name, theme))).toBeGreaterThanOrEqual(3);
  });
});
