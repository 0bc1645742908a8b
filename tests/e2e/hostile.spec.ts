/** Texts of files, models, customers and addresses stay text on every page that shows them. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { pairText } from '../../src/app/routes/comparison.ts';
import { writeFrom } from '../../src/app/branches/play-origin.ts';
import { href } from '../../src/app/routes/routes.ts';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { ALL, CORPUS, FILE, hostileEvaluations, hostileRun, hostileWorld, NAME, staysText } from './hostile.ts';
import { inspect, watch } from './page-checks.ts';
import { store } from './storage.ts';
import { test } from './test.ts';

/** The pages to visit: name → address. */
type Tour = Record<string, string>;

async function visit(page: Page, tour: Tour): Promise<void> {
  for (const [name, address] of Object.entries(tour)) {
    await page.goto(`/${address}`);
    await staysText(page, name);
  }
}

test('of an imported run', async ({ page }) => {
  test.slow();
  page.setDefaultTimeout(30_000);
  const problems = watch(page);
  const { trajectories: recorded } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  const {
    file,
    run: { id: run },
    trajectories,
  } = hostileRun(recorded[0]!.task);
  const [first, second] = trajectories.map(({ id }) => id) as [string, string];
  await page.goto('/#/import');
  await page.getByLabel('Choose files').setInputFiles({ name: `${FILE}.mua.zip`, mimeType: 'application/zip', buffer: Buffer.from(file) });
  await expect(page.getByRole('button', { name: 'Import it' })).toBeVisible();
  await staysText(page, 'import');
  await page.getByRole('button', { name: 'Import it' }).click();
  await expect(page).toHaveURL(/#\/runs\/./);
  await staysText(page, 'run');
  await inspect(page, 'hostile-run');
  for (const table of await page.getByRole('button', { name: / as a table$/ }).all()) await table.click();
  await staysText(page, 'charts as tables');
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await staysText(page, 'share', NAME);
  await page.keyboard.press('Escape');

  const rollout = (query: Record<string, string | number> = {}) => href({ name: 'rollout', run, id: first }, query);
  const sampled = trajectories[0]!.nodes[0]!.tokens.length + trajectories[0]!.nodes[1]!.tokens.length + 1;
  await visit(page, {
    config: href({ name: 'run', run }, { tab: 'config' }),
    checkpoints: href({ name: 'run', run }, { tab: 'checkpoints' }),
    rollouts: href({ name: 'rollouts', run }),
    'rollouts, filtered': href({ name: 'rollouts', run }, { intent: ALL, tool: ALL, domain: ALL, violation: ALL, end: ALL, q: ALL }),
    'rollouts, searched': href({ name: 'rollouts', run }, { q: CORPUS.image }),
    group: href({ name: 'group', run, group: trajectories[0]!.group }),
    'group, pinned': href({ name: 'group', run, group: trajectories[0]!.group }, { pin: `${first},${second}` }),
    messages: rollout(),
    rendered: rollout({ view: 'rendered' }),
    token: rollout({ view: 'rendered', ch: 'logprob', tok: sampled }),
    'call, its database': rollout({ call: 0 }),
    turn: rollout({ turn: 2 }),
    found: rollout({ q: ALL }),
    'compared runs': href({ name: 'compare' }, { kind: 'runs', of: `${run},recorded` }),
    'compared rollouts': href({ name: 'compare' }, { kind: 'rollouts', of: pairText([first, second].map((id) => ({ run, id }))) }),
    'played on': href(
      { name: 'play', domain: 'retail', task: trajectories[1]!.task.id },
      { from: writeFrom({ place: run, id: second, node: 1 }), as: 'agent' },
    ),
    'played on as a customer, of a task that is none': href(
      { name: 'play', domain: ALL, task: ALL },
      { from: writeFrom({ place: run, id: first, node: 1 }) },
    ),
    home: '#/',
    runs: '#/runs',
  });
  await page.getByRole('main').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('dialog')).toContainText(CORPUS.image);
  await staysText(page, 'asked whether to delete');
  await page.keyboard.press('Escape');

  await page.goto(
    `/${href({ name: 'play', domain: 'retail', task: trajectories[1]!.task.id }, { from: writeFrom({ place: run, id: second, node: 1 }) })}`,
  );
  await page.locator('[data-part=batch] summary').click();
  await staysText(page, 'branches');
  const [branch, tokens] = await Promise.all(
    [/^Played /, /^Tokens of /].map((name) => page.locator('[data-part=branch]').first().getByRole('link', { name }).getAttribute('href')),
  );
  await visit(page, {
    'a branch, played': branch!,
    'a branch, in full': tokens!,
    'a branch, its tokens': `${tokens!}?view=rendered&tok=${sampled}`,
  });
  await inspect(page, 'hostile-branch', { fullPage: false });

  // Visit the evaluations of the imported run.
  await page.goto('/#/evals');
  await page
    .getByRole('link', { name: /1 gained|1 lost/ })
    .first()
    .click();
  await staysText(page, 'its evaluations compared');
  await page.getByRole('table', { name: 'Pairs of trials' }).getByRole('link').first().click();
  await staysText(page, 'a pair of its trials');
  await page
    .locator('[data-part=pair]')
    .getByRole('link', { name: /^Before: / })
    .first()
    .click();
  await expect(page.getByRole('heading', { level: 1, name: /^Task .*, trial 1$/ })).toBeVisible();
  await expect(page.locator('[data-part=message]').first()).toBeVisible();
  await staysText(page, 'a trial of it', null);
  expect(problems).toEqual([]);
});

test('of evaluations, with tokens that say it', async ({ page }) => {
  page.setDefaultTimeout(30_000);
  const problems = watch(page);
  const { evaluations, trajectories } = hostileEvaluations();
  const [before, after] = evaluations.map(({ id }) => id) as [string, string];
  await page.goto('/#/evals');
  await expect(page.getByText('You have no evaluations yet.')).toBeVisible();
  await store(page, { evaluations, evaluationTrajectories: trajectories });
  await page.reload();
  const trial = (query: Record<string, string | number> = {}) => href({ name: 'trial', evaluation: before, id: NAME }, query);
  const sampled = trajectories[0]!.nodes[0]!.tokens.length + trajectories[0]!.nodes[1]!.tokens.length;
  await visit(page, {
    evals: '#/evals',
    eval: href({ name: 'eval', id: before }),
    'eval, filtered': href({ name: 'eval', id: before }, { intent: ALL, violation: ALL, end: ALL }),
    compared: href({ name: 'compare' }, { kind: 'evals', of: `${before},${after}` }),
    pair: href({ name: 'compare' }, { kind: 'evals', of: `${before},${after}`, task: ALL }),
    trial: trial(),
    'trial, a call': trial({ call: 0 }),
    'trial, the customer’s own call': trial({ turn: 1 }),
  });
  await page.goto(`/${trial({ view: 'rendered', ch: 'entropy', tok: sampled })}`);
  await expect.poll(async () => (await page.locator('.t').allTextContents()).join('')).toContain('onerror="self.owned=1">');
  await expect(page.locator('[data-part=token]')).toContainText('Likeliest here');
  await staysText(page, 'tokens', null);
  // Characters that hide or change the direction of text are shown by their codes. The page itself inserts U+200B, where a line may end.
  expect((await page.locator('.t').allTextContents()).join('')).not.toMatch(/[\u200c-\u200f\u202a-\u202e\u2066-\u2069]/);
  await inspect(page, 'hostile-tokens', { fullPage: false });
  await page.goto('/#/evals');
  await page
    .getByRole('button', { name: /^Delete the evaluation/ })
    .first()
    .click();
  await staysText(page, 'asked whether to delete');
  expect(problems).toEqual([]);
});

test('of a model folder and of a benchmark', async ({ page }, testInfo) => {
  page.setDefaultTimeout(30_000);
  const problems = watch(page);
  const folder = testInfo.outputPath(FILE);
  cpSync('models/nano-retail', folder, { recursive: true });
  writeFileSync(`${folder}/README.md`, `---\nname: ${ALL}\n---\n${ALL}`);
  const config = JSON.parse(readFileSync(`${folder}/config.json`, 'utf8')) as Record<string, unknown>;
  writeFileSync(`${folder}/config.json`, JSON.stringify({ ...config, _name_or_path: ALL, [ALL]: ALL, torch_dtype: ALL }));
  await page.goto('/#/models');
  await page.getByLabel('Choose a folder').setInputFiles(folder);
  const model = page.getByRole('article').filter({ hasText: 'Imported' });
  await model.getByText('Model card').click();
  await expect(model.locator('pre')).toContainText(CORPUS.image);
  await staysText(page, 'models');
  await inspect(page, 'hostile-models');
  for (const [field, refused] of Object.entries({ model_type: ALL, architectures: [ALL] })) {
    const buffer = Buffer.from(JSON.stringify({ ...config, [field]: refused }));
    await page.getByLabel('Choose files or a zip').setInputFiles({ name: 'config.json', mimeType: 'application/json', buffer });
    await expect(page.locator('.banner')).toContainText(`${field} is`);
    await staysText(page, `a model that is refused for its ${field}`, CORPUS.vector);
  }
  await model.getByRole('button', { name: /^Delete / }).click();
  await staysText(page, 'asked whether to delete');
  await page.keyboard.press('Escape');
  await model.getByRole('link', { name: /^Use / }).click();
  await expect(page.getByRole('button', { name: 'Start training' })).toBeVisible();
  await staysText(page, 'home with the model', null);

  const data = Object.entries(hostileWorld()).map(([name, text]) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) }));
  await page.goto('/#/worlds');
  await page
    .getByLabel('Choose a zip or files')
    .setInputFiles([{ name: 'db.json', mimeType: 'text/plain', buffer: Buffer.from(`{"orders": {"${NAME}"`) }]);
  await expect(page.getByRole('alert').filter({ hasText: 'Nothing was imported.' })).toBeVisible();
  await staysText(page, 'a benchmark that is refused', null);
  await page.getByLabel('Choose a zip or files').setInputFiles(data);
  await page.getByRole('link', { name: 'tau2 retail' }).click();
  for (const table of ['users', 'products', 'orders']) {
    await page.getByRole('link', { name: new RegExp(`^${table} \\d`) }).click();
    await page.getByRole('grid', { name: table }).getByRole('row').nth(1).click();
    await staysText(page, table);
  }
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await staysText(page, 'tools', null);
  await page.getByRole('link', { name: 'Policy', exact: true }).click();
  await staysText(page, 'policy');
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await expect(page.getByRole('combobox', { name: 'Split' }).locator('option').filter({ hasText: CORPUS.image })).toHaveCount(1);
  await page.getByRole('combobox', { name: 'Split' }).selectOption('train');
  await page.getByRole('grid', { name: 'Tasks' }).getByRole('row').nth(1).click();
  await staysText(page, 'tasks');
  await page.getByRole('button', { name: 'Run gold' }).click();
  await expect(page.locator('[data-part=gold-run]')).toContainText('Reward of the gold actions');
  await staysText(page, 'gold');
  await inspect(page, 'hostile-world');
  await page.getByRole('link', { name: 'Play this task' }).click();
  await expect(page.getByRole('region', { name: 'Conversation' })).toBeVisible();
  await staysText(page, 'play');
  expect(problems).toEqual([]);
});

test('of an address', async ({ page }) => {
  page.setDefaultTimeout(30_000);
  const problems = watch(page);
  const setting = `#/?${new URLSearchParams({ preset: ALL, model: ALL, seed: ALL, lr: ALL, beta: ALL, [ALL]: ALL }).toString()}`;
  await visit(page, { setup: setting });
  for (const [name, address] of Object.entries({
    lesson: href({ name: 'lesson', lesson: ALL }),
    run: href({ name: 'run', run: ALL }),
    rollout: href({ name: 'rollout', run: 'recorded', id: ALL }),
    group: href({ name: 'group', run: 'recorded', group: ALL }),
    rollouts: href({ name: 'rollouts', run: 'recorded' }, { q: ALL, at: ALL, intent: ALL }),
    runs: href({ name: 'runs' }, { of: ALL }),
    compare: href({ name: 'compare' }, { kind: 'runs', of: ALL }),
    'compare evals': href({ name: 'compare' }, { kind: 'evals', of: `${ALL},${ALL}` }),
    play: href({ name: 'play', domain: ALL, task: ALL }, { from: ALL, run: ALL }),
    'play a task': href({ name: 'play', domain: ALL, task: ALL }),
    world: href({ name: 'world', domain: ALL, tab: 'data' }, { table: ALL, row: ALL, q: ALL }),
    'world, its row': href({ name: 'world', domain: 'retail-nano', tab: 'data' }, { table: ALL, row: ALL, q: ALL, split: ALL }),
    'world, its task': href({ name: 'world', domain: 'retail-nano', tab: 'tasks' }, { task: ALL }),
    evals: href({ name: 'evals' }, { pick: ALL, model: ALL }),
    eval: href({ name: 'eval', id: ALL }),
    trial: href({ name: 'trial', evaluation: ALL, id: ALL }),
    branch: href({ name: 'branch', id: ALL }),
    import: href({ name: 'import' }, { src: 'javascript:self.owned=1' }),
    'import of a host': href({ name: 'import' }, { src: `https://host.example/${ALL}` }),
    'no page': `#/${encodeURIComponent(ALL)}`,
  })) {
    await page.goto(`/${address}`);
    await page.waitForLoadState('networkidle');
    await staysText(page, name, null);
  }
  expect(problems).toEqual([]);
});
