/** Conversations with shaped rewards of another tool: as a run and as an evaluation, with a rule of success that the visitor changes. */
import { expect } from '@playwright/test';
import { inspect, watch } from './page-checks.ts';
import { test } from './test.ts';

const call = { role: 'assistant', content: '', tool_calls: [{ function: { name: 'refund_order', arguments: { order: '#W1' } } }] };
const row = (step: number, order: string, accuracy: number, style: number, level: string) => ({
  step,
  prompt: [{ role: 'user', content: `Refund ${order}` }],
  completion: [call, { role: 'tool', content: 'ok' }, { role: 'assistant', content: `Order ${order} is refunded.` }],
  accuracy_reward: accuracy,
  style_reward: style,
  level,
});
/** Two orders, two trials each. */
const ROWS = [row(1, '#W1', 1, 0.5, 'easy'), row(1, '#W1', 0, 0.9, 'hard'), row(4, '#W2', 1, 0.1, 'hard'), row(4, '#W2', 1, 0.6, 'easy')];
const file = {
  name: 'shaped.jsonl',
  mimeType: 'application/jsonl',
  buffer: Buffer.from(ROWS.map((own) => JSON.stringify(own)).join('\n')),
};

test('a run of TRL: parts of the reward, columns as filters, and a rule of success that can be changed', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/import');
  await page.getByLabel('Choose files').setInputFiles([file]);
  const success = page.locator('dt', { hasText: /^Success$/ }).locator('xpath=following-sibling::dd');
  await expect(success).toHaveText('3 of 4');
  const rule = page.getByLabel('A conversation succeeded if');
  await rule.fill('accuracy_reward>');
  await rule.blur();
  await expect(page.getByRole('alert')).toContainText('expected NAME>=VALUE');
  await rule.fill('style_reward>=0.5');
  await rule.blur();
  await expect(success).toHaveText('3 of 4');
  await expect(page.getByRole('alert')).toHaveCount(0);
  await page.getByLabel('refund_order').check();
  await inspect(page, 'import-foreign');
  await page.getByRole('button', { name: 'Import it' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'shaped' })).toBeVisible();
  await page.getByText('Success: style_reward ≥ 0.5').click();
  await page.getByLabel('A conversation succeeded if').fill('reward>=1.5');
  await page.getByLabel('A conversation succeeded if').blur();
  await expect(page.getByText('Success: reward ≥ 1.5')).toBeVisible();
  await inspect(page, 'imported-run');
  expect(problems).toEqual([]);
});

test('an evaluation of TRL’s conversations: pass^k by a rule that can be changed', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/import');
  await page.getByLabel('Choose files').setInputFiles([file]);
  await page.getByLabel('Import it as').selectOption('evaluation');
  await page.getByRole('button', { name: 'Import it' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Evaluation of shaped' })).toBeVisible();
  const report = page.getByRole('region', { name: 'Report' });
  // Tasks with successes 1 of 2 and 2 of 2: pass^1 is 3/4 and pass^2 is 1/2.
  await expect(report).toContainText(/pass\^1\s*75 %/);
  await expect(report).toContainText(/pass\^2\s*50 %/);
  await page.getByText('Success: accuracy_reward ≥ 1').click();
  const rule = page.getByLabel('A conversation succeeded if');
  await rule.fill('nothing>=1');
  await rule.blur();
  await expect(page.getByRole('alert')).toContainText('expected one of the names');
  await rule.fill('reward>=1.5');
  await rule.blur();
  // Now 1 of 2 and 1 of 2.
  await expect(page.getByText('Success: reward ≥ 1.5')).toBeVisible();
  await expect(report).toContainText(/pass\^1\s*50 %/);
  await expect(report).toContainText(/pass\^2\s*0 %/);
  await inspect(page, 'imported-evaluation');
  await page.reload();
  await expect(page.getByText('Success: reward ≥ 1.5')).toBeVisible();
  expect(problems).toEqual([]);
});
