/** Evaluations: start, cancel and read one; compare two of the same tasks, down to a pair of conversations. */
import { expect, type Page } from '@playwright/test';
import { AFTER, BEFORE } from '../gallery/samples.ts';
import type { EvaluationRow } from '../../src/records/evaluation.ts';
import type { MessageNode, Trajectory } from '../../src/records/trajectory.ts';
import type { TrialCard } from '../../src/records/scorecard.ts';
import { inspect, picture, watch } from './page-checks.ts';
import { store as storeRows, stored } from './storage.ts';
import { test } from './test.ts';

const PAYLOAD = '<img src=x onerror="document.title=\'broken\'">';
/** The number of evaluations that come with the recorded runs. */
const RECORDED = 6;
const TASK = 'retail/nano/heldout/1/0';
const change = { table: 'orders', key: '#W0000001', before: { status: 'pending' }, after: { status: 'cancelled' }, call: 0 };
const cancel = { name: 'cancel_pending_order', arguments: { order_id: '#W0000001', reason: PAYLOAD } };

type Turn = Pick<MessageNode, 'role' | 'text'> & Partial<MessageNode>;
const wish: Turn = { role: 'user', text: `Cancel #W0000001 please. ${PAYLOAD}` };
const act: Turn[] = [
  { role: 'assistant', text: '', content: '', toolCall: cancel },
  { role: 'tool', text: PAYLOAD, toolResult: { name: cancel.name, error: false, index: 0, changes: [change], ms: 1 } },
];
const ask: Turn[] = [
  { role: 'assistant', text: 'Shall I cancel it?', content: 'Shall I cancel it?' },
  { role: 'user', text: 'Yes.' },
];

function trajectory(turns: Turn[], reward: 0 | 1, asked: boolean): Omit<Trajectory, 'ending'> {
  const nodes = turns.map((turn, id): MessageNode => ({
    ...turn,
    id,
    parent: id === 0 ? null : id - 1,
    tokens: [id],
    mask: [turn.role === 'assistant' ? 1 : 0],
    logprobs: [null],
  }));
  return {
    id: 'eval-0-0',
    group: 'eval-0',
    index: 0,
    seed: 1,
    nodes,
    leaf: nodes.length - 1,
    termination: 'user_stop',
    turns: turns.length,
    reward,
    verdict: { reward, changes: [change], goal: [change], progress: reward },
    violations: asked ? [] : [{ rule: 'unconfirmed_write', call: 0, detail: PAYLOAD }],
    toolCalls: { [cancel.name]: 1 },
    parseErrors: 0,
    seconds: { generate: 1, tool: 0, user: 0 },
    task: {
      id: TASK,
      domain: 'retail',
      level: 'nano',
      split: 'heldout',
      world: 'w',
      actions: [cancel],
      noop: false,
      scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: `You want to cancel. ${PAYLOAD}` },
    },
  };
}

/** What the scorecard needs of a trial. In a conversation without a question, message 1 is the agent's unasked write. */
const cardOf = (asked: boolean): TrialCard => ({
  layers: {
    policy: {
      findings: asked
        ? []
        : [{ rule: 'unconfirmed_write', sentence: `Ask for a yes. ${PAYLOAD}`, message: 1, detail: `cancel_pending_order ${PAYLOAD}` }],
      occasions: { unconfirmed_write: 1, one_order_at_a_time: 1 },
    },
    communication: { na: 'No amount was shown.' },
    safety: { findings: [], occasions: { other_customer: 1 } },
    recovery: { findings: [], occasions: {} },
  },
  damage: asked ? 0 : 1,
  progress: 1,
  calls: { cancel_pending_order: 1 },
  seconds: { generate: 1, tool: 0.01, user: 0 },
});

/** Stores two evaluations as the trainer does. In the first, the agent writes at once; in the second, it asks first. */
async function store(page: Page): Promise<void> {
  const results = (asked: boolean): EvaluationRow['results'] => [
    {
      id: 'eval-0-0',
      task: TASK,
      index: 0,
      intent: 'cancel',
      reward: asked ? 1 : 0,
      termination: 'user_stop',
      turns: 3,
      tokens: 9,
      violations: asked ? [] : ['unconfirmed_write'],
      writes: 1,
      faults: [],
      card: cardOf(asked),
    },
    {
      id: 'eval-1-0',
      task: 'retail/nano/heldout/1/1',
      index: 0,
      intent: 'modify_payment',
      reward: asked ? 0 : 1,
      termination: 'user_stop',
      turns: 3,
      tokens: 9,
      violations: [],
      writes: 0,
      faults: [],
      card: cardOf(true),
    },
  ];
  const evaluations = [
    { ...BEFORE, id: 'before', createdAt: Date.UTC(2026, 0, 1), results: results(false) },
    { ...AFTER, id: 'after', createdAt: Date.UTC(2026, 0, 2), results: results(true) },
  ];
  const trajectories = [
    { evaluation: 'before', ...trajectory([wish, ...act], 0, false) },
    { evaluation: 'after', ...trajectory([wish, ...ask, ...act], 1, true) },
  ];
  await page.goto('/#/evals');
  await expect(page.getByText('You have no evaluations yet.')).toBeVisible();
  await page.evaluate(
    (stored) =>
      new Promise<void>((resolve, reject) => {
        const { evaluations, trajectories } = JSON.parse(stored) as Record<string, unknown[]>;
        const open = indexedDB.open('mua-runs');
        open.onerror = () => reject(open.error!);
        open.onsuccess = () => {
          const writing = open.result.transaction(['evaluations', 'evaluationTrajectories'], 'readwrite');
          for (const row of evaluations!) writing.objectStore('evaluations').put(row);
          for (const row of trajectories!) writing.objectStore('evaluationTrajectories').put(row);
          writing.onerror = () => reject(writing.error!);
          writing.oncomplete = () => {
            open.result.close();
            resolve();
          };
        };
      }),
    JSON.stringify({ evaluations, trajectories }),
  );
  await page.reload();
}

test('from a finding of the scorecard to its message: one click', async ({ page }) => {
  const problems = watch(page);
  await store(page);
  await page.goto('/#/evals/before');
  const card = page.getByRole('region', { name: 'Scorecard' });
  await expect(card.getByRole('img', { name: /^without a finding: 50 % of 2 conversations, 95 % interval/ })).toBeVisible();
  await expect(card.getByRole('img', { name: /^data damaged: 50 % of 2 conversations/ })).toBeVisible();
  await expect(card.getByText('Ask for a yes.')).toBeVisible();
  await expect(card.locator('img')).toHaveCount(0);
  await expect(card.getByRole('listitem').filter({ hasText: 'No amount was shown.' })).toContainText('Communication');
  await picture(card, 'scorecard');

  // A rule lists the trials that broke it.
  await card.getByRole('link', { name: 'unconfirmed write' }).click();
  await expect(page.getByRole('status').filter({ hasText: '1 of 2' })).toBeVisible();
  await card.getByRole('link', { name: 'Task 0, trial 1' }).click();
  await expect(page).toHaveURL(/trials\/eval-0-0\?turn=1$/);
  await expect(page.getByRole('complementary', { name: 'Inspector' })).toContainText('cancel_pending_order');
  expect(problems).toEqual([]);
});

test('from two evaluations to the pair where one changed an order without asking: two clicks', async ({ page }) => {
  const problems = watch(page);
  await store(page);
  const table = page.getByRole('table', { name: 'Evaluations' });
  await expect(table.getByRole('row')).toHaveCount(1 + 2 + RECORDED);
  await table.getByRole('link', { name: /1 gained, 1 lost/ }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'nano-retail against brisk-otter@40' })).toBeVisible();
  const pairs = page.getByRole('table', { name: 'Pairs of trials' });
  await expect(pairs.getByRole('row')).toHaveCount(1 + 2);

  // The first click chooses the rule, the second click chooses the pair.
  await page.getByRole('link', { name: /changed data without asking: 1 stopped, 0 started/ }).click();
  await expect(pairs.getByRole('row')).toHaveCount(1 + 1);
  await pairs.getByRole('link', { name: 'Task 0, trial 1' }).click();
  const pair = page.locator('[data-part=pair]');
  await expect(pair.getByText('The first different act is in turn 1:')).toBeVisible();
  await expect(pair.getByText('Shall I cancel it?')).toBeVisible();
  await expect(pair.locator('strong', { hasText: 'changed data without asking' })).toHaveCount(1);
  await expect(pair.getByText('! changed data without asking')).toHaveCount(1); // The rule is named at the call.

  // Hostile text stays text. The address alone leads to the same view.
  await expect(pair.locator('img')).toHaveCount(0);
  await expect(pair.getByText(PAYLOAD).first()).toBeVisible();
  await page.reload();
  await expect(pair.getByText('The first different act is in turn 1:')).toBeVisible();
  await expect(page).toHaveTitle(/nano-retail against/);
  await inspect(page, 'compare-evals');

  // Each side can be opened: tokens, database, and a fork.
  await pair.getByRole('columnheader').getByRole('link', { name: 'Before: nano-retail' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Task 0, trial 1' })).toBeVisible();
  await page.getByRole('link', { name: 'database at this call' }).click();
  await expect(page.getByRole('complementary', { name: 'Inspector' })).toContainText('#W0000001');
  await expect(page.getByRole('link', { name: /Fork/ })).toHaveAttribute('href', /from=before%2Feval-0-0%40/);
  await inspect(page, 'trial');
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Evaluation of nano-retail' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Evaluation of nano-retail' })).toBeVisible();
  await inspect(page, 'eval');
  await page.goto('/#/evals');
  await expect(table.getByRole('row')).toHaveCount(1 + 2 + RECORDED);
  await inspect(page, 'evals-filled');
  expect(problems).toEqual([]);
});

test('a newcomer finds what a run has changed: from the recorded run to a pair in two clicks', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/runs/recorded');
  const panel = page.locator('[data-part=before-after]');
  // The run's success has one figure, which the chart of the reward shows too.
  await expect(panel).toContainText('The success was measured on the 200 held-out tasks of the charts.');
  await expect(panel).toContainText(/step 0 → step 40\s*65 % → 83 %/);
  await expect(panel).not.toContainText('90 %');
  await expect(page.locator('[data-part=chart-reward]')).toContainText('held-out 83 %');
  await expect(panel.getByRole('link', { name: 'See what changed' })).toHaveAttribute('href', /kind=evals&of=/);
  await panel.getByRole('link', { name: 'changed data without asking' }).click();
  const pairs = page.getByRole('table', { name: 'Pairs of trials' });
  await pairs.getByRole('link', { name: /^Task/ }).first().click();
  const pair = page.locator('[data-part=pair]');
  await expect(page.getByRole('img', { name: /^Success of each task, before and after: .*\d+ tasks from 0 % to 100 %/ })).toBeVisible();
  await expect(pair.getByText('changed data without asking').first()).toBeVisible();
  await expect(pair.getByText(/^The first (move|different act|\d+ moves)|^All moves are the same/)).toBeVisible();
  await inspect(page, 'compare-recorded');
  await pair
    .getByRole('columnheader')
    .getByRole('link', { name: /^After: / })
    .click();
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();
  await page.keyboard.press('w');
  await expect(page.locator('[data-part=message-facts]')).toContainText(/Rows changed\s*1\b/);
  await page.goBack();
  await expect(pair).toBeVisible();
  expect(problems).toEqual([]);
});

test('picking two evaluations, gained and lost, and deleting one', async ({ page }) => {
  await store(page);
  const table = page.getByRole('table', { name: 'Evaluations' });
  await expect(table.getByRole('checkbox')).toHaveCount(2 + RECORDED);
  for (const name of [/^Compare nano-retail/, /^Compare brisk-otter/]) await table.getByRole('checkbox', { name }).check();
  await expect(page).toHaveURL(/pick=/);
  await page.getByRole('link', { name: /^Compare / }).click();
  await page.getByRole('link', { name: /Gained 1/ }).click();
  const pairs = page.getByRole('table', { name: 'Pairs of trials' });
  await expect(pairs.getByRole('row')).toHaveCount(1 + 1);
  await expect(pairs).toContainText('Task 0');
  await page.getByRole('link', { name: /Lost 1/ }).click();
  await expect(pairs).toContainText('Task 1');

  await page.goto('/#/evals');
  await expect(page.locator('[data-part=pass-plot]').getByRole('img').first()).toHaveAccessibleName(
    /: pass\^1 \d+ %, 95 % interval \d+ % to \d+ %/,
  );
  await table.getByRole('button', { name: /Delete the evaluation of brisk-otter@40/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(table.getByRole('row')).toHaveCount(1 + 1 + RECORDED);
});

test('models and customers: pass^1 of each pair, and the difference from the first model with the same customer', async ({ page }) => {
  await store(page);
  const learned = { mode: 'local', source: 'bundled', model: 'nano-customer', precision: 'fp32', device: 'wasm' };
  const rows = await stored<EvaluationRow>(page, 'evaluations');
  const others = rows.map((row) => ({ ...row, id: `${row.id} learned`, settings: { ...row.settings, user: learned } }));
  await storeRows(page, { evaluations: others });
  await page.reload();
  const matrix = page.locator('[data-part=customer-matrix]');
  await expect(matrix.getByRole('columnheader')).toHaveText(['Model', /nano-customer/, 'scripted']);
  await expect(matrix.getByRole('row')).toHaveCount(1 + 2);
  await expect(matrix.getByRole('row').nth(1)).toContainText(/62 % .+ 62 %/);
  await expect(matrix.getByRole('row').nth(2)).toContainText(/points/);
});

test('an evaluation of the bundled model: cancelled once, then played and read', async ({ page }) => {
  test.slow();
  await page.goto('/#/evals');
  const form = page.getByRole('form', { name: 'New evaluation' });
  await expect(form.getByRole('button', { name: 'Evaluate' })).toBeEnabled();
  await form.getByLabel('Tasks', { exact: true }).fill('64');
  await form.getByRole('button', { name: 'Evaluate' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await expect(form).toBeVisible();
  await expect(page.getByText('You have no evaluations yet.')).toBeVisible();
  await expect(page.getByText('That did not work')).toHaveCount(0);

  await form.getByLabel('Tasks', { exact: true }).fill('2');
  await form.getByLabel('Trials per task (k)').fill('2');
  await form.getByLabel('Sampling').selectOption('greedy: the likeliest token');
  await expect(form.getByLabel('Temperature', { exact: true })).toHaveCount(0);
  await form.getByRole('button', { name: 'Evaluate' }).click();
  await expect(page).toHaveURL(/#\/evals\/[0-9a-f-]{36}/, { timeout: 200_000 });
  await expect(page.getByText('held-out tasks, seed 1, greedy')).toBeVisible();
  const grid = page.getByRole('table', { name: 'Tasks and their trials' });
  await expect(grid.getByRole('row')).toHaveCount(1 + 2);
  await expect(grid.getByRole('link')).toHaveCount(4);
  await grid.getByRole('link').first().click();
  await expect(page.getByRole('heading', { name: /^Task .*, trial 1$/ })).toBeVisible();
  await page.goto(`${page.url()}?view=rendered&ch=logprob`);
  await expect(page.getByText('<|im_start|>assistant').first()).toBeVisible();
  await expect(page.getByText('The scale ends at the 99th percentile of this')).toBeVisible();
  await page.getByRole('link', { name: /Next trial/ }).click();
  await expect(page.getByRole('heading', { name: /^Task .*, trial 2$/ })).toBeVisible();
  await page.getByRole('link', { name: /Fork/ }).click();
  await expect(page.getByRole('heading', { level: 1, name: /^Play on/ })).toBeVisible();
  await expect(page.getByRole('combobox', { name: 'The agent’s model' })).toContainText('nano-retail');
});

test('the published evaluations: trained with × evaluated with, one of them opened, without its conversations', async ({ page }) => {
  await page.goto('#/evals');
  await page.getByText('Does a customer that talks help in training?').click();
  const matrix = page.locator('[data-part=interaction] [data-part=customer-matrix]');
  await expect(matrix.getByRole('row')).toHaveCount(5);
  await page.locator('[data-part=interaction]').getByRole('combobox').selectOption({ index: 2 });
  const row = matrix.getByRole('row', { name: /trained with the learned customer/ });
  await expect(row.getByRole('cell')).toHaveText([/^\d+ % \(\d+ to \d+ %\) .* points/, /^\d+ % \(\d+ to \d+ %\) .* points/]);
  await row.getByRole('link').last().click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Evaluation of nano-retail trained with the learned customer');
  await expect(page.getByText('The conversations of this evaluation are not part of the page.')).toBeVisible();
  await expect(page.locator('[data-part=task-grid] tbody tr')).toHaveCount(200);
  await expect(page.locator('[data-part=task-grid] a')).toHaveCount(0);
  await page.reload();
  await expect(page.locator('[data-part=task-grid] tbody tr')).toHaveCount(200);
});
