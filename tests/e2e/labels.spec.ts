/** Labels of conversations and their agreement with judges; the file of a shadow, opened on the page. */
import { expect } from '@playwright/test';
import { readFile } from 'node:fs/promises';
import { AFTER, CONVERSATIONS } from '../gallery/samples.ts';
import { reliabilityCard } from '../../src/evaluation/reliability/card.ts';
import type { ReliabilityTrial } from '../../src/evaluation/reliability/trial.ts';
import type { TrialResult } from '../../src/records/evaluation.ts';
import { inspect, watch } from './page-checks.ts';
import { store } from './storage.ts';
import { test } from './test.ts';

/** Four conversations, of which the first two have reward 1. */
const RESULTS = Array.from({ length: 4 }, (_, i): TrialResult => ({
  id: `eval-${i}-0`,
  task: `retail/nano/heldout/1/${i}`,
  index: 0,
  intent: 'cancel',
  reward: i < 2 ? 1 : 0,
  termination: 'user_stop',
  turns: 3,
  tokens: 9,
  violations: [],
  writes: 1,
  faults: [],
}));

test('four conversations are labelled by keys, blind, and compared with the reward', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/evals');
  await expect(page.getByText('You have no evaluations yet.')).toBeVisible();
  await store(page, {
    evaluations: [{ ...AFTER, id: 'own', name: 'secret-model', createdAt: Date.UTC(2026, 0, 2), results: RESULTS }],
    evaluationTrajectories: RESULTS.map(({ id, reward }) => ({ ...CONVERSATIONS[0]!, id, reward, evaluation: 'own' })),
  });
  await page.goto('/#/evals/own');
  await page.getByRole('link', { name: 'Label conversations' }).click();
  await page.getByRole('button', { name: 'Draw 4 conversations' }).click();
  await expect(page.getByRole('heading', { name: 'Conversation 1 of 4' })).toBeVisible();
  await expect(page.getByRole('main')).not.toContainText(/secret-model|reward 1|sampled/);
  await inspect(page, 'labels');
  const labelled = page.locator('[data-part=labelled]');
  const heading = page.getByRole('heading', { level: 2, name: /^Conversation/ });
  // Yes, then no after an undo, then a skip, then yes twice.
  await page.keyboard.press('1');
  await expect(labelled).toHaveText('1 of 4 labelled');
  await page.keyboard.press('u');
  await expect(labelled).toHaveText('0 of 4 labelled');
  for (const [i, key] of ['0', 's', '1', '1'].entries()) {
    await expect(heading).toHaveText(`Conversation ${i + 1} of 4`);
    await page.keyboard.press(key);
    await expect(labelled).toHaveText(`${i + 1} of 4 labelled`);
    await page.keyboard.press('Space');
  }
  // The labels are stored.
  await page.reload();
  await expect(labelled).toHaveText('4 of 4 labelled');
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save labels' }).click();
  const file = await (await saving).path();
  const lines = (await readFile(file, 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as { conversation: string; label: number | null }); // prettier-ignore
  expect(lines.map(({ label }) => label)).toEqual([0, null, 1, 1]);

  // Two ones and a zero against the rewards of these conversations.
  const rewards = new Map(RESULTS.map(({ id, reward }) => [id, reward]));
  const same = lines.filter(({ conversation, label }) => label === rewards.get(conversation)).length;
  await page.getByText('Agreement with the judges').click();
  const agreement = page.locator('[data-part=agreement]');
  await expect(agreement).toContainText(`3, with the same answer ${same}`);
  await expect(agreement).toContainText('Gwet’s AC1');
  await inspect(page, 'labels-agreement');

  // A deleted labelling comes back from its file; a file of other conversations is refused.
  await page.getByRole('button', { name: 'Delete labels' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete labels' }).click();
  await expect(page.getByRole('button', { name: 'Draw 4 conversations' })).toBeVisible();
  const changed = lines.map((line) => ({ ...line, sha256: '0'.repeat(64) }));
  const input = page.getByLabel('Add labels');
  const asFile = (rows: object[]) => ({ name: 'l.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')) }); // prettier-ignore
  await input.setInputFiles(asFile(changed));
  await expect(page.getByRole('alert')).toContainText('has other messages in this evaluation');
  await input.setInputFiles(asFile(lines));
  await expect(labelled).toHaveText('4 of 4 labelled');

  // The scorecard has the agreement, on the page and in its file.
  await page.getByRole('link', { name: 'Evaluation', exact: true }).click();
  await expect(page.locator('[data-part=calibration]')).toContainText('Gwet’s AC1, the reward');
  const downloading = page.waitForEvent('download');
  await page.locator('[data-part=scorecard]').getByRole('button', { name: 'Download' }).click();
  const card = JSON.parse(await readFile(await (await downloading).path(), 'utf8')) as { judged: { ac1: { the_reward: { of: number } } } };
  expect(card.judged.ac1.the_reward.of).toBe(3);
  expect(problems).toEqual([]);
});

const ACT = { content: '<img src=x onerror=alert(1)>', calls: [] };
const CALL = { content: '', calls: [{ name: 'cancel_pending_order', arguments: { order_id: '#W1', reason: 'no longer needed' } }] };
const turn = (message: number, kind: string, recorded: object, candidate: object | null, more: object = {}) => ({ turn: { conversation: 'a', message, kind, recorded, candidate, writes: [], requests: [], ...more } }); // prettier-ignore
const SHADOW = [
  {
    shadow: {
      version: 1,
      domain: 'retail',
      agent: { baseUrl: 'http://localhost:1/v1', model: 'candidate-7' },
      temperature: 0,
      seed: 1,
      conversations_sha256: 'a'.repeat(64),
      turns: 3,
    },
  },
  {
    conversation: {
      id: 'a',
      messages: [
        { message: 0, role: 'user', text: 'Cancel #W1, please.' },
        { message: 1, role: 'assistant', text: ACT.content, calls: [] },
        { message: 2, role: 'user', text: 'Yes.' },
        { message: 3, role: 'assistant', text: '', calls: CALL.calls },
        { message: 3, role: 'tool', text: 'done', tool: 'cancel_pending_order', failed: false },
        { message: 5, role: 'assistant', text: 'It is cancelled.', calls: [] },
      ],
    },
  },
  turn(1, 'called_instead', ACT, CALL, { writes: [{ tool: 'cancel_pending_order', why: 'The agent asked nothing.' }] }),
  turn(3, 'same_call', CALL, CALL, { writes: [{ tool: 'cancel_pending_order', why: null }] }),
  turn(5, 'failed', { content: 'It is cancelled.', calls: [] }, null, { error: 'HTTP 500' }),
];

test('a shadow is opened, filtered, and read side by side', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/evals');
  await page.getByRole('link', { name: 'Open a shadow' }).click();
  const input = page.getByLabel('Open a file');
  const asFile = (rows: object[]) => ({ name: 's.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join('')) }); // prettier-ignore
  await input.setInputFiles(asFile(SHADOW.slice(1)));
  await expect(page.getByText('s.jsonl: line 1: expected the head of a shadow')).toBeVisible();
  await input.setInputFiles(asFile(SHADOW));
  await expect(page.getByText('candidate-7 beside 1 recorded conversation of retail: 2 of 3 turns are scored.')).toBeVisible();
  const kinds = page.getByRole('group', { name: 'Kinds of turns' });
  await expect(kinds.getByRole('button')).toHaveText([
    'all 3',
    'same call 1',
    'called instead of words 1',
    'unscored 1',
    'wrote without consent 1',
  ]);
  await kinds.getByRole('button', { name: 'wrote without consent' }).click();
  const table = page.getByRole('grid', { name: 'Turns' });
  await expect(table.getByRole('row')).toHaveCount(2);
  await table.getByRole('row').last().click();
  const shown = page.locator('[data-part=turn]');
  await expect(shown.getByText('! cancel_pending_order without consent: The agent asked nothing.')).toBeVisible();
  await expect(shown.getByRole('region', { name: 'Recorded' })).toContainText(ACT.content);
  await expect(shown.getByRole('region', { name: 'Candidate' })).toContainText('no longer needed');
  await expect(shown.getByText('Cancel #W1, please.')).toBeVisible();
  await inspect(page, 'shadow');
  // It is kept over a reload, with the filter and the turn.
  await page.reload();
  await expect(page.locator('[data-part=turn]').getByText('Cancel #W1, please.')).toBeVisible();
  expect(problems).toEqual([]);
});

const trial = (task: string, success: boolean): ReliabilityTrial => ({ task, customer: task, success, calls: ['a'], resources: { tokens: 9, turns: 1, calls: 1, errors: 0 }, confidence: null, severity: 0 }); // prettier-ignore
const TRIALS = [trial('1', true), trial('1', true), trial('2', false), trial('2', true)];
const CARD = reliabilityCard(
  { agent: 'candidate-7', domain: 'retail', level: 'nano', split: 'heldout', seed: 1, temperature: 1, tasks: 2, trials: 2 },
  [
    { kind: undefined, trials: TRIALS },
    { kind: 'faults', trials: TRIALS },
  ],
);

test('a reliability card and a shadow are imported like other results, and stay', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/import');
  const bytes = (text: string) => Buffer.from(text);
  await page.getByLabel('Choose files').setInputFiles([
    { name: 'card.json', mimeType: 'application/json', buffer: bytes(JSON.stringify(CARD, null, 1)) },
    { name: 's.jsonl', mimeType: 'application/jsonl', buffer: bytes(SHADOW.map((row) => `${JSON.stringify(row)}\n`).join('')) },
  ]);
  await page.getByRole('button', { name: 'Import them' }).click();
  const list = page.getByRole('list', { name: 'Imported reports' });
  await expect(list.getByRole('listitem')).toHaveCount(2);
  await page.reload();
  await expect(list.getByRole('listitem')).toHaveCount(2);
  await list.getByRole('link', { name: 'Reliability: candidate-7 on retail nano, heldout' }).click();
  const metrics = page.locator('[data-part=reliability]');
  await expect(metrics.getByRole('region', { name: 'Consistency' })).toContainText('outcome consistency 0.500');
  await expect(metrics.getByRole('region', { name: 'Robustness' })).toContainText(
    'prompt robustness N/A: The customers of these tasks have only one wording.',
  );
  await expect(metrics).toContainText('N/A: Not given: the agent has no log-probabilities of its tokens.');
  const definition = metrics.getByText('min(1, success with failing tools / success without)');
  await expect(definition).toBeHidden();
  await metrics.getByText('fault robustness').click();
  await expect(definition).toBeVisible();
  await inspect(page, 'reliability');
  await page.reload();
  await expect(metrics.getByRole('region', { name: 'Safety' })).toContainText('compliance 1.000');
  expect(problems).toEqual([]);
});
