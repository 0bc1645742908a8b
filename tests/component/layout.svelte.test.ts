/** Tables are completely visible at the usual widths, and the first point of a chart is visible. */
import { type Component, flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import Chart from '../../src/app/charts/Chart.svelte';
import { CHARTS } from '../../src/app/charts/specs.ts';
import WorldMoment from '../../src/app/conversation/database/WorldMoment.svelte';
import { MetricSeries } from '../../src/app/run-data/series.ts';
import '../../src/app/elements.css';
import '../../src/app/classes.css';
import { RUN } from '../gallery/samples.ts';
import RunsTable from '../../src/app/runs/RunsTable.svelte';
import type { RowChange } from '../../src/records/task.ts';
import Provided from './Provided.svelte';

let shown: object | undefined;
let box: HTMLElement;

function show(component: unknown, props: Record<string, unknown>, { width, app = {} }: { width: number; app?: object }): HTMLElement {
  box = document.body.appendChild(document.createElement('div'));
  box.style.width = `${width}px`;
  shown = mount(Provided, {
    target: box,
    props: { app: { lessons: { focus: [] }, ...app }, component: component as Component<Record<string, unknown>>, props },
  });
  flushSync();
  return box;
}
afterEach(async () => {
  if (shown) await unmount(shown);
  box.remove();
});

const order = (status: string, method: string) => ({ status, payment_history: [{ payment_method_id: method, amount: 120.5 }] });
const change: RowChange = {
  table: 'orders',
  key: '#W1002387',
  before: order('pending', 'gift_card_12'),
  after: order('cancelled', 'gift_card_12'),
  call: 0,
};
const episode = {
  leaf: 1,
  nodes: [
    { id: 0, parent: null, role: 'assistant', toolCall: { name: 'cancel_pending_order', arguments: { order_id: '#W1002387' } } },
    { id: 1, parent: 0, role: 'tool', toolResult: { name: 'cancel_pending_order', error: false, index: 0, changes: [change], ms: 1 } },
  ],
  verdict: {
    reward: 0,
    progress: 0,
    changes: [change],
    goal: [{ ...change, after: order('cancelled (requested)', 'credit_card_34') }],
  },
};

test('before, after and goal fit beside a conversation, and no path is broken inside a word', () => {
  show(WorldMoment, { episode, call: 0, oncall: () => {} }, { width: 352 });
  const scroll = box.querySelector<HTMLElement>('.scroll')!;
  expect(scroll.scrollWidth).toBeLessThanOrEqual(scroll.clientWidth);
  const [path] = [...box.querySelectorAll('th[scope=row]')].filter(({ textContent }) => textContent.includes('payment_method_id'));
  expect(path!.textContent).toBe('payment_history.0.payment_method_id');
  // Each piece between two possible breaks is on one line.
  for (const cell of box.querySelectorAll('tbody td, th[scope=row]')) {
    for (const node of [...cell.querySelectorAll('*'), cell].flatMap((element) => [...element.childNodes])) {
      if (node.nodeType !== Node.TEXT_NODE || !node.textContent?.trim() || /\s/.test(node.textContent.trim())) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      expect(new Set([...range.getClientRects()].map(({ top }) => top)).size, node.textContent).toBe(1);
    }
  }
});

test('the list of runs on the first page shows its last column', async () => {
  const library = {
    source: () => ({ summary: () => Promise.resolve({ reward: 0.62, heldOut: [0.44, 0.71] }), bytes: () => Promise.resolve(1) }),
  };
  const app = { client: { activeRun: null, otherTab: null }, library };
  // The width of the right column at 1440 px: the width of the page minus margins, left column and gap.
  show(RunsTable, { rows: [RUN], brief: true }, { width: 1216 - 384 - 24, app });
  await vi.waitUntil(() => box.textContent.includes('44 % → 71 %'));
  const scroll = box.querySelector<HTMLElement>('.scroll')!;
  expect(scroll.scrollWidth).toBeLessThanOrEqual(scroll.clientWidth);
  expect(box.querySelector('tbody tr')!.lastElementChild!.textContent).toContain('2026');
});

/** The coloured pixels in the middle of a chart. The grid is grey. */
function inked(): number {
  const canvas = box.querySelector('canvas')!;
  const width = Math.round(canvas.width / 5);
  const { data } = canvas.getContext('2d')!.getImageData(canvas.width / 2, 0, width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    const rgb = data.slice(i, i + 3);
    if (Math.max(...rgb) - Math.min(...rgb) > 60 && data[i + 3]! > 128) count += 1;
  }
  return count;
}

test.each(['reward', 'groups', 'entropy', 'time'])('after one step the chart %s has a dot', async (id) => {
  const series = new MetricSeries();
  const spec = CHARTS.find((chart) => chart.id === id)!;
  series.put({ step: 1, ...Object.fromEntries(spec.lines(series).map(({ key }) => [key, 0.4])) });
  show(Chart, { spec, data: { series, version: 1 }, smoothing: 0.7 }, { width: 400 });
  await expect.poll(inked).toBeGreaterThan(9);
});
