/** Measures the size of the first page, and how fast long conversations and lists appear. Prints the values for docs/results/page.md. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, type Page, test } from '@playwright/test';
import type { RolloutSummary } from '../../src/records/rollout.ts';
import type { MessageNode, Trajectory } from '../../src/records/trajectory.ts';
import { Vocabulary } from '../../src/app/conversation/tokens/vocabulary.ts';
import { CHANNELS } from '../../src/app/routes/routes.ts';
import { grpoConfig } from '../../src/training/config.ts';
import { summarize } from '../../src/trainer/summary.ts';
import { watch } from './page-checks.ts';
import { store } from './storage.ts';

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
const report = (what: string, times: number[]) =>
  console.log(`${what}: median ${Math.round(median(times))} ms, worst ${Math.round(Math.max(...times))} ms, of ${times.length}`);

/** The bounds, as multiples of the control. The page needs about half of each. */
const [OPENING, SWITCHING, FILTERING] = [2.4, 0.25, 0.36];
const FRAME_MS = 1000 / 60;

/**
 * Milliseconds in which this machine makes and lays out 32,000 plain elements now. A time of the page is bounded by a multiple of this
 * control in the same round, so that the bounds are the same on a slow machine, and while other processes use the cores.
 */
const control = (page: Page) =>
  page.evaluate(() => {
    const start = performance.now();
    const block = document.createElement('div');
    // Outside of the page's own layout.
    Object.assign(block.style, { position: 'fixed', inset: '0', visibility: 'hidden' });
    for (let i = 0; i < 32_000; i++) {
      const span = document.createElement('span');
      span.textContent = ` word${i % 100}`;
      block.append(span);
    }
    document.body.append(block);
    block.getBoundingClientRect();
    block.remove();
    return performance.now() - start;
  });

/** The times of an act, and its work in controls: the time without the frames that the measurement waits for on any machine. */
class Timed {
  readonly ms: number[] = [];
  readonly controls: number[] = [];
  readonly ratios: number[] = [];

  constructor(private readonly frames: number) {}

  async add(page: Page, measure: () => Promise<number>): Promise<void> {
    const before = await control(page);
    const ms = await measure();
    const around = (before + (await control(page))) / 2;
    this.ms.push(ms);
    this.controls.push(around);
    this.ratios.push((ms - this.frames * FRAME_MS) / around);
  }

  report(what: string): void {
    report(what, this.ms);
    console.log(`  the control: median ${Math.round(median(this.controls))} ms; in controls: median ${median(this.ratios).toFixed(2)}`);
  }
}

/** The scripts that the first paint waits for: those that index.html names, and what they import statically. */
async function firstScripts(page: Page, base: string): Promise<Map<string, number>> {
  const text = async (url: string) => {
    const response = await page.request.get(url);
    expect(response.ok(), url).toBe(true);
    return response.text();
  };
  const html = await text(base);
  const found = new Map<string, number>();
  const waiting = [...html.matchAll(/<(?:script|link rel="modulepreload")[^>]* (?:src|href)="([^"]+)"/g)].map(
    ([, path]) => new URL(path!, base).href,
  );
  expect(waiting.length).toBeGreaterThan(1);
  while (waiting.length > 0) {
    const url = waiting.pop()!;
    if (found.has(url)) continue;
    const code = await text(url);
    found.set(url, gzipSync(code, { level: 9 }).length);
    for (const [, path] of code.matchAll(/(?:\bfrom|\bimport)\s*["'`](\.{1,2}\/[^"'`]+)["'`]/g)) waiting.push(new URL(path!, url).href);
  }
  return found;
}

test('the first page waits for at most 130 kB of JavaScript, gzipped', async ({ page, baseURL }) => {
  const fetched = new Map<string, number>();
  const bodies: Promise<unknown>[] = [];
  page.on('response', (response) => {
    if (response.request().resourceType() === 'script')
      bodies.push(response.body().then((body) => fetched.set(response.url(), gzipSync(body, { level: 9 }).length)));
  });
  await page.goto('/');
  await expect(page.getByRole('region', { name: 'Recorded run' }).getByRole('link', { name: 'Compare both' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start training' })).toBeEnabled();
  await page.waitForLoadState('networkidle');
  await Promise.all(bodies);

  const first = await firstScripts(page, baseURL!);
  const sum = (scripts: Iterable<[string, number]>) => [...scripts].reduce((total, [, size]) => total + size, 0);
  const later = [...fetched].filter(([url]) => !first.has(url));
  const [workers, data] = [later.filter(([url]) => url.includes('.worker-')), later.filter(([url]) => !url.includes('.worker-'))];
  console.log(
    `first scripts: ${sum(first)} bytes gzipped, ${first.size} files; after them for the recorded run: ${sum(data)}; workers: ${sum(workers)}`,
  );
  // The browser has fetched all scripts that were found.
  expect([...first.keys()].filter((url) => !fetched.has(url))).toEqual([]);
  expect(workers).toHaveLength(3);
  expect(sum(first)).toBeLessThanOrEqual(130_000);
});

/** A conversation of 160 messages with 200 tokens each. Every second message is sampled, and all values are stored. */
function long(): Trajectory {
  const vocabulary = new Vocabulary(JSON.parse(readFileSync('models/nano-retail/tokenizer.json', 'utf8')));
  let state = 7;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const nodes = Array.from({ length: 160 }, (_, id): MessageNode => {
    const tokens = Array.from({ length: 200 }, () => Math.floor(random() * 1200));
    const sampled = id % 2 === 1;
    const numbers = (value: () => number) => tokens.map(value);
    return {
      id,
      parent: id === 0 ? null : id - 1,
      role: sampled ? 'assistant' : id === 0 ? 'system' : 'user',
      text: vocabulary.pieces(tokens).join(''),
      tokens,
      mask: tokens.map(() => Number(sampled)),
      logprobs: sampled ? numbers(() => -4 * random()) : tokens.map(() => null),
      ...(sampled && {
        annotations: {
          ref_logprobs: numbers(() => -4 * random()),
          entropy: numbers(random),
          ratio: numbers(() => 0.7 + 0.6 * random()),
          delta_p: numbers(() => random() - 0.5),
        },
      }),
    };
  });
  return {
    id: '1-0-0',
    group: '1-0',
    index: 0,
    seed: 1,
    nodes,
    leaf: 159,
    termination: 'user_stop',
    turns: 80,
    reward: 1,
    verdict: null,
    violations: [],
    toolCalls: {},
    parseErrors: 0,
    seconds: { generate: 1, tool: 1, user: 1 },
    task: {
      id: 'retail/nano/train/1/0',
      domain: 'retail',
      level: 'nano',
      split: 'train',
      world: 'w',
      scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: '' },
      actions: [],
      noop: true,
    },
  };
}

test('32,000 tokens open and change colour about as fast as plain elements', async ({ page }) => {
  await page.goto('/#/runs');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const trajectory = long();
  const run = {
    id: 'long',
    name: 'long-run',
    createdAt: 1,
    status: 'done',
    step: 1,
    request: { model: 'nano-retail', preset: 'nano', overrides: {}, user: { mode: 'scripted' } },
    config: grpoConfig('nano'),
  };
  await store(page, {
    runs: [run],
    rollouts: [{ run: 'long', ...summarize(trajectory, 1, 1.2) }],
    trajectories: [{ run: 'long', ...trajectory }],
  });
  // The code of the page and the tokenizer are already loaded, so only the opening is measured.
  await page.goto('/#/runs/long/rollouts/1-0-0');
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();

  const open = () =>
    page.evaluate(async () => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const start = performance.now();
      location.hash = '#/runs/long/rollouts/1-0-0?view=rendered&ch=logprob';
      while (document.querySelectorAll('.t').length < 32_000) await frame();
      await frame();
      return performance.now() - start;
    });
  const [opening, switching] = [new Timed(2), new Timed(2)];
  for (let round = 0; round < 5; round++) {
    await page.goto('/#/runs/long');
    await expect(page.getByRole('heading', { level: 1, name: /long-run/ })).toBeVisible();
    await opening.add(page, open);
  }
  const after = CHANNELS.slice(CHANNELS.indexOf('logprob') + 1);
  for (const channel of after) {
    const change = () =>
      page.evaluate(async (expected) => {
        const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
        const start = performance.now();
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'c', bubbles: true }));
        while (!document.querySelector(`.view[data-ch="${expected}"]`)) await frame();
        await frame();
        return performance.now() - start;
      }, channel);
    await switching.add(page, change);
  }
  opening.report('32,000 tokens, opened');
  switching.report('another colour');
  expect(median(opening.ratios)).toBeLessThanOrEqual(OPENING);
  expect(median(switching.ratios)).toBeLessThanOrEqual(SWITCHING);
});

const ROLLOUTS = 100_000;
const KEPT = 512;
const PER_STEP = 64;
const STEPS = Math.ceil(ROLLOUTS / PER_STEP);
/** The id of a rollout whose conversation is stored. */
const NEWEST = `${STEPS}-0-0`;

let state = 7;
const below = (n: number) => Math.floor(((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32) * n);
const TOOLS = Array.from({ length: 12 }, (_, i) => `tool_${i}`);

function rollout(i: number): RolloutSummary {
  const [step, at, broken] = [1 + Math.floor(i / PER_STEP), i % PER_STEP, below(5) === 0];
  const group = `${step}-${Math.floor(at / 8)}`;
  return {
    id: `${group}-${at % 8}`,
    group,
    index: at % 8,
    step,
    task: `retail/small/train/1/${i % 997}`,
    intent: ['cancel', 'return', 'exchange', 'cancel+return'][below(4)]!,
    reward: below(100) === 0 ? null : Number(below(3) === 0),
    advantage: below(7) - 3,
    termination: (['user_stop', 'max_turns', 'terminal_tool'] as const)[below(3)]!,
    turns: below(29),
    tokens: 500 + below(4000),
    violations: Number(broken),
    writes: 1,
    domain: 'retail',
    rules: broken ? ['unconfirmed_write'] : [],
    tools: TOOLS.filter(() => below(3) === 0),
  };
}

function conversation({ id, group, index }: RolloutSummary): Omit<Trajectory, 'ending'> {
  const nodes = Array.from({ length: 24 }, (_, id): MessageNode => {
    const tokens = Array.from({ length: 24 }, (_, i) => i);
    const text = `Message ${id}: I would like to return the ${index % 2 ? 'blue' : 'red'} shoes of my last order, please.`;
    return {
      id,
      parent: id === 0 ? null : id - 1,
      role: id % 2 ? 'assistant' : 'user',
      text,
      tokens,
      mask: tokens.map(() => id % 2),
      logprobs: tokens.map(() => (id % 2 ? -0.1 : null)),
    };
  });
  return {
    id,
    group,
    index,
    seed: 1,
    nodes,
    leaf: 23,
    termination: 'user_stop',
    turns: 12,
    reward: 1,
    verdict: null,
    violations: [],
    toolCalls: {},
    parseErrors: 0,
    seconds: { generate: 1, tool: 1, user: 1 },
    task: {
      id: 'retail/nano/train/1/0',
      domain: 'retail',
      level: 'nano',
      split: 'train',
      world: 'w',
      actions: [],
      noop: true,
      scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: 'You want to return shoes.' },
    },
  };
}

/** Stores a run of made-up rollouts, as the trainer does. Only the newest conversations are stored. */
async function seed(page: Page): Promise<void> {
  await page.goto('/#/runs');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const run = 'many';
  const rollouts = Array.from({ length: ROLLOUTS }, (_, i) => rollout(i));
  const CHUNK = 10_000;
  for (let from = 0; from < ROLLOUTS; from += CHUNK)
    await store(page, { rollouts: rollouts.slice(from, from + CHUNK).map((row) => ({ run, ...row })) });
  await store(page, {
    trajectories: rollouts.slice(-KEPT).map((row) => ({ run, ...conversation(row) })),
    metrics: Array.from({ length: STEPS }, (_, i) => ({ run, step: i + 1, values: { step: i + 1, 'critic/score/mean': (i % 100) / 100 } })),
    runs: [
      {
        id: run,
        name: 'many-rollouts',
        createdAt: 1,
        status: 'done',
        step: STEPS,
        request: { model: 'nano-retail', preset: 'nano', overrides: {}, user: { mode: 'scripted' } },
        config: grpoConfig('nano'),
      },
    ],
  });
}

/** Opens an address as a new page. Returns the milliseconds until the text is painted. */
async function opening(page: Page, address: string, selector: string, text: string): Promise<number> {
  await page.goto('about:blank');
  await page.goto(address, { waitUntil: 'commit' });
  await page.waitForFunction(
    ([selector, text]) => document.querySelector(selector!)?.textContent.includes(text!),
    [selector, text] as const,
    { polling: 'raf', timeout: 120_000 },
  );
  return page.evaluate(() => new Promise<number>((resolve) => requestAnimationFrame(() => resolve(performance.now()))));
}

type Deed = { click: string } | { press: string } | { input: string; value: string };

/** The milliseconds from `deed` until the element has another text, or the text `awaited`, and is painted. */
const painted = (page: Page, deed: Deed, selector: string, awaited = '') =>
  page.evaluate(
    async ([deed, selector, awaited]) => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const text = () => document.querySelector(selector)?.textContent ?? '';
      const before = text();
      const start = performance.now();
      if ('click' in deed) {
        const chip = [...document.querySelectorAll('dl a')].find(({ textContent }) => textContent.includes(deed.click));
        if (!(chip instanceof HTMLElement)) throw new Error(`no filter is named "${deed.click}"`);
        chip.click();
      } else if ('press' in deed) {
        document
          .querySelector('[role=grid]')!
          .dispatchEvent(new KeyboardEvent('keydown', { key: deed.press, bubbles: true, cancelable: true }));
      } else {
        const field = document.querySelector<HTMLInputElement | HTMLSelectElement>(deed.input)!;
        field.value = deed.value;
        field.dispatchEvent(new Event(field instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }));
      }
      await frame();
      while (awaited === '' ? text() === before : !text().includes(awaited)) {
        if (performance.now() - start > 60_000) throw new Error(`after ${JSON.stringify(deed)}, "${selector}" did not change`);
        await frame();
      }
      await frame();
      await frame();
      return performance.now() - start;
    },
    [deed, selector, awaited] as const,
  );

test('100,000 rollouts: a filter is fast; a link to one does not wait for the others', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  await seed(page);
  const COUNT = '[data-part=count]';
  const ROWS = '[role=grid] tbody';
  const count = page.locator(COUNT);

  const [links, groups, lists]: number[][] = [[], [], []];
  for (let round = 0; round < 3; round++) {
    links!.push(await opening(page, `/#/runs/many/rollouts/${NEWEST}`, 'main', 'Message 23'));
    groups!.push(await opening(page, '/#/runs/many/groups/700-3', 'h1', 'Group 700-3'));
    lists!.push(await opening(page, '/#/runs/many/rollouts', COUNT, '100,000 of 100,000'));
  }
  report('a link to one rollout, opened', links!);
  report('a link to one group, opened', groups!);
  report('the list, opened', lists!);
  expect(median(links!)).toBeLessThan(median(lists!) / 2);
  expect(median(groups!)).toBeLessThan(median(lists!) / 2);

  // Add the filters one after another, and remove them again.
  const chips = ['too many turns', 'wrong', 'changed data without asking', 'tool_3', 'exchange'];
  const filtering = new Timed(3);
  for (const chip of [...chips, ...chips]) await filtering.add(page, () => painted(page, { click: chip }, COUNT));
  await expect(count).toContainText('100,000 of 100,000');
  filtering.report('a filter added or taken away');

  const sorting: number[] = [];
  for (const value of ['turns', 'tokens', 'reward', 'advantage', ''])
    sorting.push(await painted(page, { input: 'search select', value }, ROWS));
  report('another order', sorting);

  const scrolling: number[] = [];
  const last = page.getByRole('grid').getByRole('row').last();
  await page.locator(':has(> * > [role=grid])').scrollIntoViewIfNeeded();
  for (let round = 0; round < 5; round++) {
    scrolling.push(await painted(page, { press: 'End' }, ROWS));
    await expect(last).toHaveAttribute('aria-rowindex', String(ROLLOUTS + 1));
    await expect(last).toBeInViewport();
    scrolling.push(await painted(page, { press: 'Home' }, ROWS));
  }
  report('to the end or the beginning by key', scrolling);

  const search = (value: string) =>
    painted(page, { input: 'search input[type=search]', value }, 'search', `Searched ${KEPT} conversations`);
  report('words found, conversations read from storage, 0.25 s of waiting for more letters included', [await search('red shoes')]);
  await expect(count).toContainText(`${KEPT / 2} of 100,000`);
  report('words found among those already read', [await search('blue'), await search('shoes of'), await search('nowhere')]);
  await expect(count).toHaveText(/^0 of 100,000/);

  expect(median(filtering.ratios)).toBeLessThanOrEqual(FILTERING);
  expect(problems).toEqual([]);
});
