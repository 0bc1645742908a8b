/** Playing on: fork a failed rollout of the recorded run as the agent, make the right calls, and earn the reward. */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@playwright/test';
import type { Trajectory } from '../../src/agent/types.ts';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { serve, verdict } from './agent-by-hand.ts';

/** A failed rollout of a task with one simple wish, and the message where its customer has said what they want. */
async function failed(): Promise<{ trajectory: Trajectory; node: number }> {
  const { trajectories } = await readRunBundle(new Blob([await readFile('public/recorded/run.mua.zip')]));
  const trajectory = trajectories.find(({ reward, task: { noop, scenario } }) => reward === 0 && !noop && scenario.wishes.length === 1 && !scenario.wishes[0]!.insteadOf);
  expect(trajectory, 'a failed rollout of one simple wish in the recorded run').toBeDefined();
  return { trajectory: trajectory!, node: trajectory!.nodes.find(({ role }) => role === 'user')!.id };
}

const playHash = ({ task, id }: Trajectory, node: number, as: 'agent' | 'user') =>
  `/#/play/${task.domain}/${encodeURIComponent(task.id)}?from=${encodeURIComponent(`recorded/${id}@${node}`)}&as=${as}`;

test('as the agent, by hand, to reward 1; the branch is kept and becomes training data', async ({ page }) => {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  const { trajectory, node } = await failed();
  await page.goto(playHash(trajectory, node, 'agent'));
  await expect(page.getByRole('region', { name: 'The agent’s turn' })).toBeVisible();

  // The form refuses what the schema does not allow, and says so at the field.
  const [first] = trajectory.task.actions;
  await page.getByLabel('Or call a tool').selectOption(first!.name);
  await page.getByRole('button', { name: `Call ${first!.name}` }).click();
  await expect(page.getByText('Fill this in.').first()).toBeVisible();

  await serve(page, trajectory.task.actions);

  // Kept, comparable, and in the JSONL that supervised fine-tuning reads.
  await page.getByRole('button', { name: 'Compare with the original' }).click();
  await expect(page.getByRole('region', { name: 'From where they part' }).getByRole('heading', { name: /^Original/ })).toBeVisible();
  await page.getByLabel('In the training set').check();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the training set (1)' }).click();
  const line = JSON.parse(await readFile(await (await download).path(), 'utf8')) as { messages: { role: string }[]; tools: unknown[] };
  expect(line.messages[0]!.role).toBe('system');
  expect(line.tools.length).toBeGreaterThan(0);

  // Opened by its own address it is what it was; a turn taken back makes it open again.
  await page.getByRole('link', { name: /^Played / }).click();
  await expect(page).toHaveURL(/from=branches/);
  await expect(verdict(page).locator('[data-part=reward]')).toHaveText(/^Reward 1 /);
  await page.reload();
  await expect(verdict(page).locator('[data-part=reward]')).toHaveText(/^Reward 1 /);
  await page.getByLabel('the agent', { exact: true }).check();
  await page.getByRole('button', { name: 'Undo the agent’s last turn' }).click();
  await expect(page.getByRole('region', { name: 'The agent’s turn' })).toBeVisible();
  await expect(verdict(page)).toBeHidden();
  expect(problems).toEqual([]);
});

test('as the customer: the model answers, and can be asked to roll out from here', async ({ page }) => {
  test.slow();
  const { trajectory } = await failed();
  await page.goto(`/#/play/retail/${encodeURIComponent(trajectory.task.id)}`);
  // Without a model that is ready the visitor would have to play both.
  await expect(page.getByText('Ready.', { exact: true })).toBeVisible();
  await page.getByLabel('Say as the customer').fill(`Hi, I want to cancel an order.`);
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.getByRole('region', { name: 'Conversation' }).getByText('Agent', { exact: true }).first()).toBeVisible({ timeout: 120_000 });
  await expect(page.locator('[data-part=next]')).not.toHaveText(/Waiting/, { timeout: 120_000 });
  const roll = page.getByRole('button', { name: 'Roll out 8 from here' });
  if (await roll.isEnabled()) {
    await roll.click();
    await expect(page.locator('[data-part=batch]')).toContainText(/8 rollouts after message \d+: \d\/8 correct/, { timeout: 240_000 });
  }
});

test('the world at a call can be stepped through by keyboard', async ({ page }) => {
  const { trajectory } = await failed();
  await page.goto(playHash(trajectory, trajectory.leaf, 'agent'));
  const moment = page.locator('[data-part=world-moment]');
  const scrubber = moment.getByRole('slider', { name: 'Tool call' });
  await scrubber.focus();
  await page.keyboard.press('Home');
  await expect(moment.getByText(/^Call 1 of \d+/)).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await expect(moment.getByText(/^Call 2 of \d+/)).toBeVisible();
  await moment.getByLabel('Changed rows only').uncheck();
  await moment.getByText('orders', { exact: true }).click();
  await expect(moment.locator('.rows li').first()).toBeVisible();
});
