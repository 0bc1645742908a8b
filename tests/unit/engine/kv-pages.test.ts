import { expect, test } from 'vitest';
import { KvPages, NOTHING } from '../../../src/engine/kv-pages.ts';

test('content is found again and counted, until its page is reused', () => {
  const pages = new KvPages(3, 2);
  const first = pages.take();
  const content = pages.register(first, NOTHING, [1, 2]);
  expect(pages.find(NOTHING, [1, 2])).toEqual({ page: first, content });
  expect(pages.find(NOTHING, [1, 3])).toBeUndefined();
  expect(pages.find(content, [1, 2])).toBeUndefined();
  pages.release(first);
  expect(pages.available).toBe(2);
  pages.release(first);
  expect(pages.available).toBe(3);
  const others = [pages.take(), pages.take()];
  expect(others).not.toContain(first);
  expect(pages.find(NOTHING, [1, 2])).toEqual({ page: first, content });
  pages.release(first);
  expect(pages.take()).toBe(first);
  expect(pages.find(NOTHING, [1, 2])).toBeUndefined();
  expect(() => pages.take()).toThrow(/all 3 pages/);
});

test('pages that were released first are reused first', () => {
  const pages = new KvPages(2, 2);
  const [a, b] = [pages.take(), pages.take()];
  pages.register(a, NOTHING, [1, 1]);
  pages.register(b, NOTHING, [2, 2]);
  pages.release(b);
  pages.release(a);
  expect(pages.take()).toBe(b);
  expect(pages.find(NOTHING, [1, 1])?.page).toBe(a);
});

test('content that is stored twice is found once; the page after it has the same prefix', () => {
  const pages = new KvPages(4, 2);
  const [a, b, after] = [pages.take(), pages.take(), pages.take()];
  const content = pages.register(a, NOTHING, [1, 2]);
  expect(pages.register(b, NOTHING, [1, 2])).toBe(content);
  pages.register(after, content, [3, 4]);
  expect(pages.find(content, [3, 4])?.page).toBe(after);
  pages.release(b);
  expect(pages.available).toBe(2);
});

test('after invalidation no content is found, and every page is free exactly once', () => {
  const pages = new KvPages(3, 2);
  const [held, left] = [pages.take(), pages.take()];
  pages.register(held, NOTHING, [1, 2]);
  pages.register(left, NOTHING, [3, 4]);
  pages.release(left);
  pages.invalidate();
  expect(pages.find(NOTHING, [1, 2])).toBeUndefined();
  expect(pages.find(NOTHING, [3, 4])).toBeUndefined();
  expect(pages.available).toBe(2);
  const taken = [pages.take(), pages.take()];
  expect(new Set([held, ...taken]).size).toBe(3);
  pages.release(held);
  expect(pages.available).toBe(1);
  expect(() => pages.release(held)).toThrow(/more often than taken/);
});
