/** An agent behind a server or in the tab, chosen in the form of an evaluation, in a browser without WebGPU. */
import { readdirSync, readFileSync } from 'node:fs';
import { type Browser, expect, test } from '@playwright/test';
import { demonstratorOf, GENERATED_DOMAINS } from '../../src/domains/registry.ts';
import { createEnvironments } from '../../src/environments/index.ts';
import { onnxFolder } from '../../src/exchange/onnx/onnx-folder.ts';
import type { EvaluationRow } from '../../src/records/evaluation.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { calling, forExpert, startAgentServer } from '../support/agent-server.ts';
import { launchOptions } from '../support/chromium.ts';
import { startHubServer } from '../support/hub-server.ts';
import { stored } from './storage.ts';

const ARGS = launchOptions.args.filter((arg) => arg !== '--enable-unsafe-webgpu');
let browser: Browser;
test.beforeAll(async ({ playwright }) => {
  browser = await playwright.chromium.launch({ ...launchOptions, args: [...ARGS, '--disable-gpu', '--disable-software-rasterizer'] });
});
test.afterAll(() => browser.close());

test('a server is evaluated, and its conversations are inspected and have no values of tokens', async ({ baseURL }) => {
  test.slow();
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const expert = (await demonstratorOf('retail'))(await environments.domain('retail', 'nano'), 1, { style: 'careful' });
  const server = await startAgentServer((request, before) => {
    const act = expert.act(forExpert(request));
    return 'call' in act ? { ...calling([act.call], `c${before}`), reasoning_content: 'I look it up.' } : { content: act.say };
  });
  try {
    const page = await browser.newPage({ baseURL: baseURL!, serviceWorkers: 'block' });
    page.setDefaultTimeout(30_000);
    await page.goto('./#/evals');
    const form = page.getByRole('form', { name: 'New evaluation' });
    await form.getByRole('combobox', { name: 'Model' }).first().selectOption('A model behind a server');
    const agent = form.getByRole('group', { name: 'Server of the agent' });
    await agent.getByLabel('Base URL').fill(server.url);
    await expect(form.getByRole('status').last()).toContainText('Name the model that plays the agent.');
    await agent.getByRole('combobox', { name: 'Model' }).fill('gpt-x');
    await agent.getByLabel(/^API key/).fill('sk-agent-4711');
    await form.getByRole('combobox', { name: 'Domain' }).selectOption('retail');
    await form.getByRole('combobox', { name: 'Level' }).selectOption('nano');
    await form.getByRole('spinbutton', { name: 'Tasks', exact: true }).fill('3');
    await form.getByRole('spinbutton', { name: 'Trials per task (k)' }).fill('1');
    await form.getByRole('button', { name: 'Evaluate' }).click();
    await expect(page.getByRole('heading', { name: 'Evaluation of gpt-x' })).toBeVisible({ timeout: 60_000 });
    const calls = server.requests.length;
    await expect(page.locator('[data-part="agent-usage"]')).toContainText(`Calls ${calls}`);
    expect(server.headers[0]!.authorization).toBe('Bearer sk-agent-4711');
    await page.goto('./#/evals');
    await expect(page.getByRole('columnheader', { name: 'Agent’s calls' })).toBeVisible();
    await page.getByRole('link', { name: 'gpt-x' }).first().click();
    await page.locator('a[href*="trial"]').first().click();
    await expect(page.getByText('This conversation has no values of tokens')).toBeVisible();
    await expect(page.locator('[data-part="thoughts"]').first()).toContainText('Thoughts, which nobody heard');
    await expect(page.getByRole('link', { name: /^Fork at/ })).toHaveCount(0);
  } finally {
    server.close();
  }
});

test('a model of a Hub is evaluated in the tab with a guard, and its evaluation says which model played', async ({ baseURL }) => {
  test.slow();
  const folder = 'models/nano-retail';
  const files = Object.fromEntries(readdirSync(folder).map((name) => [name, new Uint8Array(readFileSync(`${folder}/${name}`))]));
  const hub = await startHubServer({ 'test/agent': onnxFolder(files, 'f32') });
  try {
    const page = await browser.newPage({ baseURL: baseURL!, serviceWorkers: 'block' });
    page.setDefaultTimeout(30_000);
    await page.goto('./#/evals?model=:tab');
    const form = page.getByRole('form', { name: 'New evaluation' });
    const agent = form.getByRole('group', { name: 'Model of the agent' });
    await agent.getByText('Another model').click();
    await agent.getByLabel('Address of the Hub').fill(hub.url);
    await agent.getByLabel('Address of the Hub').blur();
    await agent.getByLabel('Name on the Hub').fill('test/agent');
    await agent.getByRole('button', { name: 'Use this name' }).click();
    await expect(form.getByRole('status').last()).toContainText('The agent’s model is not in this browser yet.');
    await agent.getByRole('button', { name: /^Download \d/ }).click();
    await expect(agent.getByText('✓ The model is in this browser')).toBeVisible();
    await form.getByRole('combobox', { name: 'Domain' }).selectOption('retail');
    await form.getByRole('combobox', { name: 'Level' }).selectOption('nano');
    await form.getByRole('combobox', { name: 'Agent' }).selectOption('with a guard, which asks for a yes before each write');
    await form.getByRole('combobox', { name: 'Sampling' }).selectOption('greedy: the likeliest token');
    await form.getByRole('spinbutton', { name: 'Trials per task (k)' }).fill('1');

    // An evaluation that is cancelled stores nothing.
    await form.getByRole('spinbutton', { name: 'Tasks', exact: true }).fill('100');
    await form.getByRole('button', { name: 'Evaluate' }).click();
    await expect(page.locator('[data-part="activity"]')).toHaveText('test/agent writes a message');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(form.getByRole('button', { name: 'Evaluate' })).toBeVisible();
    expect(await stored<EvaluationRow>(page, 'evaluations')).toEqual([]);

    await form.getByRole('spinbutton', { name: 'Tasks', exact: true }).fill('4');
    await form.getByRole('button', { name: 'Evaluate' }).click();
    await expect(page.getByRole('heading', { name: 'Evaluation of test/agent (fp32) + guard' })).toBeVisible({ timeout: 120_000 });
    await expect(page.getByText('test/agent in the tab (WASM, fp32), tool calls as its chat template writes them.')).toBeVisible();
    const [row] = await stored<EvaluationRow>(page, 'evaluations');
    expect(row).toMatchObject({
      model: { kind: 'tab', source: 'hub', model: 'test/agent', precision: 'fp32', device: 'wasm', hub: hub.url, format: 'native' },
      settings: { agent: 'guard' },
      report: { unscored: 0 },
    });
    const trials = await stored<Trajectory>(page, 'evaluationTrajectories');
    await expect(page.locator('[data-part="agent-usage"]')).toContainText(`Calls ${row!.report.agent!.calls}`);
    // The engine plays the same weights to the same words: mua evaluate --temperature 0 --set val_agent=guard --tasks 4.
    expect(trials.map(({ reward }) => reward)).toEqual([1, 1, 1, 1]);
    const first = trials.find(({ task }) => task.id === 'retail/nano/heldout/1/0')!;
    expect(first.nodes.filter(({ role }) => role === 'assistant').map(({ toolCall, content }) => toolCall ?? content)).toEqual([
      { name: 'find_user_id_by_name_zip', arguments: { first_name: 'Olga', last_name: 'Patel', zip: '97258' } },
      { name: 'get_user_details', arguments: { user_id: 'olga_patel_7311' } },
      { name: 'get_order_details', arguments: { order_id: '#W1175982' } },
      'Cancel order #W1175982, no longer needed. Yes or no?',
      { name: 'cancel_pending_order', arguments: { order_id: '#W1175982', reason: 'no longer needed' } },
      'That is done. Anything else?',
    ]);
  } finally {
    await hub.close();
  }
});
