/** The page of a run with its charts, links and address, the list of runs, and the story on the home page. */
import { readFileSync } from 'node:fs';
import { expect, type Locator, type Page } from '@playwright/test';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { inspect, moving, watch } from './page-checks.ts';
import { test } from './test.ts';

const reads = (page: Page, field: RegExp) => expect.poll(() => page.url()).toMatch(field);
const chart = (page: Page, id: string) => page.locator(`[data-part=chart-${id}]`);

/** Moves the mouse to a share of a chart's width. */
async function point(page: Page, id: string, share: number): Promise<void> {
  const over = chart(page, id).locator('.u-over');
  await over.scrollIntoViewIfNeeded();
  const box = (await over.boundingBox())!;
  await page.mouse.move(box.x + share * box.width, box.y + box.height / 2, { steps: 3 });
}

const pointedAt = async (page: Page, id: string) =>
  Number(/step (\d+)/.exec(await chart(page, id).locator('figcaption').innerText())?.[1] ?? NaN);

test('the cursor is at one step in all charts; a click opens the groups of that step, or says which ones it shows', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/runs/recorded');
  await expect(page.getByText('Click a point to read the groups of its step.')).toBeVisible();
  await point(page, 'reward', 0.42);
  const step = await pointedAt(page, 'reward');
  expect(step).toBeGreaterThan(3);
  for (const id of ['kl', 'entropy', 'grad-norm', 'sampler-mismatch']) expect(await pointedAt(page, id), id).toBe(step);

  await page.mouse.down();
  await page.mouse.up();
  await reads(page, new RegExp(`[?&]step=${step}(&|$)`));
  const groups = page.getByRole('region', { name: 'Groups' });
  const shown = Number(await groups.getByRole('combobox').inputValue());
  await expect(groups).toBeInViewport();
  await expect(groups.getByRole('link', { name: new RegExp(`^Group ${shown}-`) })).not.toHaveCount(0);
  const other = groups.locator('[data-part=other-step]');
  await expect(other).toHaveText(shown === step ? '' : `No rollouts of step ${step} are stored. The table shows step ${shown}.`);

  // Step 0 has no rollouts, but the held-out curve has a point at step 0.
  await page.goto('/#/runs/recorded?step=0');
  await expect(other).toHaveText(/^No rollouts of step 0 are stored\. The table shows step \d+\.$/);
  expect(problems).toEqual([]);
});

test('a drag zooms every chart, a double click and the fields say which steps, all in the address', async ({ page }) => {
  await page.goto('/#/runs/recorded');
  await point(page, 'reward', 0.25);
  await page.mouse.down();
  await point(page, 'reward', 0.75);
  await page.mouse.up();
  await reads(page, /from=\d+&to=\d+/);
  expect(page.url()).not.toContain('step=');
  const [from, to] = [page.getByLabel('From step'), page.getByLabel('To step')];
  const [first, last] = [Number(await from.inputValue()), Number(await to.inputValue())];
  expect(last - first).toBeGreaterThan(10);
  expect(last - first).toBeLessThan(30);
  await point(page, 'kl', 0.002);
  expect(await pointedAt(page, 'kl')).toBe(first);
  await page.reload();
  await point(page, 'entropy', 0.998);
  expect(await pointedAt(page, 'entropy')).toBe(last);
  await inspect(page, 'dashboard-zoomed');

  await chart(page, 'entropy').locator('.u-over').dblclick();
  await expect(page).not.toHaveURL(/from=|to=|step=/);
  await expect(from).toHaveValue('');
  await from.fill('30');
  await from.press('Enter');
  await reads(page, /from=30/);
  await point(page, 'kl', 0.002);
  expect(await pointedAt(page, 'kl')).toBe(30);
  await page.getByRole('button', { name: 'All steps' }).click();
  await expect(page).not.toHaveURL(/from=/);
});

test('smoothing is in the address and leaves the measured values alone; tables and CSV hold them; any metric can be drawn', async ({
  page,
}) => {
  const problems = watch(page);
  const { metrics } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  await page.goto('/#/runs/recorded');
  const slider = page.getByRole('slider', { name: 'Smoothing' });
  await expect(slider).toHaveValue('0.7');
  /** The number of pixels of the raw line. It is drawn with a third of the opacity. */
  const faint = () =>
    chart(page, 'reward')
      .locator('canvas')
      .evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        return data.filter((value, i) => i % 4 === 3 && Math.abs(value - 0.35 * 255) < 4).length;
      });
  await slider.fill('0');
  await reads(page, /smooth=0(&|$)/);
  const none = await faint();
  await slider.fill('0.95');
  await reads(page, /smooth=0\.95/);
  await expect.poll(faint).toBeGreaterThan(none + 40);
  await page.reload();
  await expect(slider).toHaveValue('0.95');
  const newest = metrics.at(-1)!['critic/score/mean']!;
  await expect(chart(page, 'reward').getByRole('listitem').first()).toHaveText(`training ${(100 * newest).toFixed(0)} %`);
  await chart(page, 'reward').getByRole('button', { name: 'Reward as a table' }).click();
  const table = chart(page, 'reward').getByRole('region', { name: 'Reward, values' });
  await expect(table.getByRole('row').nth(1)).toContainText(`${metrics.at(-1)!.step}`);
  await expect(table.getByRole('row').nth(1)).toContainText(`${(100 * newest).toFixed(0)} %`);
  const download = page.waitForEvent('download');
  await chart(page, 'reward').getByRole('button', { name: 'Reward as a CSV file' }).click();
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(lines[0]).toBe('step,training,held-out');
  expect(lines).toHaveLength(1 + metrics.length);
  expect(lines.at(-1)!.split(',')[1]).toBe(String(newest));

  await page.getByText(/^All metrics/).click();
  const all = page.getByRole('group', { name: 'Metric to draw' });
  await expect(all.getByRole('radio')).toHaveCount(new Set(metrics.flatMap((row) => Object.keys(row))).size - 1);
  await all.getByRole('radio', { name: /^critic\/advantages\/min/ }).check();
  await reads(page, /metric=critic/);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'critic/advantages/min' })).toBeVisible();
  await inspect(page, 'dashboard');
  expect(problems).toEqual([]);
});

test('the list says what a run earned and how much room it takes, and so does the question before it is deleted', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/runs');
  await page.getByLabel('Import a run').setInputFiles('public/recorded/run.mua.zip');
  await page.getByRole('button', { name: 'Import it' }).click();
  await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}$/);
  await page.goto('/#/runs');
  const imported = page.getByRole('row').filter({ has: page.getByText('Imported', { exact: true }) });
  await expect(imported).toContainText(/\d+ % → \d+ %/);
  await expect(imported).toContainText(/\d+\.\d [kM]B/);
  await inspect(page, 'runs');
  await imported.getByRole('button', { name: /^Delete / }).click();
  await expect(page.getByRole('dialog')).toContainText(/^Delete .+, about \d+\.\d [kM]B, are removed/);
  await page.getByRole('button', { name: 'Cancel' }).click();

  const id = /runs\/([0-9a-f-]{36})/.exec((await imported.getByRole('link').getAttribute('href'))!)![1]!;
  await page.goto(`/#/compare?kind=runs&of=recorded,${id}`);
  await page.getByRole('slider', { name: 'Smoothing' }).fill('0.2');
  await reads(page, /smooth=0\.2/);
  await page.getByLabel('From step').fill('20');
  await page.getByLabel('From step').press('Enter');
  await reads(page, /from=20/);
  await page.reload();
  await expect(page.getByRole('slider', { name: 'Smoothing' })).toHaveValue('0.2');
  await inspect(page, 'compare-runs-zoomed');

  // An imported run is not offered for a comparison with a new run.
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Your runs' })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Runs' })).toBeVisible();
  await expect(page.locator('[data-part=since-last]')).toHaveCount(0);
  expect(problems).toEqual([]);
});

test('a run gets a name, a note and tags; the list is sorted by a column and filtered by a tag', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/runs');
  await page.getByLabel('Import a run').setInputFiles('public/recorded/run.mua.zip');
  await page.getByRole('button', { name: 'Import it' }).click();
  await page.getByRole('button', { name: 'Edit name, tags and note' }).click();
  await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await page.getByRole('textbox', { name: 'Name' }).fill('a long group');
  await page.getByLabel('Tags, separated by commas').fill('n=16, keep');
  await page.getByRole('textbox', { name: 'Note' }).fill('Sixteen rollouts\nin each group.');
  await inspect(page, 'run-words');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { name: 'a long group', level: 1 })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Edit name, tags and note' })).toBeFocused();
  await expect(page.getByText('Sixteen rollouts')).toBeVisible();
  await page.reload();
  await expect(page.getByText('Sixteen rollouts')).toBeVisible();

  await page.goto('/#/runs');
  const names = page.getByRole('row').locator('td.name > a');
  // The imported run and the three recorded runs.
  await expect(names).toHaveCount(4);
  await expect(page.getByRole('img', { name: /^Reward from step 1 to step \d+: first \d+ %, highest \d+ %, last \d+ %$/ })).toHaveCount(4);
  const head = page.getByRole('columnheader', { name: 'Run', exact: true });
  await head.getByRole('button').click();
  await expect(head).toHaveAttribute('aria-sort', 'ascending');
  await expect(names.first()).toHaveText('a long group');
  await head.getByRole('button').click();
  await expect(head).toHaveAttribute('aria-sort', 'descending');
  await expect(names.last()).toHaveText('a long group');
  await reads(page, /sort=name&order=desc/);
  await page.reload();
  await expect(names.last()).toHaveText('a long group');
  await inspect(page, 'runs-sorted');
  await page.getByRole('navigation', { name: 'Tags' }).getByRole('link', { name: /^keep/ }).click();
  await expect(names).toHaveText(['a long group']);
  await reads(page, /tags=keep&sort=name&order=desc/);
  await inspect(page, 'runs-tagged');

  await page.goto('/#/runs/recorded');
  await expect(page.getByRole('button', { name: 'Share', exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Edit name, tags and note' })).toHaveCount(0);
  await page.goto('/#/runs');
  // Without a choice, the preset that shows learning soonest is chosen at each visit of the form.
  for (let visit = 1; visit <= 2; visit++) {
    await page.getByRole('link', { name: 'New run' }).click();
    await expect(page).toHaveURL(/#\/\?setup=1&preset=glimpse$/);
    await expect(page.locator('[data-part=run-time]')).toContainText(/^\s*about \d+ (s|min)/);
    await page.getByLabel('Preset').selectOption('nano');
    await expect(page).toHaveURL(/#\/\?setup=1&preset=nano$/);
    await page.goto('/#/runs');
  }
  expect(problems).toEqual([]);
});

test('the model of “Use” stays when the preset changes, until the visitor takes the preset’s model', async ({ page }) => {
  await page.goto('/#/?setup=1&preset=glimpse&model=nano-retail&lr=0.5');
  const own = page.locator('[data-part=own-model]');
  await expect(own).toContainText('Trains nano-retail, not the preset’s model.');
  await page.getByLabel('Preset').selectOption('timeouts');
  await expect(page).toHaveURL(/setup=1&preset=timeouts&model=nano-retail$/);
  await expect(own).toContainText('Trains nano-retail');
  await own.getByRole('button', { name: 'Use the preset’s model' }).click();
  await expect(page).toHaveURL(/setup=1&preset=timeouts$/);
  await expect(own).toHaveCount(0);
});

test('from a cold open to a failure, its reason and the trained agent in 60 s without a click; to a training in one click', async ({
  page,
}) => {
  test.slow();
  const problems = watch(page);
  const opened = Date.now();
  await page.goto('/');
  const story = page.getByRole('region', { name: 'Recorded run' });
  const [before, after] = ['Before training', 'After training'].map((name) => story.getByRole('region', { name })) as [Locator, Locator];
  await expect(before.locator('[data-part=story-reward]')).toHaveText(/Reward 0\s*✗ wrong/, { timeout: 60_000 });
  // The page shows the reason: a field of the row has another value than the task wants.
  await expect(before.locator('tr.wrong').first()).toBeVisible();
  await expect(after.locator('[data-part=story-reward]')).toHaveText(/Reward 1\s*✓ correct/, { timeout: 60_000 });
  await expect(after.locator('tr.wrong')).toHaveCount(0);
  const seconds = (Date.now() - opened) / 1000;
  console.log(`from a cold open to both rewards: ${seconds.toFixed(1)} s`);
  expect(seconds).toBeLessThan(60);
  await inspect(page, 'home-story');

  // The page chooses the preset that shows learning soonest, and writes it into the address.
  await expect(page).toHaveURL(/preset=glimpse/);
  await page.getByRole('button', { name: 'Train it yourself' }).click();
  await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/, { timeout: 30_000 });
  await expect(page.getByRole('region', { name: 'Run', exact: true })).toContainText('Glimpse');
  await page.getByRole('button', { name: 'Stop' }).click();
  expect(problems).toEqual([]);
});

test('the story pauses, goes on act by act, opens at any moment, and stands still for who wants no motion', async ({
  page,
  browser,
  baseURL,
}) => {
  const problems = watch(page);
  await page.goto('/');
  const story = page.getByRole('region', { name: 'Recorded run' });
  const moment = async () => Number(/Moment (\d+) of/.exec(await story.locator('[data-part=playback-step]').innerText())![1]);
  const acts = () => story.locator('[data-part=act]:visible').count();
  await story.getByRole('button', { name: 'Pause' }).click();
  const at = await moment();
  await page.waitForTimeout(2000);
  expect(await moment()).toBe(at);
  const seen = await acts();
  await story.getByRole('button', { name: 'Step' }).click();
  expect(await moment()).toBe(at + 1);
  expect(await acts()).toBeGreaterThan(seen);
  await story.getByRole('button', { name: 'Back' }).click();
  expect(await acts()).toBe(seen);
  while (await story.getByRole('button', { name: 'Step' }).isEnabled()) await story.getByRole('button', { name: 'Step' }).click();
  const whole = await acts();
  await expect(story.getByRole('button', { name: 'Play again' })).toBeVisible();
  await story.getByRole('link', { name: 'Open this moment, before training' }).click();
  await expect(page).toHaveURL(/#\/evals\/[^/]+\/trials\/[^/]+\?turn=\d+/);
  await expect(page.getByRole('region', { name: 'Outcome' })).toBeVisible();

  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce' });
  const still = await context.newPage();
  await still.goto('/');
  await expect(still.getByRole('button', { name: 'Play again' })).toBeVisible();
  await expect(still.locator('[data-part=playback-step]')).toHaveText(/^Moment (\d+) of \1$/);
  await expect(still.locator('[data-part=act]:visible')).toHaveCount(whole);
  await context.close();
  expect(problems).toEqual([]);
});

test('a link tells what it changes, and what it names that does not exist', async ({ page }) => {
  await page.goto('/#/?preset=tiny&lr=0.25&bogus=1&n=many');
  await expect(page.locator('[data-part=changed]')).toHaveText('Changed from the preset: lr 0.25');
  await expect(page.getByText('The link names settings that do not exist: bogus.')).toBeVisible();
  await expect(page.getByText('Rollouts per task is “many”: expected a number.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start training' })).toBeDisabled();
  await page.goto('/#/runs/recorded?tab=config');
  await expect(page.getByRole('link', { name: 'Change a setting' })).toHaveAttribute('href', /^#\/\?setup=1&preset=/);
});

test('while a run trains its rollouts appear one by one; the next setup says what it changes since', async ({ page }) => {
  test.slow();
  const problems = watch(page);
  await page.goto('/#/?preset=tiny&seed=4&val_tasks=2');
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/);
  const name = (await page.getByRole('heading', { level: 1 }).innerText()).trim();
  expect(name).toMatch(/^[a-z]+-[a-z]+$/);

  const stage = page.locator('[data-part=stage]');
  const phase = stage.locator('[data-part=phase]');
  const rollouts = stage.locator('[data-part=live-rollout]');
  const slots = stage.locator('[data-part=step-slots]');
  await expect(phase).toHaveText(/Getting the model ready|Held-out evaluation/);
  await expect(slots).toHaveCount(0);
  await expect(rollouts.first()).toHaveText(/^(Held-out task 0|Rollout 1-0-0)\s/);
  await expect(phase).toHaveText('Playing conversations', { timeout: 150_000 });
  await expect(stage.getByText('step 1 of')).toBeVisible();
  // The page shows the words of an unfinished turn, and later a turn of the customer.
  await expect(rollouts.locator('.open').first()).toBeAttached({ timeout: 150_000 });
  await expect(rollouts.first()).toContainText('Customer');
  await expect(slots.getByText(/^Rollout \d+-\d+-\d+ is being played$/).first()).toBeAttached();
  await expect(slots.getByRole('link', { name: /^Rollout / })).not.toHaveCount(0, { timeout: 150_000 });
  await expect(slots.getByRole('link', { name: /^Group 1-/ })).not.toHaveCount(0);
  await expect(rollouts.filter({ hasText: /correct|wrong/ }).getByRole('link', { name: /^Rollout 1-0-/ })).not.toHaveCount(0, {
    timeout: 150_000,
  });
  // There are no decorative animations, because painting and training use the same cores.
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await moving(page)).toEqual([]);
  await inspect(page, 'live-stage');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('[data-part=status]').first()).toHaveText(/Stopped|Done/, { timeout: 150_000 });
  await expect(stage).toHaveCount(0);
  await expect(page.locator('[data-part=before-after]')).toBeVisible();

  const since = page.locator('[data-part=since-last]');
  await page.goto('/#/?preset=tiny&seed=4&val_tasks=2');
  await expect(since).toHaveText(`Since ${name}: nothing changed, so the new run will do the same.`);
  await page.goto('/#/?preset=tiny&seed=4&val_tasks=2&lr=0.002');
  await expect(since).toHaveText(new RegExp(`^Since ${name}: lr \\S+ → 0.002\\.$`));
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/);
  await expect(since).toHaveText(new RegExp(`^Since ${name}: lr \\S+ → 0.002\\. Compare the two$`));
  expect(problems).toEqual([]);
});
