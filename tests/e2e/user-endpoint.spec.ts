/** Trains with a customer behind HTTP: `mua user-server` with every kind of fault. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import { type Outcome, startMua } from '../support/mua.ts';
import { test } from './test.ts';

const TASKS = 2;
const ROLLOUTS = 3;

let folder: string;
test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-user-'));
});
test.afterAll(() => rm(folder, { recursive: true, force: true }));

test('every episode is scored, retried or dropped; none is silently zero', async () => {
  test.slow();
  const server = startMua([
    'user-server',
    '--port',
    '0',
    '--json',
    '--fault',
    'rate_limit=0.08',
    '--fault',
    'server_error=0.08',
    '--fault',
    'garbage=0.05',
  ]);
  let trained: Outcome;
  const out = join(folder, 'run');
  try {
    const { url } = JSON.parse(await server.line()) as { url: string };
    const settings = {
      train_batch_size: TASKS,
      n: ROLLOUTS,
      val_tasks: 2,
      max_turns: 8,
      response_length_one_turn: 32,
      filter_groups: false,
    };
    const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
    trained = await startMua(['train', '--json', '--preset', 'tiny', '--steps', '1', '--seed', '2', '--user', url, ...set, '--out', out])
      .done;
  } finally {
    server.child.kill('SIGINT');
  }
  expect(trained.code, trained.stderr).toBe(0);
  const result = JSON.parse(trained.stdout) as { steps: number; dropped: number; retried: number };
  const lines = async (name: string) =>
    (await readFile(join(out, name), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const trajectories = (await lines('trajectories.jsonl')) as { reward: number | null; termination: string; nodes: { role: string }[] }[];
  const metrics = await lines('metrics.jsonl');
  expect(metrics.map((m) => m.step)).toEqual([0, 1]);
  expect(trajectories.length + result.dropped).toBe(TASKS * ROLLOUTS);
  for (const { reward, termination, nodes } of trajectories) {
    expect(termination).not.toBe('user_error');
    expect([0, 1]).toContain(reward);
    expect(nodes.some(({ role }) => role === 'assistant')).toBe(true);
  }
  expect((await readdir(out)).sort()).toEqual([
    'config.json',
    'evaluations.jsonl',
    'metrics.jsonl',
    'model.safetensors',
    'result.json',
    'status.json',
    'tokenizer.json',
    'tokenizer_config.json',
    'trajectories.jsonl',
  ]);
  const { code, stderr } = await server.done;
  expect(code).toBe(130);
  const counts = JSON.parse(stderr.slice(stderr.indexOf('{'))) as Record<string, number>;
  // Check that the faults happened, because otherwise this test shows nothing.
  expect(Object.values(counts).reduce((sum, n) => sum + n, 0)).toBeGreaterThan(TASKS * ROLLOUTS);
  expect((counts.rate_limit ?? 0) + (counts.server_error ?? 0) + (counts.garbage ?? 0)).toBeGreaterThan(0);
});

test('the test of an endpoint tells a server that does not allow the page from no server', async ({ page }) => {
  const server = createServer((_, response) => response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"error":"no"}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await page.goto('/#/settings');
  await page.getByLabel('A language model (OpenAI-compatible endpoint)').check();
  await page.getByLabel('Base URL').fill(`${origin}/v1`);
  await page.getByLabel('Model', { exact: true }).fill('qwen3:4b');
  const test = page.getByRole('button', { name: 'Test', exact: true });
  await test.click();
  await expect(page.getByText(`A server answers at ${origin}, but it does not let this page read the answer (CORS).`)).toBeVisible();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await test.click();
  await expect(page.getByText(`No server answers at ${origin}.`)).toBeVisible();
  // The worker with the key sends the requests, not the page.
  const asked = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
  expect(asked.filter((name) => name.startsWith(origin))).toEqual([]);
});

/** The address of this computer in its network. */
const ownAddress = () =>
  Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);

async function testServer(page: Page, baseUrl: string): Promise<void> {
  await page.goto('/#/settings');
  await page.getByLabel('A language model (OpenAI-compatible endpoint)').check();
  await page.getByLabel('Base URL').fill(baseUrl);
  await page.getByLabel('Model', { exact: true }).fill('m');
  await page.getByRole('button', { name: 'Test', exact: true }).click();
}

test('a server of the local network can be reached from the page', async ({ page }) => {
  const { address } = ownAddress() ?? {};
  test.skip(!address, 'this computer has no address in a network');
  const customer = await startPaidCustomer('0.0.0.0');
  await testServer(page, customer.url.replace('127.0.0.1', address!));
  await expect(page.getByText('The model answers: “Please cancel my order.”')).toBeVisible();
  await customer.close();
});

test('if the policy of the page forbids the server, the test says so', async ({ page }) => {
  const customer = await startPaidCustomer();
  await page.route(/\.(html|js)$|\/$/, async (route) => {
    const answer = await route.fetch();
    const policy = answer.headers()['content-security-policy']!.replace(/connect-src [^;]*/, "connect-src 'self'");
    await route.fulfill({ response: answer, headers: { ...answer.headers(), 'content-security-policy': policy } });
  });
  await testServer(page, customer.url);
  await expect(page.getByText(/The content security policy of this page \(connect-src\) forbids requests to http:\/\/127/)).toBeVisible();
  expect(customer.requests()).toBe(0);
  await customer.close();
});

/** A customer that says one sentence, and reports the tokens of each request. */
async function startPaidCustomer(host = '127.0.0.1'): Promise<{ url: string; requests: () => number; close: () => Promise<unknown> }> {
  let requests = 0;
  const server = createServer(async (request, response) => {
    response.writeHead(200, {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Headers': '*',
      'Content-Type': 'application/json',
    });
    if (request.method !== 'POST') return void response.end();
    requests += 1;
    let asked = '';
    for await (const part of request) asked += String(part);
    // The agent's greeting is the first message after the prompt.
    const content = (JSON.parse(asked) as { messages: unknown[] }).messages.length > 2 ? 'Bye. ###STOP###' : 'Please cancel my order.';
    response.end(JSON.stringify({ choices: [{ message: { content } }], usage: { prompt_tokens: 1000, completion_tokens: 10 } }));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: () => requests,
    close: () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  };
}

test('a run pauses when its customer has cost the budget, and goes on with a higher one', async ({ page }) => {
  const customer = await startPaidCustomer();
  await page.goto('/#/settings');
  await page.getByLabel('A language model (OpenAI-compatible endpoint)').check();
  await page.getByLabel('Base URL').fill(customer.url);
  await page.getByLabel('Model', { exact: true }).fill('m');
  await page.getByText('Prices and budget').click();
  await page.getByLabel('Price of a million prompt tokens').fill('1000');
  await page.getByLabel('Budget of a run').fill('1');
  await page.goto('/#/?preset=tiny&setup=1&total_training_steps=2&val_tasks=1&train_batch_size=1&n=2&filter_groups=false&max_turns=6');
  await page.getByRole('button', { name: 'Start training' }).click();
  const spent = page.getByText(/The customer has cost \d+, and the budget is 1: raise the budget to go on\./);
  await expect(spent).toBeVisible({ timeout: 120_000 });
  await page.getByLabel('Budget', { exact: true }).fill('100000');
  await page.getByRole('button', { name: 'Resume' }).click();
  await expect(spent).toBeHidden();
  await expect(page.getByText('Done', { exact: true })).toBeVisible({ timeout: 120_000 });
  for (const name of ['faults', 'tokens', 'latency', 'cost'])
    await expect(page.getByRole('heading', { name: `Customer: ${name}` })).toBeVisible();
  await customer.close();
});

test('mua train ends when the customer has cost the budget, and --resume with a higher one goes on', async () => {
  test.slow();
  const customer = await startPaidCustomer();
  const out = join(folder, 'paid');
  const sizes = ['train_batch_size=1', 'ppo_mini_batch_size=1', 'n=2', 'val_tasks=1', 'filter_groups=false'];
  const set = sizes.flatMap((pair) => ['--set', pair]);
  // A token costs 1, so each request costs 1000.
  const prices = ['--user', customer.url, '--user-model', 'm', '--user-prompt-price', '1e6', '--user-budget'];
  const status = async () => JSON.parse(await readFile(join(out, 'status.json'), 'utf8')) as { step: number };
  try {
    const flags = ['--preset', 'glimpse', '--steps', '2', '--seed', '1', ...set, ...prices, '3000', '--out', out];
    const first = await startMua(['train', ...flags]).done;
    expect(first.code, first.stderr).toBe(2);
    expect(first.stderr).toMatch(/The customer has cost \d+, and the budget is 3000: raise --user-budget to go on\. /);
    expect((await status()).step).toBe(1);
    const played = customer.requests();
    const again = await startMua(['train', '--resume', out]).done;
    expect(again.code, again.stderr).toBe(2);
    expect(again.stderr).toContain('the budget is 3000');
    expect(customer.requests()).toBe(played);
    const last = await startMua(['train', '--json', '--resume', out, '--user-budget', '1e9']).done;
    expect(last.code, last.stderr).toBe(0);
    expect(JSON.parse(last.stdout)).toMatchObject({ steps: 2 });
    const metrics = (await readFile(join(out, 'metrics.jsonl'), 'utf8')).trim().split('\n');
    const costs = metrics.map((line) => (JSON.parse(line) as Record<string, number>)['user/cost']!);
    expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(1000 * customer.requests());
  } finally {
    await customer.close();
  }
});

test('the choice of a server fills in its address, and its models are listed on request only', async ({ page }) => {
  const asked: string[] = [];
  await page.route('http://localhost:11434/**', (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.fulfill({ json: { data: [{ id: 'qwen3:4b' }] }, headers: { 'Access-Control-Allow-Origin': '*' } });
  });
  await page.goto('/#/settings');
  await page.getByLabel('A language model (OpenAI-compatible endpoint)').check();
  const address = page.getByLabel('Base URL');
  const server = page.getByRole('combobox', { name: 'Server' });
  await server.selectOption('OpenRouter');
  await expect(address).toHaveValue('https://openrouter.ai/api/v1');
  await address.fill('http://localhost:9/v1');
  await expect(server).toHaveValue('other');
  await server.selectOption('Ollama');
  await page.reload();
  await expect(address).toHaveValue('http://localhost:11434/v1');
  await expect(server).toHaveValue('ollama');
  expect(asked).toEqual([]);
  await page.getByRole('button', { name: 'List models' }).click();
  await expect(page.getByText('It has qwen3:4b.')).toBeVisible();
  await expect(page.locator('datalist option')).toHaveAttribute('value', 'qwen3:4b');
  expect(asked).toEqual(['/v1/models']);
});

test('temperature, length and other fields of the form are in the requests, and are stored', async ({ page }) => {
  const sent: Record<string, unknown>[] = [];
  await page.route('http://localhost:11434/**', (route) => {
    const body = route.request().postDataJSON() as Record<string, unknown> | null;
    if (body) sent.push(body);
    const headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };
    return route.fulfill({ json: { choices: [{ message: { content: 'Hello.' } }] }, headers });
  });
  await page.goto('/#/settings');
  await page.getByLabel('A language model (OpenAI-compatible endpoint)').check();
  await page.getByLabel('Model', { exact: true }).fill('m');
  await page.getByText('Temperature, length and other fields').click();
  await page.getByLabel('Temperature of the model').fill('0.5');
  await page.getByLabel('Most tokens of a message').fill('99');
  const fields = page.getByLabel('More fields of each request');
  await fields.fill('{"top_k": ');
  await expect(page.getByText('The extra fields are not a JSON object')).toBeVisible();
  await fields.fill('{"top_k": 20, "seed": null}');
  await fields.blur();
  await page.reload();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await expect(page.getByText('The model answers: “Hello.”')).toBeVisible();
  const { messages: _, ...rest } = sent[0]!;
  expect(rest).toEqual({ model: 'm', temperature: 0.5, max_tokens: 99, top_k: 20, stream: false });
});
