/** A visit with the keyboard alone. Only Tab and the pages themselves move the focus. */
import { readFileSync } from 'node:fs';
import { expect, type Locator, type Page } from '@playwright/test';
import { flatten } from '../../src/agent/trajectory.ts';
import type { ToolCall } from '../../src/records/task.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { verdict } from './agent-by-hand.ts';
import { inspect, watch } from './page-checks.ts';
import { test } from './test.ts';

const MOST_STOPS = 120;

/** Presses Tab (or Shift+Tab) until the target has the focus. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await expect(target).toBeVisible();
  for (let stops = 0; stops < MOST_STOPS; stops++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${MOST_STOPS} stops of ${key} do not lead to ${String(target)}`);
}

/** Expects that the heading of the new page has the focus. */
const arrives = (page: Page, name: string | RegExp) => expect(page.getByRole('heading', { level: 1, name })).toBeFocused();

async function press(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await tabTo(page, target, key);
  await page.keyboard.press('Enter');
}

/** Chooses a value of a closed list with the arrow keys. */
async function choose(page: Page, list: Locator, value: string): Promise<void> {
  await tabTo(page, list);
  for (let at = 0; at < 60 && (await list.inputValue()) !== value; at++) await page.keyboard.press('ArrowDown');
  await expect(list).toHaveValue(value);
}

const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });

async function call(page: Page, { name, arguments: args }: ToolCall): Promise<void> {
  const results = conversation(page).getByText(`Tool result of ${name}`);
  const before = await results.count();
  await choose(page, page.getByLabel('Or call a tool'), name);
  for (const [field, value] of Object.entries(args)) {
    const list = page.getByRole('combobox', { name: field, exact: true });
    if (await list.isVisible()) await choose(page, list, String(value));
    else {
      await tabTo(page, page.getByRole('textbox', { name: field, exact: true }));
      await page.keyboard.type(String(value));
    }
  }
  await press(page, page.getByRole('button', { name: `Call ${name}` }));
  await expect(results).toHaveCount(before + 1);
}

const simple = ({ reward, task: { noop, scenario, actions } }: Trajectory) =>
  reward === 0 &&
  !noop &&
  scenario.wishes.length === 1 &&
  !scenario.wishes[0]!.insteadOf &&
  'order_id' in actions.at(-1)!.arguments &&
  actions.every(({ arguments: args }) => Object.values(args).every((value) => typeof value === 'string'));

test('found, read and played right by keys alone', async ({ page }) => {
  test.slow();
  page.setDefaultTimeout(30_000);
  const problems = watch(page);
  const { run, trajectories } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  const failed = trajectories.find(simple);
  expect(failed, 'a failed rollout of one simple wish in the recorded run').toBeDefined();
  const { id, task, nodes } = failed!;

  // This goes from the first page to the list of rollouts.
  await page.goto('/');
  await expect(page.getByRole('region', { name: 'Recorded run' }).getByRole('link').first()).toBeVisible();
  await press(page, page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }));
  await arrives(page, 'Runs');
  await press(page, page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: run.name }));
  await arrives(page, run.name);
  await press(page, page.getByRole('navigation', { name: 'Parts of the run' }).getByRole('link', { name: 'Rollouts' }));
  await arrives(page, /^Rollouts of /);

  // Filters and typed words do not move the focus. The list is one tab stop.
  await press(page, page.locator('[data-part=facet-reward] a[href*="reward=0"]'));
  await expect(page).toHaveURL(/reward=0/);
  await expect(page.locator('[data-part=facet-reward] a[aria-current=true]')).toBeFocused();
  const words = page.getByLabel('Text of the conversation');
  await tabTo(page, words, 'Shift+Tab');
  await page.keyboard.type(String(task.actions.at(-1)!.arguments.order_id));
  await expect(page.getByText(/^Searched \d+ conversations/)).toBeVisible();
  await expect(words).toBeFocused();
  const list = page.getByRole('grid', { name: 'Rollouts' });
  await tabTo(page, list);
  const row = list.locator('tr.active').getByText(id, { exact: true });
  for (let at = 0; at < 200 && !(await row.isVisible()); at++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await arrives(page, /^Rollout \d+-\d+-\d+$/);

  // Step through the tokens of the rollout.
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();
  await page.keyboard.press('v');
  const first = flatten(failed!).lossMask.indexOf(1);
  for (const tok of [first, first + 1]) {
    await page.keyboard.press('l');
    await expect(page).toHaveURL(new RegExp(`tok=${tok}\\b`));
  }
  await expect(page.locator('.t.on')).toBeInViewport();
  await expect(page.locator('[data-part=token]')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('[data-part=token]')).toHaveCount(0);

  // Go to the message in which the customer says the wish, and continue from there as the agent.
  const spoken = nodes.find(({ role }) => role === 'user')!.id;
  for (let at = 0; at < 10 && !new RegExp(`turn=${spoken}\\b`).test(page.url()); at++) await page.keyboard.press('j');
  await page.keyboard.press('a');
  await arrives(page, /^Play on/);
  await expect(page).toHaveURL(/as=agent/);
  const say = page.getByLabel('Say to the customer');
  for (const [i, action] of task.actions.entries()) {
    // After a turn, the focus is in the field for the next turn.
    if (i > 0) await expect(say).toBeFocused();
    await call(page, action);
  }
  for (let turn = 0; turn < 6 && !(await verdict(page).isVisible()); turn++) {
    await expect(say).toBeFocused();
    await page.keyboard.type('Done. Anything else?');
    const messages = conversation(page).locator('[data-part=message]');
    const before = await messages.count();
    await press(page, page.getByRole('button', { name: 'Say it' }));
    await expect.poll(() => messages.count()).toBeGreaterThan(before);
    await expect(say.or(verdict(page)).first()).toBeVisible();
  }
  await expect(verdict(page).locator('[data-part=reward]')).toHaveText(/^Reward 1 /);
  await expect(verdict(page).getByRole('heading', { name: 'Verdict' })).toBeFocused();
  await expect(page.locator('[data-part=branch]')).toHaveCount(1);
  await inspect(page, 'play-finished');
  expect(problems).toEqual([]);
});
