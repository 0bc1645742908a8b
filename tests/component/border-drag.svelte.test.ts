/** The drag of a border: what the bar shows meanwhile, and what is left at its end. */
import { flushSync } from 'svelte';
import { expect, test } from 'vitest';
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
