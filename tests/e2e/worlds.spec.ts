/** Worlds in the built page: tables, tools, gold actions, an import that succeeds and an import that fails. */
import { expect, type Page } from '@playwright/test';
import { cancelCall, type Data, tau2Mock, tau2Retail } from '../support/benchmark-data.ts';
import { startChatServer } from '../support/chat-server.ts';
import { serve, verdict } from './agent-by-hand.ts';
import { inspect, watch } from './page-checks.ts';
import { test } from './test.ts';

const payload = (data: Data) => Object.entries(data).map(([name, text]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }));
const importFiles = (page: Page, data: Data) => page.getByLabel('Choose a zip or files').setInputFiles(payload(data));

test('a generated world: find an order, read the tools and the policy, run gold on a task', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/');
  await page.getByRole('link', { name: 'Worlds', exact: true }).click();
  const generated = page.getByRole('table', { name: 'Generated worlds' });
  await expect(generated.getByRole('row')).toHaveCount(1 + 12);
  await inspect(page, 'worlds');
  await generated.getByRole('link', { name: 'Retail, nano' }).click();
  await expect(page).toHaveURL(/#\/worlds\/retail-nano\/data/);

  // In the diagram, the keyboard opens a table. The references are also written in words.
  const diagram = page.getByRole('group', { name: 'Diagram of the tables' });
  await diagram.getByRole('link', { name: /^Table orders, 56 rows, .*user_id refers to users/ }).focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/table=orders/);
  await expect(diagram.getByRole('link', { name: /^Table orders/ })).toHaveAttribute('aria-current', 'true');
  await page.getByText('The references as a list').click();
  await expect(page.getByRole('listitem').filter({ hasText: 'orders.user_id' })).toContainText('a row of orders names 1 row of users');

  // The list is one tab stop. Arrow keys move, and Enter chooses.
  await page
    .getByRole('navigation', { name: 'Tables' })
    .getByRole('link', { name: /^orders / })
    .click();
  const orders = page.getByRole('grid', { name: 'orders' });
  await expect(orders.getByRole('row').nth(3)).toContainText('#W');
  const key = await orders.getByRole('row').nth(3).getByRole('gridcell').first().innerText();
  await orders.focus();
  for (const press of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(press);
  await expect(page).toHaveURL((url) => new URLSearchParams(url.hash.split('?')[1]).get('row') === key);
  const row = page.getByRole('region', { name: `orders / ${key}` });
  await expect(row).toContainText('payment_history');
  await inspect(page, 'world-data');
  await page.keyboard.press('Escape');
  await expect(row).toBeHidden();
  await expect(orders).toBeFocused();
  await page.keyboard.press('End');
  await expect(orders.locator('tr.active')).toHaveAttribute('aria-rowindex', (await orders.getAttribute('aria-rowcount'))!);

  await page.getByRole('searchbox', { name: 'Search orders' }).fill(key.slice(1).toLowerCase());
  await expect(page.getByRole('status').filter({ hasText: 'found' })).toHaveText('1 row found');
  await page.getByRole('grid', { name: 'orders' }).getByText(key, { exact: true }).click();
  await expect(row).toBeVisible();
  await page.reload();
  await expect(row).toContainText('payment_history');

  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  const cancel = page.locator('[data-part=tool]').filter({ has: page.getByRole('heading', { name: 'cancel_pending_order' }) });
  await expect(cancel).toContainText('reason');
  await inspect(page, 'world-tools');
  await page.getByRole('link', { name: 'Policy', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Policy' })).toContainText('order');

  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  const tasks = page.getByRole('grid', { name: 'Tasks' });
  await tasks.getByRole('row').filter({ hasNotText: 'no-op' }).first().click();
  await expect(page).toHaveURL(/task=retail%2Fnano%2Ftrain%2F1%2F\d+/);
  await expect(page.getByRole('link', { name: 'Play this task' })).toHaveAttribute(
    'href',
    /^#\/play\/retail\/retail%2Fnano%2Ftrain%2F1%2F\d+$/,
  );
  await page.getByRole('button', { name: 'Run gold' }).click();
  await expect(page.locator('[data-part=gold-run]')).toContainText('Reward of the gold actions: 1');
  await expect(page.locator('[data-part=gold-run]')).toBeInViewport();
  await expect(page.locator('[data-part=row-diff]').first()).toContainText('equals the goal');
  await inspect(page, 'world-tasks');

  // Open another of the generated worlds, which have no end.
  await page.getByRole('spinbutton', { name: 'World' }).fill('3');
  await page.getByRole('spinbutton', { name: 'World' }).press('Enter');
  await expect(page).toHaveURL(/world=3/);
  await expect(tasks.getByRole('row').nth(1)).toContainText('192');
  expect(problems).toEqual([]);
});

test('an import: browsed, its gold run, deleted; a broken one leaves nothing', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/worlds');
  await importFiles(page, { ...tau2Retail, 'db.json': tau2Retail['db.json']!.slice(0, 200) });
  const alert = page.getByRole('alert').filter({ hasText: 'Nothing was imported.' });
  await expect(alert).toContainText('db.json: it is not JSON');
  await expect(alert).toContainText('cut off');
  await page.reload();
  await expect(page.getByRole('table', { name: 'Generated worlds' })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Imported worlds' })).toBeHidden();

  await importFiles(page, tau2Mock);
  await expect(page.getByRole('link', { name: 'tau2 mock' })).toBeVisible();
  await importFiles(page, tau2Retail);
  await page.getByRole('link', { name: 'tau2 retail' }).click();
  await page.getByRole('link', { name: /^orders 1$/ }).click();
  await page.getByRole('grid', { name: 'orders' }).getByText('#W1', { exact: true }).click();
  await expect(page.getByRole('region', { name: 'orders / #W1' })).toContainText('gift_card_1');

  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await page.getByRole('combobox', { name: 'Split' }).selectOption('train');
  await page.getByRole('grid', { name: 'Tasks' }).getByRole('row').nth(1).click();
  await page.getByRole('button', { name: 'Run gold' }).click();
  await expect(page.locator('[data-part=gold-run]')).toContainText('Reward of the gold actions: 1');
  await expect(page.locator('[data-part=gold-run]')).toBeInViewport();
  await expect(page.locator('[data-part=row-diff]').filter({ hasText: 'orders/#W1' })).toContainText('cancelled');

  await page.goto('/#/worlds');
  const imported = page.getByRole('table', { name: 'Imported worlds' });
  await expect(imported.getByRole('row')).toHaveCount(1 + 2);
  await inspect(page, 'worlds-imported');
  await page.getByRole('button', { name: 'Delete Retail, tau2-bench' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(imported.getByRole('row')).toHaveCount(1 + 1);
  await page.goto('/#/worlds/tau2-retail/data');
  await expect(page.getByRole('alert')).toContainText('has not been imported in this browser');
  expect(problems).toEqual([]);
});

test('an imported task, played with a customer and a judge behind an endpoint', async ({ page }) => {
  page.setDefaultTimeout(30_000);
  const problems = watch(page);
  const { url, requests, close } = await startChatServer([
    { content: 'Please cancel my mug, order #W1. What comes back?' },
    { content: '###STOP###' },
    { content: '{"results": [{"statement": 1, "reason": "It was.", "met": true}]}' },
  ]);
  await page.goto('/#/settings');
  await page.getByLabel('A language model (OpenAI-compatible endpoint)').check();
  await page.getByLabel('Base URL').fill(url);
  await page.getByLabel('Model', { exact: true }).fill('customer');
  await page.getByLabel('Judge (imported tasks)').fill('judge');
  await page.getByLabel('Judge (imported tasks)').press('Tab');

  await page.goto('/#/worlds');
  await importFiles(page, tau2Retail);
  await page.getByRole('link', { name: 'tau2 retail' }).click();
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await page.getByRole('combobox', { name: 'Split' }).selectOption('train');
  await page.getByRole('grid', { name: 'Tasks' }).getByRole('row').nth(1).click();
  await page.getByRole('link', { name: 'Play this task' }).click();
  await page.getByLabel('the agent', { exact: true }).check();
  await expect(page.getByRole('region', { name: 'Conversation' })).toContainText('What comes back?');
  await serve(page, [cancelCall], 'It is cancelled, and 10.5 comes back.');
  expect(requests).toMatchObject([{ model: 'customer' }, { model: 'customer' }, { model: 'judge' }]);
  expect(requests[2]!.messages[1]!.content).toMatch(/cancel_pending_order[^]*10\.5 comes back[^]*1\. The agent is polite\.$/);
  await inspect(page, 'play-imported');
  await expect(verdict(page)).toContainText('(tau2: user_stop)');
  await expect(page.locator('[data-part=criteria]').getByText('✓ met')).toHaveCount(3);
  close();
  expect(problems).toEqual([]);
});

test('a table of 120,000 rows: drawn in part, scrolled to its end, searched', async ({ page }) => {
  const users = Object.fromEntries(
    Array.from({ length: 120_000 }, (_, i) => [`user_${i}`, { user_id: `user_${i}`, name: `Name ${i}`, tasks: [] }]),
  );
  const { tasks } = JSON.parse(tau2Mock['db.json']!) as { tasks: object };
  await page.goto('/#/worlds');
  await importFiles(page, {
    ...tau2Mock,
    'db.json': JSON.stringify({ tasks, users: { ...users, user_1: { user_id: 'user_1', name: 'U', tasks: ['task_1'] } } }),
  });
  await page.getByRole('link', { name: 'tau2 mock' }).click();
  await page.getByRole('link', { name: /^users 120,000$/ }).click();
  const grid = page.getByRole('grid', { name: 'users' });
  await expect(grid).toHaveAttribute('aria-rowcount', '120001');
  expect(await grid.getByRole('row').count()).toBeLessThan(80);
  await grid.focus();
  await page.keyboard.press('End');
  await expect(grid.getByText('user_119999', { exact: true })).toBeInViewport();
  await page.getByRole('searchbox', { name: 'Search users' }).fill('name 7777');
  await expect(page.getByRole('status').filter({ hasText: 'found' })).toHaveText('21 rows found');
  await expect(page.getByRole('grid', { name: 'users' }).getByText('user_77779', { exact: true })).toBeVisible();
});
