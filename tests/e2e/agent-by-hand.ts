/** Plays the agent by hand in Play. */
import { expect, type Page } from '@playwright/test';
import type { ToolCall } from '../../src/records/task.ts';

export const verdict = (page: Page) => page.getByRole('region', { name: 'Verdict' });
const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });

export async function say(page: Page, words: string): Promise<void> {
  const messages = await conversation(page).locator('[data-part=message]').count();
  await page.getByLabel('Say to the customer').fill(words);
  await page.getByRole('button', { name: 'Say it' }).click();
  await expect.poll(() => conversation(page).locator('[data-part=message]').count()).toBeGreaterThan(messages);
}

async function call(page: Page, name: string, args: Record<string, unknown>): Promise<void> {
  await page.getByLabel('Or call a tool').selectOption(name);
  for (const [field, value] of Object.entries(args)) {
    const choice = page.getByRole('combobox', { name: field, exact: true });
    if (await choice.isVisible()) await choice.selectOption(String(value));
    else await page.getByRole('textbox', { name: field, exact: true }).fill(String(value));
  }
  const results = conversation(page).getByText(`Tool result of ${name}`);
  const before = await results.count();
  await page.getByRole('button', { name: `Call ${name}` }).click();
  await expect(results).toHaveCount(before + 1);
}

/** Makes the calls, and talks until the customer leaves. Expects reward 1 and a database that equals the goal. */
export async function serve(page: Page, actions: readonly ToolCall[], words = 'Done. Anything else?'): Promise<void> {
  for (const { name, arguments: args } of actions) await call(page, name, args);
  for (let turn = 0; turn < 6 && !(await verdict(page).isVisible()); turn++) await say(page, words);
  await expect(verdict(page).locator('[data-part=reward]')).toHaveText(/^Reward 1 /);
  await expect(page.locator('[data-part=world-moment]').getByText('✓ After this call the database equals the goal.')).toBeVisible();
}
