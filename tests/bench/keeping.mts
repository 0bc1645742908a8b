/**
 * Measures the share of a run's time in which steps and checkpoints are stored (`timing_s/store_before`). The page trains one run
 * of nano, with a checkpoint after each step.
 * Usage: npm run build && npx tsx tests/bench/keeping.mts [--steps 8]
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { launchOptions } from '../support/chromium.ts';

const ORIGIN = 'http://127.0.0.1:8022/';
const { values } = parseArgs({ options: { steps: { type: 'string', default: '8' } } });

const server = spawn('node', ['bin/mua.mjs', 'open', '--serve', '--port', '8022'], { stdio: 'ignore' });
const browser = await chromium.launch(launchOptions);
try {
  const page = await browser.newPage();
  for (let tries = 0; tries < 50; tries++) {
    const is = await fetch(ORIGIN).catch(() => null);
    if (is?.ok) break;
    await page.waitForTimeout(200);
  }
  await page.goto(`${ORIGIN}#/?preset=nano&val_tasks=0&save_freq=1&total_training_steps=${values.steps}`);
  await page.getByRole('button', { name: 'Start training' }).click();
  await page.waitForURL(/#\/runs\/[0-9a-f-]{36}/);
  await page.locator('[data-part=status]').getByText('Done').waitFor({ timeout: 3_600_000 });
  const metrics = await page.evaluate(
    () =>
      new Promise<Record<string, number>[]>((resolve, reject) => {
        const opening = indexedDB.open('mua-runs');
        opening.onerror = () => reject(opening.error!);
        opening.onsuccess = () => {
          const request = opening.result.transaction('metrics').objectStore('metrics').getAll();
          request.onsuccess = () => resolve((request.result as { values: Record<string, number> }[]).map((row) => row.values));
        };
      }),
  );
  const stored = metrics.map((row) => row['timing_s/store_before']).filter((seconds) => seconds !== undefined);
  // No row contains the time in which the last step was stored.
  const steps = metrics.map((row) => row['timing_s/step']!).slice(0, stored.length);
  const total = (seconds: readonly number[]) => seconds.reduce((sum, value) => sum + value, 0);
  const [mine, all] = [total(stored), total(stored) + total(steps)];
  const shares = stored.map((seconds, i) => (100 * seconds) / (seconds + steps[i]!));
  console.log(`storing ${mine.toFixed(2)} s of ${all.toFixed(1)} s: ${((100 * mine) / all).toFixed(2)} %`);
  console.log(`by step: ${shares.map((share) => share.toFixed(2)).join(', ')} %`);
} finally {
  await browser.close();
  server.kill();
}
