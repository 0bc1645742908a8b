/** Comparisons: the filtered list of the recorded run, the rollouts of a group, two aligned rollouts, and curves of several runs. */
import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { grpoConfig } from '../../src/training/config.ts';
import { inspect, watch } from './page-checks.ts';
import { store } from './storage.ts';
import { test } from './test.ts';

const count = async (page: Page) => Number((await page.locator('[data-part=count] b').innerText()).replaceAll(',', ''));
const reads = (page: Page, field: RegExp) => expect.poll(() => page.url()).toMatch(field);

test('the list of rollouts filters by links, searches in text, and is the same after Back', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/runs/recorded');
  await page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Rollouts' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Rollouts of /);
  await expect(page.getByRole('grid', { name: 'Rollouts' })).toBeVisible();
  const all = await count(page);
  expect(all).toBeGreaterThan(0);
  await inspect(page, 'rollouts');

  // A filter for failed rollouts says how many rollouts will remain, and this many remain.
  const wrong = page.locator('[data-part=facet-reward], [data-part=facet-end]').getByRole('link').first();
  const left = Number((await wrong.locator('.count').innerText()).replaceAll(',', ''));
  await wrong.click();
  await reads(page, /[?&](reward|end)=/);
  await expect.poll(() => count(page)).toBe(left);
  await expect(page.locator('search [aria-current=true]')).toHaveCount(1);
  await page.getByRole('link', { name: 'Clear all filters' }).click();
  await expect.poll(() => count(page)).toBe(all);

  // The search reads only stored conversations, and the page says how many these are.
  await page.getByLabel('Text of the conversation').fill('order');
  await expect(page.getByText(/^Searched \d+ conversations/)).toBeVisible();
  const found = await count(page);
  expect(found).toBeGreaterThan(0);
  expect(found).toBeLessThanOrEqual(all);
  await page.getByLabel('Text of the conversation').fill('no conversation says this');
  await expect(page.getByText('No rollout matches these filters.')).toBeVisible();
  await page.getByLabel('Text of the conversation').fill('order');
  await expect.poll(() => count(page)).toBe(found);

  // The list is one tab stop. Arrow keys move, Enter opens a row, and Back returns to the same row.
  await page.getByLabel('Sorted by').selectOption('turns');
  await page.getByRole('grid', { name: 'Rollouts' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await reads(page, /#\/runs\/recorded\/rollouts\/[^?]+/);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/Rollout/);
  // Buttons and keys move through the list in its order, also from one group to the next.
  const place = page.getByRole('link', { name: / in the list$/ });
  await expect(place).toHaveText(`2 of ${found.toLocaleString('en')} in the list`);
  const opened = page.url();
  await page.keyboard.press('[');
  await expect(place).toHaveText(/^1 of /);
  await expect(page.getByRole('link', { name: /^← Rollout/ })).toHaveCount(0);
  await inspect(page, 'rollout-of-list');
  await page.getByRole('link', { name: /^Rollout .* →$/ }).click();
  await expect.poll(() => page.url()).toBe(opened);
  await expect(place).toHaveText(/^2 of /);
  await place.click();
  await reads(page, /rollouts\?.*q=order.*sort=turns.*at=/);
  for (const _ of ['the second rollout again', 'the first', 'the second', 'the list']) await page.goBack();
  await reads(page, /rollouts\?.*q=order.*sort=turns.*at=/);
  await expect.poll(() => count(page)).toBe(found);
  await expect(page.locator('[role=grid] [aria-selected=true]')).toHaveCount(1);
  expect(problems).toEqual([]);
});

/** The address of a group of the recorded run whose conversations are stored. */
async function keptGroup(page: Page): Promise<string> {
  await page.goto('/#/runs/recorded/rollouts?q=order');
  await expect(page.getByText(/^Searched \d+ conversations/)).toBeVisible();
  const id = await page.getByRole('grid', { name: 'Rollouts' }).getByRole('link').first().innerText();
  return `/#/runs/recorded/groups/${id.replace(/-\d+$/, '')}`;
}

test('siblings side by side: a line a turn, sorted, pinned and aligned, all of it in the address', async ({ page }) => {
  const problems = watch(page);
  await page.goto(await keptGroup(page));
  const table = page.getByRole('table', { name: 'Rollouts of the group' });
  await expect(table.locator('[data-part=group-column]')).not.toHaveCount(0);
  const columns = await table.locator('[data-part=group-column]').count();
  expect(columns).toBeGreaterThanOrEqual(2);
  await expect(table.getByRole('rowheader', { name: 'Turn 1', exact: true })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Where the rollouts differ first' })).toContainText(
    /Rollout \S+, turn \d+:\s+\S[^]+ instead of /,
  );
  await expect(page.locator('[data-part=goal]')).toBeVisible();
  await inspect(page, 'group');

  // The picture and the table highlight the same rollout: the one under the pointer or with the focus.
  const picture = page.getByRole('region', { name: 'From rollouts to advantages' });
  await expect(picture.locator('[data-part=advantage-formula]')).toContainText(/ = [−\d]/);
  await expect(picture.getByRole('link', { name: /^Rollout / })).toHaveCount(columns);
  await picture.getByRole('link', { name: /^Rollout \S+-1 / }).hover();
  await expect(table.locator('col').nth(2)).toHaveClass(/lit/);
  // Move the pointer away from the picture, because the focus scrolls the page under the pointer.
  await page.mouse.move(0, 0);
  await table.getByRole('link', { name: /^Rollout \S+-0$/ }).focus();
  await expect(picture.locator('li.lit')).toHaveText(/^Rollout \S+-0 /);

  await page.getByLabel('Sorted by').selectOption('turns');
  // The rewards of this group differ, so its shortest and its longest rollout are different conversations.
  const names = await table.locator('[data-part=group-column]').getByRole('link').allInnerTexts();
  const [first, last] = [names[0]!, names.at(-1)!].map((name) => name.toLowerCase());
  await page.getByRole('button', { name: `Pin ${first}` }).click();
  await page.getByRole('button', { name: `Pin ${last}` }).click();
  const pair = page.locator('[data-part=aligned-pair]');
  await expect(pair.getByRole('table', { name: 'Two conversations, aligned' })).toBeVisible();
  await expect(pair.getByRole('rowheader', { name: /same move|different/ }).first()).toBeVisible();
  await reads(page, /sort=turns.*pin=/);
  await inspect(page, 'group-pinned');

  // Open a turn and go back. The comparison is as before.
  const before = page.url();
  await table
    .getByRole('row', { name: /^Turn 1/ })
    .getByRole('link')
    .first()
    .click();
  await reads(page, /\/rollouts\/[^?]+\?turn=\d+/);
  await page.goBack();
  await expect(pair).toBeVisible();
  expect(page.url()).toBe(before);

  // Open the first different token in each of the two rollouts.
  await pair.getByRole('link', { name: names[0]!, exact: true }).first().click();
  await reads(page, /view=rendered&tok=\d+/);
  await page.goBack();

  await page.getByRole('link', { name: 'Open as a page' }).click();
  await reads(page, /#\/compare\?kind=rollouts&of=/);
  await expect(page.getByRole('table', { name: 'Two conversations, aligned' })).toBeVisible();
  await inspect(page, 'compare-rollouts');
  expect(problems).toEqual([]);
});

test('where there is room for one rollout, its siblings are a step away', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto(await keptGroup(page));
  const columns = page.getByRole('table', { name: 'Rollouts of the group' }).locator('[data-part=group-column]');
  await expect(columns).toHaveCount(1);
  await expect(columns).toContainText(/Rollout \S+-0/);
  await expect(page.getByRole('button', { name: 'Earlier rollout' })).toBeDisabled();
  await page.getByRole('button', { name: 'Later rollout' }).click();
  await expect(columns).toContainText(/Rollout \S+-1/);
  await reads(page, /at=/);
  await page.reload();
  await expect(columns).toContainText(/Rollout \S+-1/);
});

/** Adds a second run to the storage. */
async function addRun(page: Page, name: string): Promise<string> {
  const id = `e2e-${name}`;
  const config = grpoConfig('tiny', { lr: 0.5 });
  const run = {
    id,
    name,
    createdAt: 1,
    status: 'done',
    step: 3,
    request: { model: 'nano-retail', preset: 'tiny', overrides: { lr: 0.5 }, user: { mode: 'scripted' } },
    config,
  };
  const metrics = [1, 2, 3].map((step) => ({ run: id, step, values: { step, 'critic/score/mean': step / 4, 'actor/entropy': 1 / step } }));
  await store(page, { runs: [run], metrics });
  return id;
}

test('the keys walk through rollouts whose conversations are not stored', async ({ page }) => {
  const { rollouts } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  await page.goto('/#/runs');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const run = await addRun(page, 'bare');
  await store(page, { rollouts: rollouts.map((row) => ({ ...row, run })) });
  await page.goto(`/#/runs/${run}/rollouts/1-0-0`);
  await expect(page.getByText('The conversation of this rollout is not stored')).toBeVisible();
  await page.keyboard.press(']');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/Rollout 1-0-1/);
  await page.keyboard.press('[');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/Rollout 1-0-0/);
});

test('two runs on common axes, with what differs and where they ended', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/runs');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await addRun(page, 'quiet-heron');
  await page.reload();
  await page.getByRole('checkbox', { name: 'Compare quiet-heron' }).check();
  // The visitor's run, then the three recorded runs.
  await expect(page.getByRole('checkbox', { name: /^Compare / })).toHaveCount(4);
  await page
    .getByRole('checkbox', { name: /^Compare / })
    .nth(1)
    .check();
  await reads(page, /#\/runs\?of=/);
  await inspect(page, 'runs-chosen');
  await page.getByRole('link', { name: 'Compare 2 runs' }).click();
  await reads(page, /#\/compare\?kind=runs&of=e2e-quiet-heron(,|%2C)recorded/);
  await expect(page.getByRole('table', { name: 'Settings that differ' }).getByRole('rowheader', { name: 'lr', exact: true })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Figures of the runs' }).getByRole('row', { name: /^steps 3 / })).toBeVisible();
  const reward = page.locator('[data-part=chart-reward]');
  await expect(reward.getByRole('listitem')).toHaveCount(2);
  await reward.getByRole('button', { name: 'Reward as a table' }).click();
  await expect(reward.getByRole('columnheader', { name: 'quiet-heron' })).toBeVisible();
  const download = page.waitForEvent('download');
  await reward.getByRole('button', { name: 'Reward as a CSV file' }).click();
  expect((await download).suggestedFilename()).toBe('reward.csv');
  await inspect(page, 'compare-runs');

  await page.goto('/#/compare?kind=runs&of=recorded,nobody');
  await expect(page.getByText('There is no run “nobody” in this browser.')).toBeVisible();
  await page.goto('/#/compare?kind=rollouts&of=recorded');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('There is no such comparison');
  expect(problems).toEqual([]);
});

test('the tabs of a run: its configuration beside the preset, and its checkpoints', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/runs/recorded?tab=config');
  await expect(page.getByRole('table', { name: 'Configuration' }).getByRole('rowheader', { name: 'train_batch_size' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Config' })).toHaveAttribute('aria-current', 'page');
  await inspect(page, 'run-config');
  await page.getByRole('link', { name: 'Checkpoints' }).click();
  await reads(page, /tab=checkpoints/);
  await expect(page.getByText('The recorded run comes without its checkpoints.')).toBeVisible();
  await inspect(page, 'run-checkpoints');
  expect(problems).toEqual([]);
});
