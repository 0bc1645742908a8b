/** The outcome of a conversation names the customer's faults, and Evals has a row per simulator. */
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, test } from 'vitest';
import CustomerFaults from '../../src/app/conversation/transcript/CustomerFaults.svelte';
import CustomersTable from '../../src/app/evals/CustomersTable.svelte';
import type { EvaluationRow } from '../../src/records/evaluation.ts';
import type { UserConfig } from '../../src/records/user.ts';
import { message, tasksFor, trajectoryOf } from '../support/customer-conversations.ts';

let shown: object | undefined;
afterEach(async () => {
  if (shown) await unmount(shown);
  document.body.replaceChildren();
});

const [task] = tasksFor('upfront', 'nano', 1, 1);

function outcome(text: string): HTMLElement {
  const trajectory = trajectoryOf(task!, [message(0, 'system', ''), message(1, 'user', text)], 'max_turns');
  shown = mount(CustomerFaults, { target: document.body, props: { trajectory, messageLink: (node: number) => `#/at/${node}` } });
  flushSync();
  return document.body;
}

test('a fault has a name, a link to its message and the evidence', () => {
  const link = outcome('Hello. My phone is 555-301-8844.').querySelector('a')!;
  expect(link.getAttribute('href')).toBe('#/at/1');
  expect(link.closest('li')!.textContent).toMatch(/^\s*invented a fact\s*: Nobody told the customer the number 8844/);
  expect(document.body.textContent).toContain('8 of 9 checks ran in full');
});

test('a sound customer has none', () => {
  expect(outcome('Hello.').textContent).toContain('made no fault');
  expect(document.querySelector('a')).toBeNull();
});

test('the table has a row per simulator and leaves out evaluations without an audit', () => {
  const row = (user: UserConfig, results: unknown[]) => ({ settings: { user }, results }) as unknown as EvaluationRow;
  const rows = [
    row({ mode: 'scripted' }, [{ reward: 1, faults: [] }]),
    row({ mode: 'endpoint', baseUrl: 'http://a/v1', model: 'small' }, [
      { reward: 0, faults: ['cut_answer'], denied: true },
      { reward: 0, faults: [] },
    ]),
    row({ mode: 'endpoint', baseUrl: 'http://b/v1', model: 'old' }, [{ reward: 0 }]),
  ];
  shown = mount(CustomersTable, { target: document.body, props: { rows } });
  flushSync();
  const cells = [...document.querySelectorAll('tbody tr')].map((tr) =>
    [...tr.children].map((cell) => cell.textContent.trim().replace(/\s+/g, ' ')),
  );
  expect(cells).toEqual([
    ['Scripted customer', expect.stringMatching(/^0 of 1 0/), '–', '0 of 0'],
    ['small at http://a/v1', expect.stringMatching(/^1 of 2 50/), 'gave an incomplete answer 1', expect.stringMatching(/^1 of 2 50/)],
  ]);
});
