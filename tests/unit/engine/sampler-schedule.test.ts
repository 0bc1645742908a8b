/**
 * The sampler computes hardly any token twice, although the KV cache holds only a part of the conversations. The expected counts come
 * from the lengths of the conversations. “Before” is what the same simulation gives for the sampler of commit 6f4adad2, which lets all
 * conversations begin at once.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { hash32 } from '../../../src/base/random.ts';
import { peakPages, Growth } from '../../../src/engine/growth.ts';
import { hashSampler } from '../../support/hash-sampler.ts';
import { simulate, type Simulation, type SimulatedTurn } from '../../support/sampler-simulation.ts';

afterEach(() => vi.useRealTimers());

const between = (low: number, high: number, ...key: [number, ...number[]]) => low + (hash32(...key) % (high - low + 1));

/** Conversations that read about 1,400 tokens after the shared prompt, and sample about 380. Every second answer is a customer's. */
function conversations(turns: [least: number, most: number] = [9, 9], customerSeconds = 0): SimulatedTurn[][] {
  return Array.from({ length: 64 }, (_, i) =>
    Array.from({ length: between(...turns, 1, i) }, (_, turn) => ({
      reads: between(80, turn === 0 ? 120 : 240, 2, i, turn),
      writes: between(20, 64, 3, i, turn),
      waits: turn % 2 === 0 ? customerSeconds : 0,
    })),
  );
}

/** The preset `lora`. Its retail prompt has 2,998 tokens. */
const LORA: Simulation = { slots: 64, kvTokens: 32_768, maxModelLen: 16_384, prompt: 2998, conversations: conversations() };
const HALF_PAGES = { kvTokens: 16_384 };
const SLOW = { conversations: conversations([9, 9], 60) };

test('the median conversation has about 4,750 tokens', () => {
  const lengths = LORA.conversations.map((turns) => turns.reduce((sum, { reads, writes }) => sum + reads + writes, LORA.prompt));
  expect(Math.abs(lengths.toSorted((a, b) => a - b)[32]! - 4750)).toBeLessThan(50);
});

test.each<[string, Partial<Simulation>, { prefilled: number; decodeSteps: number; seconds: number }]>([
  ['the preset lora', {}, { prefilled: 531_153, decodeSteps: 1279, seconds: 307 }],
  ['half the slots', { slots: 32 }, { prefilled: 407_064, decodeSteps: 1487, seconds: 247 }],
  ['half the pages', HALF_PAGES, { prefilled: 558_421, decodeSteps: 2792, seconds: 336 }],
  ['2 to 16 turns', { conversations: conversations([2, 16]) }, { prefilled: 701_915, decodeSteps: 1724, seconds: 399 }],
])('%s: prefill is at most 1.1 times what is needed, and all is done in less than half of the time', async (_, change, before) => {
  const { prefilled, needed, decodeSteps, seconds } = await simulate({ ...LORA, ...change });
  expect(prefilled).toBeGreaterThanOrEqual(needed);
  expect(prefilled / needed).toBeLessThan(1.1);
  expect(prefilled).toBeLessThan(before.prefilled / 3);
  // Fewer conversations are open at once. So there are more steps, with fewer conversations in each.
  expect(decodeSteps).toBeLessThan(1.4 * before.decodeSteps);
  expect(seconds).toBeLessThan(before.seconds / 2);
});

test('8 customers who take 60 s: prefill is at most 1.1 times what is needed, in the same time', async () => {
  const { prefilled, needed, seconds } = await simulate({ ...LORA, ...SLOW, customers: 8 });
  expect(prefilled / needed).toBeLessThan(1.1);
  expect(seconds).toBeLessThan(1936); // before, with 2.4 times the prefill that is needed
});

test('half the pages and 64 customers who take 60 s: little prefill costs time, because conversations keep their pages while they wait', async () => {
  const { prefilled, needed, seconds } = await simulate({ ...LORA, ...HALF_PAGES, ...SLOW });
  expect(prefilled / needed).toBeLessThan(1.1);
  // Before: 443 s, with 5.6 times the prefill that is needed.
  expect(seconds).toBeGreaterThan(443);
  expect(seconds).toBeLessThan(2200);
});

test('samples do not depend on the schedule', async () => {
  const short = { ...LORA, prompt: 300, kvTokens: 4096, maxModelLen: 4096, conversations: LORA.conversations.slice(0, 12) };
  const few = await simulate(short);
  const plenty = await simulate({ ...short, kvTokens: 65_536 });
  const single = await simulate({ ...short, slots: 1 });
  expect(few.prefilled).toBeGreaterThan(plenty.prefilled);
  expect(few.generations).toEqual(plenty.generations);
  expect(single.generations).toEqual(plenty.generations);
});

test('a conversation whose caller never comes back loses its pages after a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const sampler = hashSampler(1, 2, 12);
  const params = { maxNewTokens: 8, temperature: 1, stopTokenIds: [] };
  const [gone, next] = [await sampler.open({ seed: 1, stream: 0 }), await sampler.open({ seed: 1, stream: 1 })];
  const tokensOf = (from: number) => Array.from({ length: 120 }, (_, t) => from + t);
  const run = async <T>(work: Promise<T>, most: number): Promise<T | 'waits'> => {
    let result: T | 'waits' = 'waits';
    void work.then((value) => (result = value));
    for (let ms = 0; ms < most && result === 'waits'; ms += 4) {
      await vi.advanceTimersByTimeAsync(4);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return result;
  };
  sampler.append(gone, tokensOf(0));
  expect(await run(sampler.generate(gone, params), 1000)).toMatchObject({ finishReason: 'length' });
  sampler.append(next, tokensOf(200));
  const waiting = sampler.generate(next, params);
  expect(await run(waiting, 40_000)).toBe('waits');
  expect(await run(waiting, 200_000)).toMatchObject({ finishReason: 'length' });
});

test('the peak of pages: sequences grow at one pace and free their pages at their ends', () => {
  // The second ends after 2 more pages each: 4 pages. It frees 3 + 2, and the first takes 4 more.
  expect(
    peakPages([
      { own: 1, more: 6 },
      { own: 3, more: 2 },
    ]),
  ).toBe(4);
  expect(
    peakPages([
      { own: 0, more: 6 },
      { own: 0, more: 2 },
    ]),
  ).toBe(6);
  expect(peakPages([])).toBe(0);
});

test('the forecast: at first from the prompt, then from conversations that ended, with more weight for long ones', () => {
  const growth = new Growth();
  expect(growth.left(1000, 0)).toBe(700);
  expect(growth.left(1000, 500)).toBe(200);
  expect(growth.left(1000, 1000)).toBe(350);
  for (let i = 0; i < 8; i++) growth.ended(2100);
  // (8 · 700² + 8 · 2100²) / (8 · 700 + 8 · 2100) = 1750. Older conversations weigh a little less.
  expect(growth.left(1000, 0)).toBeGreaterThan(1740);
  expect(growth.left(1000, 0)).toBeLessThan(1750);
});
