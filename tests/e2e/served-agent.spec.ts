/** An agent behind a server, chosen in the form of an evaluation, in a browser without WebGPU. */
import { expect, test } from '@playwright/test';
import { demonstratorOf, GENERATED_DOMAINS } from '../../src/domains/registry.ts';
import { createEnvironments } from '../../src/environments/index.ts';
import { calling, forExpert, startAgentServer } from '../support/agent-server.ts';
import { launchOptions } from '../support/chromium.ts';

test('a server is evaluated, and its conversations are inspected and have no values of tokens', async ({ playwright, baseURL }) => {
  test.slow();
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const expert = (await demonstratorOf('retail'))(await environments.domain('retail', 'nano'), 1, { style: 'careful' });
  const server = await startAgentServer((request, before) => {
    const act = expert.act(forExpert(request));
    return 'call' in act ? { ...calling([act.call], `c${before}`), reasoning_content: 'I look it up.' } : { content: act.say };
  });
  const args = launchOptions.args.filter((arg) => arg !== '--enable-unsafe-webgpu');
  const browser = await playwright.chromium.launch({ ...launchOptions, args: [...args, '--disable-gpu', '--disable-software-rasterizer'] });
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
    await browser.close();
    server.close();
  }
});
