/** A run survives a crash of the GPU process, a full storage, and a second tab that also wants to train. */
import { stat } from 'node:fs/promises';
import { expect, type Page } from '@playwright/test';
import type { RolloutSummary } from '../../src/records/rollout.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';
import { launchOptions } from '../support/chromium.ts';
import { reportFaults } from '../support/faults.ts';
import { stored } from './storage.ts';
import { test } from './test.ts';

const TEST = 'tests/e2e/recovery.spec.ts';
const STEP_TIMEOUT = 150_000;
const run = (page: Page) => page.getByRole('region', { name: 'Run', exact: true });
/** The number of finished steps. The text next to it names the current step. */
const step = (page: Page) =>
  run(page)
    .getByLabel('Steps of the run')
    .evaluate((bar) => (bar as HTMLProgressElement).value);
const reaches = (page: Page, target: number) =>
  expect.poll(() => step(page), { timeout: STEP_TIMEOUT, message: `step ${target}` }).toBeGreaterThanOrEqual(target);

/** A run of short steps that a test stops: a browser takes up to 30 s to notice that its storage is full, and trains on until then. */
async function startTiny(page: Page): Promise<void> {
  await page.goto('/#/?preset=tiny&seed=5&val_tasks=0&n=2&filter_groups=false&max_turns=6&total_training_steps=1000');
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/);
}

/** Every sampled token with its log-probability, by step. */
async function sampled(page: Page, run: string): Promise<string[]> {
  const [rollouts, trajectories] = await Promise.all([stored<Rollout>(page, 'rollouts'), stored<Text>(page, 'trajectories')]);
  const steps = new Map(rollouts.map((row) => [`${row.run} ${row.id}`, row.step]));
  return trajectories
    .filter((row) => row.run === run)
    .map(({ id, nodes }) => `${steps.get(`${run} ${id}`)}: ${nodes.map(({ tokens, logprobs }) => [tokens, logprobs].join()).join()}`)
    .sort();
}
type Rollout = RolloutSummary & { run: string };
type Text = Trajectory & { run: string };

test('the GPU process dies in a rollout and in an update: the run goes on by itself, to the same tokens', async ({
  playwright,
  baseURL,
}) => {
  test.slow();
  // Without this flag, Chromium refuses the page a GPU for two minutes after the second loss of the GPU.
  const args = [...launchOptions.args, '--disable-domain-blocking-for-3d-apis'];
  const browser = await playwright.chromium.launch({ ...launchOptions, args });
  const page = await (await browser.newContext({ baseURL, serviceWorkers: 'block' })).newPage();
  const status = run(page).locator('[data-part=status]');
  const start = async () => {
    await page.goto('/#/?preset=tiny&seed=5&val_tasks=0&max_turns=8&total_training_steps=2');
    await page.getByRole('button', { name: 'Start training' }).click();
    await expect(page).toHaveURL(/#\/runs\/[0-9a-f-]{36}/);
    return /runs\/([0-9a-f-]{36})/.exec(page.url())![1]!;
  };
  const whole = await start();
  await expect(status).toHaveText('Done', { timeout: STEP_TIMEOUT });
  const hurt = await start();
  const cdp = await browser.newBrowserCDPSession();
  for (const [after, phase] of [
    [1, 'Playing conversations'],
    [1, 'Updating the weights'],
  ] as const) {
    await reaches(page, after);
    await page.waitForFunction((text) => document.querySelector('[data-part=phase]')?.textContent.includes(text), phase, {
      polling: 'raf',
      timeout: STEP_TIMEOUT,
    });
    await cdp.send('Browser.crashGpuProcess').catch(() => {}); // No answer comes, because the process is dead.
    await expect(status).toHaveText(/Interrupted|Starting/, { timeout: 60_000 });
  }
  await expect(status).toHaveText('Done', { timeout: 2 * STEP_TIMEOUT });
  expect(await sampled(page, hurt)).toEqual(await sampled(page, whole));
  await browser.close();
  reportFaults({
    fault: 'the GPU process is killed, twice within two minutes',
    how: 'Browser.crashGpuProcess in a rollout and in an update, in Chromium',
    times: 2,
    lost: 'the current step; training continued by itself, and all tokens and log-probabilities equal those of a run without a fault',
    test: TEST,
  });
});

test('a full storage: no run starts, a run under way pauses with its model at hand, and then goes on', async ({
  page,
  context,
  baseURL,
}) => {
  test.slow();
  const cdp = await context.newCDPSession(page);
  const { origin } = new URL(baseURL!);
  const room = (quotaSize?: number) =>
    cdp.send('Storage.overrideQuotaForOrigin', { origin, ...(quotaSize !== undefined && { quotaSize }) });
  const status = run(page).locator('[data-part=status]');
  await page.goto('/');
  await room(300_000);
  await startTiny(page);
  await expect(status).toHaveText(/Failed/, { timeout: 60_000 });
  await expect(run(page)).toContainText('the browser has no room for 3 checkpoints of the run: free some space on the disk');
  await room();
  await page.getByRole('button', { name: 'Resume' }).click();
  await reaches(page, 1);
  await room(1);
  await expect(status).toHaveText(/Paused/, { timeout: STEP_TIMEOUT });
  await expect(run(page)).toContainText(/Paused, as .+ is not stored: the browser has no room for .+ Resume stores it\./);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the model' }).click();
  const file = await saved;
  expect(file.suggestedFilename()).toMatch(/\.zip$/);
  expect((await stat(await file.path())).size).toBeGreaterThan(100_000);
  const before = await step(page);
  await room();
  await page.getByRole('button', { name: 'Resume' }).click();
  await reaches(page, before + 1);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(status).toHaveText('Stopped', { timeout: STEP_TIMEOUT });
  reportFaults({
    fault: 'the storage is full',
    how: 'Storage.overrideQuotaForOrigin before and during a run, in Chromium',
    times: 2,
    lost: 'nothing',
    test: TEST,
  });
});

test('a worker that throws, hangs or is gone: the page says so, starts new workers, and the run can go on', async ({ page }) => {
  test.slow();
  await startTiny(page);
  await reaches(page, 1);
  const status = run(page).locator('[data-part=status]');
  const inWorker = async (name: string, fault: () => void) => {
    await expect.poll(() => page.workers().filter((worker) => worker.url().includes(name)).length).toBe(1);
    await page
      .workers()
      .find((worker) => worker.url().includes(name))!
      .evaluate(fault);
  };
  const goesOn = async () => {
    await expect(status).toHaveText('Interrupted');
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect(status).toHaveText('Training', { timeout: STEP_TIMEOUT });
  };
  const faults: [string, () => void][] = [
    ['user.worker', () => self.close()],
    ['environment.worker', () => void setTimeout(() => { for (;;); })], // prettier-ignore
  ];
  for (const [name, fault] of faults) {
    await inWorker(name, fault);
    await expect(page.getByText(`The ${name.split('.')[0]} worker has not answered for ten seconds`)).toBeVisible({ timeout: 20_000 });
    await page.getByRole('button', { name: 'Start new workers' }).click();
    await goesOn();
  }
  const step = (await page.locator('[data-part=step]').textContent())!;
  await inWorker('trainer.worker', () => void setTimeout(() => { throw new Error('injected'); })); // prettier-ignore
  await expect(
    page.getByText(/the trainer worker failed: .*injected.* New workers were started\. What was saved is still there/),
  ).toBeVisible();
  await goesOn();
  expect(step).toMatch(/^Step \d+ of/);
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(status).toHaveText('Stopped', { timeout: STEP_TIMEOUT });
  reportFaults({
    fault: 'a worker disappears, hangs or throws while a run trains',
    how: 'self.close, an endless loop and an uncaught error, each in another worker, in Chromium',
    times: 3,
    lost: 'the current step; the run continued with new workers',
    test: TEST,
  });
});

test('a second tab sees that another one trains, and may when that one is gone', async ({ page, context }) => {
  test.slow();
  await startTiny(page);
  const second = await context.newPage();
  await second.goto('/');
  await expect(second.getByText(/another tab/i).first()).toBeVisible();
  await expect(second.getByRole('button', { name: 'Start training' })).toBeDisabled();
  await page.close();
  await expect(second.getByRole('button', { name: 'Start training' })).toBeEnabled({ timeout: 60_000 });
});

test('a tab that is older than the storage says so, reads, and stores nothing', async ({ page }) => {
  await page.goto('/#/runs');
  const old = page.getByText('This tab is older than the data in this browser.');
  await expect(page.getByRole('table').first()).toBeVisible();
  await expect(old).toBeHidden();
  const version = await page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const upgrade = indexedDB.open('mua-runs', 90);
        upgrade.onerror = () => reject(upgrade.error!);
        upgrade.onsuccess = () => {
          upgrade.result.close();
          resolve(upgrade.result.version);
        };
      }),
  );
  expect(version).toBe(90);
  await page.goto('/#/?preset=tiny&val_tasks=0&total_training_steps=1');
  await expect(old).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start training' })).toBeEnabled({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Start training' }).click();
  await expect(page.getByText('reload the page to use that version')).toBeVisible();
  await page.getByRole('button', { name: 'Reload' }).click();
  await expect(old).toBeVisible();
  expect((await page.evaluate(() => indexedDB.databases())).find(({ name }) => name === 'mua-runs')!.version).toBe(90);
  reportFaults({
    fault: 'a newer version of the app upgrades the storage',
    how: 'the version is raised while a tab is open, in Chromium',
    times: 1,
    lost: 'nothing: the old tab only reads',
    test: TEST,
  });
});
