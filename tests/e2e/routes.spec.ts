/** Every page has a title and a heading, is accessible in both themes, and is not wider than a phone. */
import { expect, type Page } from '@playwright/test';
import { inspect } from './page-checks.ts';
import { writeExperiment } from '../../src/experiments/file.ts';
import { EXPERIMENT, finishedRun } from '../support/experiments.ts';
import { test } from './test.ts';

/** The pages whose addresses are fixed. The gallery has its own tests. */
const ROUTES: Record<string, string> = {
  home: '#/',
  'home-setup': '#/?setup=1&preset=tiny&lr=0.001&n=6',
  learn: '#/learn',
  lesson: '#/learn/group',
  teach: '#/learn/teach',
  'failed-run': '#/learn/failing/high-learning-rate?answer=1',
  runs: '#/runs',
  run: '#/runs/recorded',
  'run-config': '#/runs/recorded?tab=config',
  'run-checkpoints': '#/runs/recorded?tab=checkpoints',
  rollouts: '#/runs/recorded/rollouts',
  worlds: '#/worlds',
  'world-data': '#/worlds/retail/data',
  'world-tools': '#/worlds/retail/tools',
  'world-policy': '#/worlds/retail/policy',
  'world-tasks': '#/worlds/retail/tasks',
  mcp: '#/mcp',
  evals: '#/evals',
  shadow: '#/shadow',
  reliability: '#/reliability',
  experiments: '#/experiments',
  models: '#/models',
  settings: '#/settings',
  import: '#/import',
  'not-found': '#/no-such-page',
};

async function visit(page: Page, name: string): Promise<void> {
  await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1);
  const heading = await page.getByRole('heading', { level: 1 }).innerText();
  expect((await page.title()).trim(), `${name}: title`).toMatch(/\S · MUA-RL Playground$/);
  expect(heading.trim(), `${name}: h1`).not.toBe('');
  await page.waitForLoadState('networkidle');
  await inspect(page, `route-${name}`);
}

for (const [name, hash] of Object.entries(ROUTES)) {
  test(name, async ({ page }) => {
    await page.goto(`/${hash}`);
    await visit(page, name);
  });
}

test('group, rollout in both views, comparison and play of the recorded run', async ({ page }) => {
  test.slow();
  await page.goto('/#/runs/recorded');
  const main = page.getByRole('main');
  const group = (await main.locator('a[href*="/groups/"]').first().getAttribute('href'))!;
  await page.goto(`/${group}`);
  await visit(page, 'group');
  // Look only at links to rollouts, because the task may contain other links.
  await expect(main.locator('a[href*="/rollouts/"]').nth(1)).toBeAttached();
  const links = await main.locator('a[href*="/rollouts/"]').evaluateAll((all) => all.map((a) => a.getAttribute('href')!.split('?')[0]!));
  const [one, two] = [...new Set(links)];
  await page.goto(`/${one}`);
  await visit(page, 'rollout-messages');
  await page.goto(`/${one}?view=rendered&ch=logprob`);
  await visit(page, 'rollout-rendered');
  const id = (hash: string) => `recorded/${hash.split('/').at(-1)}`;
  await page.goto(`/#/compare?kind=rollouts&of=${id(one!)},${id(two!)}`);
  await visit(page, 'compare-rollouts');
  await page.goto('/#/play/retail/retail%2Fnano%2Fheldout%2F1%2F0');
  await visit(page, 'play');
});

test('Setup, open', async ({ page }) => {
  await page.goto('/#/?lr=0.001');
  await page.getByText('Setup', { exact: true }).click();
  await page.getByText('Optimiser', { exact: true }).click();
  const rate = page.getByRole('textbox', { name: 'Learning rate' });
  await expect(rate).toHaveValue('0.001');
  await rate.fill('0.002');
  await rate.press('Tab');
  await expect(page).toHaveURL(/lr=0\.002/);
  await visit(page, 'home-setup-open');
  await page.getByRole('button', { name: /^Reset Learning rate/ }).click();
  await expect(page).not.toHaveURL(/lr=/);
  const algorithm = page.getByRole('combobox', { name: 'Algorithm' });
  await expect(algorithm).toHaveValue('grpo');
  await algorithm.selectOption('CISPO');
  await expect(page).toHaveURL(/loss_mode=cispo/);
  await expect(page.getByText(/MiniMax-M1/)).toBeVisible();
  await algorithm.selectOption('GRPO');
  await expect(page).not.toHaveURL(/loss_mode/);
});

test('keys: a map by ?, the heading takes the focus on navigation, the first Tab skips to the content', async ({ page }) => {
  await page.goto('/#/runs');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.keyboard.press('?');
  const map = page.getByRole('dialog', { name: 'Keys' });
  await expect(map).toBeVisible();
  await inspect(page, 'keys', { fullPage: false });
  await page.keyboard.press('Escape');
  await expect(map).toHaveCount(0);
  await page.keyboard.press('Tab');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Evals' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Evals' })).toBeFocused();
  await page.reload();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
});

test('an experiment from a file: its table, its conclusion and its curves; a damaged file is refused', async ({ page }) => {
  await page.goto('/#/experiments');
  const runs = EXPERIMENT.seeds.flatMap((seed) => [
    finishedRun('kl', seed, [0, 0, 1, 0], [1, 0, 0, 0]),
    finishedRun('no_kl', seed, [0, 0, 1, 0], [1, 1, 1, 1]),
  ]);
  const text = writeExperiment({ experiment: { ...EXPERIMENT, name: '<img src=x>' }, runs });
  const choose = (content: string) =>
    page
      .getByLabel('Import an experiment')
      .setInputFiles({ name: 'kl.mua-experiment.json', mimeType: 'application/json', buffer: Buffer.from(content) });
  await choose(text.replace('"seconds":60', '"seconds":"60"'));
  await expect(page.getByText('runs[0], seconds: is "60": expected a number')).toBeVisible();
  await choose(text);
  await expect(page.getByRole('heading', { level: 1, name: '<img src=x>' })).toBeVisible();
  await expect(
    page.getByText(/no_kl is 75\.0 points better than kl in held-out success \(95 % interval .*, 3 seeds\): shown \(p .*\)\./),
  ).toBeVisible();
  await expect(page.getByText('6 of 6 runs are finished')).toBeVisible();
  await expect(page.getByRole('img', { name: /^Held-out success over 2 steps\. Last: kl 25 %, no_kl 100 %/ })).toBeVisible();
  await visit(page, 'experiment');
});
