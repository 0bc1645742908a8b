/** The bar of shares: what it shows while a border is dragged, and what a drag and a key change. */
import { flushSync, mount, unmount } from 'svelte';
import { expect, test } from 'vitest';
import ShareBar from '../../src/app/kit/ShareBar.svelte';
import { BorderDrag } from '../../src/app/kit/border-drag.svelte.ts';

const SHARES = [0.5, 0.3, 0.2];

test('shows the moved shares while a border is dragged; dragging back restores what was pushed', () => {
  const drag = new BorderDrag();
  const seen: (readonly number[] | null)[] = [];
  const stop = $effect.root(() => {
    $effect(() => void seen.push(drag.shares));
  });
  flushSync();
  for (const act of [() => drag.begin(SHARES, 0), () => drag.move(0.9), () => drag.move(0.6)]) {
    act();
    flushSync();
  }
  expect(drag.end()).toEqual([0.6, 0.2, 0.2]);
  flushSync();
  stop();
  expect(seen).toEqual([null, SHARES, [0.9, 0, 0.1], [0.6, 0.2, 0.2], null]);
});

test('changes nothing if the border comes back, if the drag is cancelled, or if none has begun', () => {
  const drag = new BorderDrag();
  drag.move(0.9);
  expect(drag.shares).toBeNull();
  drag.begin(SHARES, 0);
  drag.move(0.9);
  drag.move(0.5);
  expect(drag.end()).toBeNull();
  drag.begin(SHARES, 1);
  drag.move(0.1);
  drag.cancel();
  expect(drag.end()).toBeNull();
});

test('a pointer and the keys move a border; the slider says the shares on both sides', () => {
  const changes: (readonly number[])[] = [];
  const target = document.body.appendChild(document.createElement('div'));
  const parts = ['a', 'b', 'c'].map((label) => ({ label, color: '--accent' }));
  const bar = mount(ShareBar, {
    target,
    props: { label: 'Customers', parts, shares: SHARES, onchange: (shares: readonly number[]) => changes.push(shares) },
  });
  flushSync();
  const [first, second] = [...target.querySelectorAll<HTMLElement>('[role=slider]')];
  expect(target.querySelectorAll('[role=slider]')).toHaveLength(2);
  const { left, width } = target.querySelector('[role=group]')!.getBoundingClientRect();
  const point = (type: string, share: number) => {
    first!.dispatchEvent(new PointerEvent(type, { bubbles: true, button: 0, pointerId: 1, clientX: left + share * width }));
    flushSync();
  };
  // Only a real pointer can be captured.
  first!.setPointerCapture = () => {};
  point('pointerdown', 0.5);
  point('pointermove', 0.6);
  expect(first!.ariaValueText).toBe('a 60 %, b 20 %');
  expect(changes).toEqual([]);
  point('pointerup', 0.6);
  expect(changes).toEqual([[0.6, 0.2, 0.2]]);
  // The owner of the shares has not taken the change over, so the bar shows the old shares.
  expect(first!.ariaValueText).toBe('a 50 %, b 30 %');

  const press = (element: HTMLElement, key: string) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    element.dispatchEvent(event);
    return event.defaultPrevented;
  };
  expect([press(first!, 'ArrowRight'), press(second!, 'End'), press(second!, 'Tab')]).toEqual([true, true, false]);
  expect(changes.slice(1)).toEqual([
    [0.51, 0.29, 0.2],
    [0.5, 0.5, 0],
  ]);
  void unmount(bar);
  target.remove();
});
