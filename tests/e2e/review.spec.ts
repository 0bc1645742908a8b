/** A person reviews conversations of a data set by keys, blind, and then sees how far rules and judge agree. */
import { expect } from '@playwright/test';
import { readFile } from 'node:fs/promises';
import { CRITERIA, type Grades, RULES } from '../../src/records/grades.ts';
import { shopRow } from '../support/graded-rows.ts';
import { inspect, watch } from './page-checks.ts';
import { test } from './test.ts';

/** Grades in which the judge finds a fault. */
const grades = (fault: boolean): Grades => ({
  rules: Object.fromEntries(RULES.map((name) => [name, { ok: true }])) as Grades['rules'],
  judge: {
    model: 'judge-model',
    prompt: 'x',
    seed: 1,
    votes: 1,
    keep: !fault,
    criteria: Object.fromEntries(
      CRITERIA.map((name) => [name, { met: !fault || name !== 'goal_done', message: 6, quote: 'is cancelled' }]),
    ) as NonNullable<Grades['judge']>['criteria'],
  },
});
const FILE = [1, 2, 3, 4]
  .map((number) => JSON.stringify({ ...shopRow(number), demonstrator: 'careful', grades: grades(number === 4) }))
  .join('\n');

test('conversations are reviewed by keys, stored, saved and compared', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/cold-start');
  await page.getByLabel('Import a file').setInputFiles({ name: 'cold.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(FILE) });
  await page.getByRole('link', { name: 'Review' }).click();
  await page.getByLabel('Your name').fill('ana');
  await page.getByRole('button', { name: 'Draw 4 conversations' }).click();
  const heading = page.getByRole('heading', { level: 2, name: /^Conversation/ });
  await expect(heading).toHaveText('Conversation 1 of 4');
  await expect(page.getByRole('main')).not.toContainText(/judge-model|reward 1|careful/);
  await expect(page.locator('[data-part=verdicts]')).toHaveCount(0);
  await inspect(page, 'review');
  const reviewed = page.locator('[data-part=reviewed]');
  const decision = page.locator('[data-part=decision]');
  // Whoever names a fault cannot keep the conversation. The verdicts come after the decision, and go with it.
  await page.keyboard.press('5');
  await page.keyboard.press('k');
  await expect(decision).toContainText('reject it, or take the reasons back');
  await page.keyboard.press('r');
  await expect(decision).toHaveText('Your decision: Reject');
  await expect(page.locator('[data-part=verdicts]')).toContainText('Rules');
  await page.keyboard.press('z');
  await expect(reviewed).toHaveText('0 of 4 reviewed by ana');
  await expect(page.locator('[data-part=verdicts]')).toHaveCount(0);
  for (const [i, key] of ['k', 'u', 'k', 'k'].entries()) {
    await expect(heading).toHaveText(`Conversation ${i + 1} of 4`);
    await page.keyboard.press(key);
    await expect(reviewed).toHaveText(`${i + 1} of 4 reviewed by ana`);
    await page.keyboard.press('Space');
  }
  await page.reload();
  await expect(reviewed).toHaveText('4 of 4 reviewed by ana');
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save reviews' }).click();
  const text = await readFile(await (await saving).path(), 'utf8');
  const lines = text.trim().split('\n').map((line) => JSON.parse(line) as { conversation: string; decision: string; seconds: number }); // prettier-ignore
  expect(lines.map((line) => line.decision)).toEqual(['keep', 'unsure', 'keep', 'keep']);

  // Another person rejects what ana keeps.
  const other = text.replaceAll('"reviewer":"ana"', '"reviewer":"bo"').replaceAll('"decision":"keep"', '"decision":"reject"');
  const asFile = (body: string) => ({ name: 'r.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(body) });
  const input = page.getByLabel('Add reviews');
  await input.setInputFiles(asFile(other.replace(/"sha256":"\w+"/, `"sha256":"${'0'.repeat(64)}"`)));
  await expect(page.getByRole('alert')).toContainText('has other messages than any in this data set');
  await input.setInputFiles(asFile(other));
  await expect(page.getByText('4 reviews added.')).toBeVisible();
  await page.getByText('Agreement and disagreements').click();
  await expect(page.getByRole('region', { name: 'you and bo' })).toContainText('3, with the same answer 0');
  const unsure = lines.find((line) => line.decision === 'unsure')!.conversation;
  const judged = page.getByRole('region', { name: 'judge–person' });
  // The judge rejects the fourth conversation of the file.
  await expect(judged).toContainText(`3, with the same answer ${unsure === 'shop/4' ? 3 : 2}`);
  await expect(page.locator('[data-part=disagreements] li').first()).toContainText('bo: reject');
  await inspect(page, 'review-agreement');
  expect(problems).toEqual([]);
});
