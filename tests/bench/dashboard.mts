/**
 * What watching costs: the same run (same seed, so the same work) with its dashboard on screen and with the page of
 * settings, in turn. Usage: npm run build && npx tsx tests/bench/dashboard.mts [--rounds 3] [--steps 6]
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { launchOptions } from '../support/chromium.ts';

const PORT = 8021;
const ORIGIN = `http://127.0.0.1:${PORT}/`;
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' }, steps: { type: 'string', default: '6' } } });
const [rounds, steps] = [Number(values.rounds), Number(values.steps)];

const server = spawn('node', ['bin/mua.mjs', 'open', '--serve', '--port', String(PORT)], { stdio: 'ignore' });
const browser = await chromium.launch(launchOptions);

/** Seconds of each step after the first, which warms up. */
async function train(watched: boolean): Promise<number[]> {
  const page = await browser.newPage();
  await page.goto(`${ORIGIN}#/?preset=tiny&train_batch_size=4&ppo_mini_batch_size=4&save_freq=0&seed=5&total_training_steps=${steps}`);
  await page.getByRole('button', { name: 'Start training' }).click();
  await page.waitForURL(/#\/runs\/[0-9a-f-]{36}/);
  const run = page.url().split('/').at(-1)!;
  if (!watched) await page.goto(`${ORIGIN}#/settings`);
  for (;;) {
    await page.waitForTimeout(1000);
    const seconds = await page.evaluate(
      ([run, steps]) =>
        new Promise<number[] | null>((resolve, reject) => {
          const opening = indexedDB.open('mua-runs');
          opening.onerror = () => reject(opening.error!);
          opening.onsuccess = () => {
            const db = opening.result;
            const request = db.transaction('metrics').objectStore('metrics').getAll(IDBKeyRange.bound([run, 1], [run, steps]));
            request.onsuccess = () => (db.close(), resolve(request.result.length < steps ? null : request.result.map(({ values }) => values['timing_s/step'] as number)));
          };
        }),
      [run, steps] as const,
    );
    if (!seconds) continue;
    await page.close();
    return seconds.slice(1);
  }
}

try {
  for (let tries = 0; !(await fetch(ORIGIN).catch(() => null)); tries++) {
    if (tries === 100) throw new Error('the page is not served: run npm run build first');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 ? [true, false] : [false, true];
    const times = new Map<boolean, number[]>();
    for (const watched of order) times.set(watched, await train(watched));
    const [away, open] = [times.get(false)!, times.get(true)!];
    ratios.push(...open.map((seconds, i) => seconds / away[i]!));
    const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);
    console.log(`round ${round + 1}: ${sum(away).toFixed(1)} s away, ${sum(open).toFixed(1)} s with the dashboard open`);
  }
  ratios.sort((a, b) => a - b);
  const at = (share: number) => ratios[Math.round(share * (ratios.length - 1))]!;
  console.log(`time of a step with the dashboard open, of the same step without: median ${at(0.5).toFixed(3)}, quartiles ${at(0.25).toFixed(3)} to ${at(0.75).toFixed(3)}, ${ratios.length} steps`);
} finally {
  await browser.close();
  server.kill();
}
