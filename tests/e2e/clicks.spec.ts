/** Counts the clicks that a visitor needs for three main tasks. A changed field counts as a click. */
import { expect, type Locator } from '@playwright/test';
import { inspect, watch } from './page-checks.ts';
import { test } from './test.ts';

/** Clicks on elements, and counts the clicks. */
class Hand {
  clicks = 0;

  async click(target: Locator): Promise<void> {
    await target.click();
    this.clicks += 1;
  }

  async choose(field: Locator, option: string): Promise<void> {
    await field.selectOption(option);
    this.clicks += 1;
  }
}

test('3 clicks from Runs: the largest push of a rollout and the row that it changed', async ({ page }) => {
  const problems = watch(page);
  const hand = new Hand();
  await page.goto('/#/runs');
  const main = page.getByRole('main');
  await hand.click(main.getByRole('link', { name: 'daring-ibis' }).first());
  await hand.click(main.getByRole('link', { name: /^Group \d+-\d+$/ }).first());
  await hand.click(main.getByRole('link', { name: /^Rollout .*correct/ }).first());
  const highlights = page.locator('[data-part=highlights]');
  const strongest = highlights.getByRole('list', { name: /^Strongest pushes/ }).getByRole('link');
  await expect(strongest.first()).toHaveText(/^“.+” was pushed (up|down) by [\d.]+: advantage −?[\d.]+ × \(1 − [\d.]+ %\)\.$/);
  const pushes = (await strongest.allInnerTexts()).map((text) => Number(/by ([\d.]+)/.exec(text)![1]));
  expect(pushes).toEqual(pushes.toSorted((a, b) => b - a));
  const [, row] = /: orders (#W\d+)\.$/.exec(
    await highlights
      .getByRole('list', { name: /^Writes to the database/ })
      .getByRole('link')
      .first()
      .innerText(),
  )!;
  await expect(main.getByRole('heading', { name: `orders/${row} ✓ equals the goal` })).toBeVisible();
  expect(hand.clicks).toBeLessThanOrEqual(3);
  expect(problems).toEqual([]);
});

test('3 clicks from Home: the advantage of a rollout, explained with its numbers', async ({ page }) => {
  const problems = watch(page);
  const hand = new Hand();
  await page.goto('/');
  const loop = page.getByRole('region', { name: 'How GRPO learns' });
  await hand.click(loop.getByRole('link', { name: /^Rollouts/ }));
  const picture = page.getByRole('region', { name: 'From rollouts to advantages' });
  await expect(picture).toContainText(/Reward mean [\d.]+, standard deviation [\d.]+/);
  const [, reward, mean, deviation, advantage] = /\((\d) − ([\d.]+)\) \/ ([\d.]+) = (−?[\d.]+)/.exec(await picture.innerText())!;
  const number = (text: string) => Number(text.replace('−', '-'));
  const computed = (number(reward!) - number(mean!)) / number(deviation!);
  // The page shows three digits of each number.
  expect(Math.abs(number(advantage!) / computed - 1)).toBeLessThan(0.01);
  expect(hand.clicks).toBeLessThanOrEqual(3);
  expect(problems).toEqual([]);
});

for (const [part, channel] of [
  ['Advantage', 'advantage'],
  ['Update', 'delta_p'],
] as const)
  test(`1 click from Home: “${part}” opens a token with its values and the formula`, async ({ page }) => {
    await page.goto('/');
    await page
      .getByRole('region', { name: 'How GRPO learns' })
      .getByRole('link', { name: new RegExp(`^${part}`) })
      .click();
    const panel = page.locator('[data-part=token]');
    await expect(panel.locator('[data-channel=advantage] dd')).toHaveText(/^−?[\d.]+ = \(\d − [\d.]+\) \/ [\d.]+$/);
    await expect(panel.locator(`[data-channel=${channel}] dd`)).toHaveText(/^−?0?\.?\d/);
    await expect(page.locator('.t.on')).toBeInViewport();
  });

test('4 clicks from a run: another one with one setting changed, and both compared', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  await page.goto('/#/?preset=tiny&total_training_steps=1&val_tasks=0&train_batch_size=1&n=2&filter_groups=false&max_turns=6');
  await page.getByRole('button', { name: 'Start training' }).click();
  const status = page.locator('[data-part=status]').first();
  await expect(status).toHaveText(/Done/, { timeout: 240_000 });

  const hand = new Hand();
  await hand.click(page.getByRole('link', { name: 'Change a setting' }));
  await inspect(page, 'new-run');
  await hand.choose(page.getByRole('combobox', { name: 'Algorithm' }), 'Dr. GRPO');
  await hand.click(page.getByRole('button', { name: 'Start training' }));
  await hand.click(page.getByRole('link', { name: 'Compare the two' }));
  await expect(page).toHaveURL(/#\/compare\?kind=runs&of=[0-9a-f-]{36}%2C[0-9a-f-]{36}$/);
  await expect(page.getByRole('main')).toContainText('norm_adv_by_std_in_grpo');
  expect(hand.clicks).toBeLessThanOrEqual(4);
  await page.goBack();
  await page.getByRole('button', { name: 'Stop' }).click();
  expect(problems).toEqual([]);
});
