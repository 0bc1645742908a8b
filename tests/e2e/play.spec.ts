/** Play: fork a failed rollout of the recorded run as the agent, make the right calls, and earn the reward. */
import { readFile } from 'node:fs/promises';
import { expect, type Page } from '@playwright/test';
import { parseConversations } from '../../src/agent/conversation.ts';
import { path } from '../../src/base/message-path.ts';
import type { BranchRow } from '../../src/records/branch.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { BRANCHES } from '../../src/app/library/origin.ts';
import { forkAt, writeFrom } from '../../src/app/branches/play-origin.ts';
import { href } from '../../src/app/routes/routes.ts';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { say, serve, verdict } from './agent-by-hand.ts';
import { inspect, watch } from './page-checks.ts';
import { stored } from './storage.ts';
import { test } from './test.ts';

async function recorded(): Promise<Trajectory[]> {
  return (await readRunBundle(new Blob([await readFile('public/recorded/run.mua.zip')]))).trajectories;
}

/** A failed rollout of a task with one simple wish, and the message in which its customer says the wish. */
async function failed(): Promise<{ trajectory: Trajectory; node: number }> {
  const trajectory = (await recorded()).find(
    ({ reward, task: { noop, scenario } }) => reward === 0 && !noop && scenario.wishes.length === 1 && !scenario.wishes[0]!.insteadOf,
  );
  expect(trajectory, 'a failed rollout of one simple wish in the recorded run').toBeDefined();
  return { trajectory: trajectory!, node: trajectory!.nodes.find(({ role }) => role === 'user')!.id };
}

const playHash = ({ task, id }: Trajectory, node: number, as: 'agent' | 'user') =>
  `/${href({ name: 'play', domain: task.domain, task: task.id }, { from: writeFrom({ place: 'recorded', id, node }), as })}`;

const conversation = (page: Page) => page.getByRole('region', { name: 'Conversation' });
const messages = (page: Page) => conversation(page).locator('[data-part=message]');
const forkLink = (page: Page, node: number) => conversation(page).getByRole('link', { name: `Fork at message ${node}`, exact: true });

test('as the agent, by hand, to reward 1; the branch is kept and becomes training data', async ({ page }) => {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  const { trajectory, node } = await failed();
  await page.goto(playHash(trajectory, node, 'agent'));
  await expect(page.getByRole('region', { name: 'The agent’s turn' })).toBeVisible();

  // The form refuses values that the schema does not allow, with a message at the field.
  const [first] = trajectory.task.actions;
  await page.getByLabel('Or call a tool').selectOption(first!.name);
  await page.getByRole('button', { name: `Call ${first!.name}` }).click();
  await expect(page.getByText('Fill this in.').first()).toBeVisible();

  await serve(page, trajectory.task.actions);

  // The branch is stored, can be compared, and is in the JSONL for supervised fine-tuning.
  await page.getByRole('button', { name: 'Compare with the original' }).click();
  await expect(page.getByRole('region', { name: 'From the first difference' }).getByRole('heading', { name: /^Original/ })).toBeVisible();
  await page.getByLabel('In the training set').check();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the training set (1)' }).click();
  const line = JSON.parse(await readFile(await (await download).path(), 'utf8')) as { messages: { role: string }[]; tools: unknown[] };
  expect(line.messages[0]!.role).toBe('system');
  expect(line.tools.length).toBeGreaterThan(0);

  // The branch's address opens the same conversation. If a turn is taken back, the conversation can continue.
  await page.getByRole('link', { name: /^Played / }).click();
  await expect(page).toHaveURL(/from=branches/);
  await expect(verdict(page).locator('[data-part=reward]')).toHaveText(/^Reward 1 /);
  await page.reload();
  await expect(verdict(page).locator('[data-part=reward]')).toHaveText(/^Reward 1 /);
  await page.getByLabel('the agent', { exact: true }).check();
  await page.getByRole('button', { name: 'Undo the last turn' }).click();
  await expect(page.getByRole('region', { name: 'The agent’s turn' })).toBeVisible();
  await expect(verdict(page)).toBeHidden();
  expect(problems).toEqual([]);
});

test('a language model takes over from the script in the middle of a conversation', async ({ page }) => {
  test.slow();
  const { trajectory, node } = await failed();
  await page.goto(playHash(trajectory, node, 'agent'));
  const shown = conversation(page);
  await expect(shown).toContainText('The script plays the customer.');
  const before = await messages(page).allTextContents();
  await shown.getByText('Change who plays the customer').click();
  await shown.getByLabel('A language model in this tab').check();
  await expect(shown.getByText('✓ This model comes with the page')).toBeVisible();
  await expect(shown).toContainText('The language model plays the customer.');
  // The worker of the model loads when it is first needed.
  const worker = page.waitForRequest(/local-model\.worker/);
  await say(page, 'What is your order number?');
  await expect(messages(page)).toHaveCount(before.length + 2, { timeout: 120_000 });
  expect((await messages(page).allTextContents()).slice(0, before.length)).toEqual(before);
  const [branch] = await stored<BranchRow>(page, 'branches');
  const { role, text } = branch!.trajectory.nodes.at(-1)!;
  expect([role, text.length > 0]).toEqual(['user', true]);
  await worker;
});

test('as the customer: the model answers, and once more when it is asked to', async ({ page }) => {
  test.slow();
  const { trajectory } = await failed();
  await page.goto(`/#/play/retail/${encodeURIComponent(trajectory.task.id)}`);
  // Wait for the model, because without it the visitor would have to play both sides.
  await expect(page.getByText('Ready.', { exact: true })).toBeVisible();
  await page.getByLabel('Say as the customer').fill(`Hi, I want to cancel an order.`);
  await page.getByRole('button', { name: 'Send' }).click();
  const agent = messages(page).filter({ has: page.getByText('Agent', { exact: true }) });
  await expect(agent.first()).toBeVisible({ timeout: 120_000 });
  const next = page.locator('[data-part=next]');
  await expect(next).not.toHaveText(/Waiting/, { timeout: 120_000 });
  await expect(page.locator('[data-part=branch]')).toHaveCount(1);

  // The model plays the last turn again. It is added to the same branch.
  // Record all states, because a short turn may end between two checks on a slow machine.
  const said = await page.evaluateHandle(() => {
    const texts: string[] = [];
    const note = () => texts.push(document.querySelector('[data-part=next]')?.textContent.trim() ?? '');
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
    return texts;
  });
  await page.getByRole('button', { name: 'Regenerate the agent’s last turn' }).click();
  await expect.poll(() => said.jsonValue()).toContain('Waiting for the agent…');
  await expect(next).not.toHaveText(/Waiting/, { timeout: 120_000 });
  await expect(page.locator('[data-part=branch]')).toHaveCount(1);
  expect(await messages(page).count()).toBeGreaterThan(1);
  await expect(agent.last()).toContainText('sampled');
  await expect(agent.last()).not.toContainText('written by hand');
});

test('eight rolled out from here: their rate, the tokens of one, the correct ones as training data', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  // After the last write of a successful rollout, only the goodbye is left, so most continuations succeed.
  const trajectory = (await recorded()).find(({ reward, task, termination }) => reward === 1 && !task.noop && termination === 'user_stop')!;
  const write = path(trajectory).findLast(({ toolResult }) => toolResult && toolResult.changes.length > 0)!;
  // The system prompt is message 0, and the messages of the chat template have no number.
  const number = path(trajectory)
    .filter(({ role }) => role !== 'template')
    .indexOf(write);
  await page.goto(playHash(trajectory, write.id, 'user'));
  const roll = page.getByRole('button', { name: 'Roll out 8 from here' });
  await expect(roll).toBeEnabled({ timeout: 60_000 });
  await roll.click();
  const batch = page.locator('[data-part=batch]');
  await expect(batch.locator('summary')).toContainText(new RegExp(`^8 rollouts after message ${number}: \\d/8 correct`), {
    timeout: 400_000,
  });
  const correct = Number(/: (\d)\/8/.exec(await batch.locator('summary').innerText())![1]);
  expect(correct).toBeGreaterThan(0);
  await expect(page.locator('[data-part=rolled]')).toContainText(`${correct} of 8 rollouts from here are correct`);
  await batch.locator('summary').click();
  await expect(batch.getByRole('listitem')).toHaveCount(8);
  await expect(batch.getByRole('listitem').filter({ hasText: 'correct' })).toHaveCount(correct);

  // Open the tokens of one rollout, and go back.
  await batch.getByRole('link', { name: 'Tokens of Rollout 1', exact: true }).click();
  await expect(page).toHaveURL(/#\/branches\//);
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();
  await page.goBack();
  await batch.locator('summary').click();

  const add = batch.getByRole('button', { name: 'Add the correct ones to the training set' });
  await add.click();
  await expect(add).toBeDisabled();
  await expect(batch.getByRole('checkbox', { checked: true })).toHaveCount(correct);
  await inspect(page, 'play-batch');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: `Download the training set (${correct})` }).click();
  expect(parseConversations(await readFile(await (await download).path(), 'utf8'))).toHaveLength(correct);

  // Deleted branches are no longer in the training set.
  await batch.getByRole('button', { name: 'Delete these 8' }).click();
  await page.getByRole('dialog', { name: 'Delete these 8 rollouts?' }).getByRole('button', { name: 'Delete' }).click();
  await expect(batch).toHaveCount(0);
  await expect(page.getByRole('button', { name: /^Download the training set/ })).toHaveCount(0);
  expect(problems).toEqual([]);
});

test('from an ended conversation back to any of its messages, and a branch is deleted', async ({ page }) => {
  const problems = watch(page);
  const { trajectory, node } = await failed();
  await page.goto(playHash(trajectory, trajectory.leaf, 'agent'));
  // The outcome comes first, together with the way to continue.
  await expect(verdict(page).locator('[data-part=reward]')).toHaveText(/^Reward 0 /);
  await expect(verdict(page)).toBeInViewport();
  await inspect(page, 'play-ended');
  // The conversation cannot continue after its last message, but the visitor can go back to every earlier message.
  const ends = path(trajectory).filter(({ role }) => role !== 'template');
  const forkable = ends.filter(({ id }) => forkAt(trajectory, id, 'agent') !== null);
  expect(forkable.length).toBeLessThan(ends.length);
  await expect(conversation(page).getByRole('link', { name: /^Fork at message/ })).toHaveCount(forkable.length);

  await forkLink(page, node).click();
  await expect(page).toHaveURL(new RegExp(`%40${node}&|%40${node}$`));
  const turn = page.getByRole('region', { name: 'The agent’s turn' });
  await expect(turn).toBeInViewport();
  await expect(messages(page)).toHaveCount(2);
  await inspect(page, 'play-forked');
  await say(page, 'What is your email?');
  await expect(page.getByLabel('Say to the customer')).toBeFocused();

  // The branch has all messages since the fork. Forks of the branch start at its messages.
  const branch = page.locator('[data-part=branch]');
  await expect(branch).toContainText(`after message ${node}`);
  await messages(page)
    .filter({ hasText: 'written by hand' })
    .getByRole('link', { name: /^Fork at message/ })
    .click();
  await expect(page).toHaveURL(new RegExp(`from=${BRANCHES}%2F`));
  await expect(messages(page)).toHaveCount(2);

  // If the visitor deletes the branch with which Play began, Play shows the original conversation.
  await branch.getByRole('button', { name: /^Delete/ }).click();
  await page.getByRole('dialog', { name: 'Delete this branch?' }).getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL(/from=recorded%2F/);
  await expect(verdict(page)).toBeVisible();
  await expect(branch).toHaveCount(0);

  // If the visitor deletes the branch that is being played, the game starts again at the fork.
  await forkLink(page, node).click();
  await say(page, 'What is your email?');
  await expect(branch).toHaveCount(1);
  await branch.getByRole('button', { name: /^Delete/ }).click();
  await page.getByRole('dialog', { name: 'Delete this branch?' }).getByRole('button', { name: 'Delete' }).click();
  await expect(branch).toHaveCount(0);
  await expect(messages(page)).toHaveCount(2);
  await expect(turn).toBeVisible();
  expect(problems).toEqual([]);
});

test('the world at a call can be stepped through by keyboard', async ({ page }) => {
  const { trajectory } = await failed();
  await page.goto(playHash(trajectory, trajectory.leaf, 'agent'));
  const moment = page.locator('[data-part=world-moment]');
  const scrubber = moment.getByRole('slider', { name: 'Tool call' });
  await scrubber.focus();
  await page.keyboard.press('Home');
  await expect(moment.getByText(/^Tool call 1 of \d+/)).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await expect(moment.getByText(/^Tool call 2 of \d+/)).toBeVisible();
  await moment.getByLabel('Changed rows only').uncheck();
  await moment.getByText('orders', { exact: true }).click();
  await expect(moment.locator('.rows li').first()).toBeVisible();
});

test('as the customer: suggested sentences, both models side by side, and a reload that keeps the conversation', async ({ page }) => {
  test.slow();
  page.setDefaultTimeout(60_000);
  const problems = watch(page);
  await page.goto('/');
  await page.getByRole('link', { name: 'Talk to it' }).click();
  await expect(page.getByText('You are the customer. The model nano-retail-grpo plays the agent.')).toBeVisible();
  const first = page.getByRole('group', { name: 'Sentences that this model understands' }).getByRole('button').first();
  await expect(first).toBeVisible();
  const words = await page.getByLabel('Say as the customer').inputValue();
  expect(words).not.toBe('');
  await first.click();
  await expect(page.getByLabel('Say as the customer')).toHaveValue(await first.innerText());
  await page.getByLabel('Say as the customer').fill(words);
  /** The states of the list of current turns, each with whether the conversation already had an answer. */
  const seen = await page.evaluateHandle(() => {
    const texts: { live: string; answered: boolean }[] = [];
    const note = () => {
      const live = document.querySelector('[data-part=live]')?.textContent.replace(/\s+/g, ' ').trim();
      if (live && live !== texts.at(-1)?.live)
        texts.push({ live, answered: document.querySelector('[data-part=message].assistant') !== null });
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
    return texts;
  });
  await page.getByRole('button', { name: 'Send' }).click();
  await expect(page.locator('[data-part=saying]')).toContainText(words);
  await expect(page.getByRole('region', { name: 'The customer’s turn' })).toBeVisible();
  // The agent's words appeared one after another before the turn ended. The list does not repeat the visitor's words.
  const grown = await seen.jsonValue();
  // A call is JSON until its last token, so only the acts before it stay as they were.
  const finished = (live: string) => live.slice(0, live.lastIndexOf('Agent'));
  const grew = grown.slice(1).map(({ live }, i) => live.startsWith(finished(grown[i]!.live)) && live.length > grown[i]!.live.length);
  expect(grew.filter(Boolean).length).toBeGreaterThan(0);
  expect(grown.every(({ live, answered }) => live.startsWith('Agent') && !answered)).toBe(true);
  await expect(page.locator('[data-part=live]')).toHaveCount(0);
  const said = await messages(page).count();
  expect(said).toBeGreaterThan(2);
  await expect(messages(page).filter({ hasText: words })).toHaveCount(1);
  await inspect(page, 'play-customer');

  await page.getByRole('button', { name: 'Ask both models 16 times' }).click();
  const answers = page.getByRole('region', { name: 'Two models answer' });
  for (const name of ['nano-retail', 'nano-retail-grpo'])
    await expect(answers.getByRole('region', { name, exact: true }).locator('[data-part=message]').first()).toBeVisible();
  await expect(answers.locator('[data-part=tally]')).toHaveText([/^Asked first: \d+ of 16\.$/, /^Asked first: \d+ of 16\.$/]);

  await expect(page).toHaveURL(/from=branches/);
  await page.reload();
  await expect(messages(page)).toHaveCount(said);
  await expect(page.getByRole('region', { name: 'The customer’s turn' })).toBeVisible();
  expect(problems).toEqual([]);
});

test('the chance of success from a turn on is estimated once and kept', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  const trajectory = (await recorded())
    .filter(({ reward, task, termination }) => reward === 1 && !task.noop && termination === 'user_stop')
    .toSorted((a, b) => a.nodes.length - b.nodes.length)[0]!;
  const turns = path(trajectory).filter(({ role }) => role === 'assistant');
  const last = turns.at(-1)!;
  await page.goto(`/${href({ name: 'rollout', run: 'recorded', id: trajectory.id })}`);
  const panel = page.getByRole('region', { name: 'Estimates of success' });
  const turn = conversation(page).locator(`[data-node="${last.id}"]`);
  await expect(panel).toContainText(`${turns.length} turns without an estimate.`, { timeout: 60_000 });
  await turn.getByRole('button', { name: 'Estimate from here' }).click();
  await expect(turn).toContainText(/\d of 8 correct from here\s+95 % interval \d+ % to \d+ %/, { timeout: 400_000 });
  const estimate = await turn.locator('[data-part=turn-estimate] b').innerText();
  await inspect(page, 'estimate');

  await page.reload();
  await expect(turn).toContainText(`${estimate} correct from here`);
  await expect(panel).toContainText(`${turns.length - 1} turn`);
  // The rollouts are branches of the conversation: Play lists them.
  await page.goto(playHash(trajectory, trajectory.leaf, 'user'));
  await expect(page.locator('[data-part=batch] summary')).toContainText(/^8 rollouts after message/);
  expect(problems).toEqual([]);
});
