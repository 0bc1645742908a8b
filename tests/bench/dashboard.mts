/**
 * Measures how much the dashboard slows down training. A run is trained twice from the same seed, so that both runs do the same
 * work. In the first run, the dashboard is on screen in even steps, and the page of settings in odd steps. In the second run it
 * is the other way round. For two steps in a row, the cost is the root of the product of two quotients: for each step, the time
 * with the dashboard divided by the time without it. A difference in the machine's speed between the runs cancels out.
 * Usage: npm run build && npx tsx tests/bench/dashboard.mts [--rounds 5] [--steps 7]
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';
import { launchOptions } from '../support/chromium.ts';

const PORT = 8021;
const ORIGIN = `http://127.0.0.1:${PORT}/`;
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, steps: { type: 'string', default: '7' } } });
const [rounds, steps] = [Number(values.rounds), Number(values.steps)];

const server = spawn('node', ['bin/mua.mjs', 'open', '--serve', '--port', String(PORT)], { stdio: 'ignore' });
const browser = await chromium.launch(launchOptions);
const devtools = await browser.newBrowserCDPSession();

/** Waits until a step has ended. Returns its seconds. */
async function ended(page: Page, run: string, step: number): Promise<number> {
  for (;;) {
    await page.waitForTimeout(250);
    const seconds = await page.evaluate(
      (key) =>
        new Promise<number | undefined>((resolve, reject) => {
          const opening = indexedDB.open('mua-runs');
          opening.onerror = () => reject(opening.error!);
          opening.onsuccess = () => {
            const db = opening.result;
            const request = db.transaction('metrics').objectStore('metrics').get(key);
            request.onsuccess = () => (
              db.close(),
              resolve((request.result as { values: Record<string, number> } | undefined)?.values['timing_s/step'])
            );
          };
        }),
      [run, step] as [string, number],
    );
    if (seconds !== undefined) return seconds;
  }
}

/** The CPU seconds of all processes except the GPU process: the page, and the JavaScript of its workers. */
async function otherCpu(): Promise<number> {
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  return processInfo.filter(({ type }) => type !== 'GPU').reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** The sums of all rounds, with the dashboard on screen and without. */
const total = { open: { cpu: 0, seconds: 0 }, away: { cpu: 0, seconds: 0 } };

/** The seconds of each step after the first, which warms up. `parity`: 0 if the dashboard is on screen in even steps, 1 if in odd. */
async function train(parity: 0 | 1): Promise<number[]> {
  const page = await browser.newPage();
  await page.goto(`${ORIGIN}#/?preset=tiny&train_batch_size=4&ppo_mini_batch_size=4&save_freq=0&seed=5&total_training_steps=${steps}`);
  await page.getByRole('button', { name: 'Start training' }).click();
  await page.waitForURL(/#\/runs\/[0-9a-f-]{36}/);
  const dashboard = page.url();
  const times: number[] = [];
  for (let step = 1; step <= steps; step++) {
    const where = step % 2 === parity ? 'open' : 'away';
    await page.goto(where === 'open' ? dashboard : `${ORIGIN}#/settings`);
    const [cpu, from] = [await otherCpu(), performance.now()];
    const seconds = await ended(page, dashboard.split('/').at(-1)!, step);
    if (step === 1) continue;
    times.push(seconds);
    total[where].cpu += (await otherCpu()) - cpu;
    total[where].seconds += (performance.now() - from) / 1000;
  }
  await page.close();
  return times;
}

try {
  for (let tries = 0; !(await fetch(ORIGIN).catch(() => null)); tries++) {
    if (tries === 100) throw new Error('the page is not served: run npm run build first');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [even, odd] = [await train(0), await train(1)];
    const own: number[] = [];
    for (let i = 0; i + 1 < even.length; i += 2) own.push(Math.sqrt((even[i]! / odd[i]!) * (odd[i + 1]! / even[i + 1]!)));
    costs.push(...own);
    const text = (times: number[]) => times.map((seconds) => seconds.toFixed(1)).join(' ');
    console.log(
      `round ${round + 1}: steps of ${text(even)} s and ${text(odd)} s; with the dashboard on screen ${own.map((cost) => cost.toFixed(3)).join(' ')} times as long`,
    );
  }
  costs.sort((a, b) => a - b);
  const mean = Math.exp(costs.reduce((sum, cost) => sum + Math.log(cost), 0) / costs.length);
  const error = Math.sqrt(costs.reduce((sum, cost) => sum + Math.log(cost / mean) ** 2, 0) / (costs.length - 1) / costs.length);
  const share = ({ cpu, seconds }: typeof total.open) => `${((100 * cpu) / seconds / availableParallelism()).toFixed(2)} %`;
  console.log(
    `with the dashboard on screen a step takes ${mean.toFixed(3)} ± ${error.toFixed(3)} times as long (geometric mean and its standard error of ${costs.length} pairs of steps; median ${costs[costs.length >> 1]!.toFixed(3)})`,
  );
  console.log(
    `all processes but the GPU's take ${share(total.open)} of the cores with the dashboard on screen, ${share(total.away)} without`,
  );
} finally {
  await browser.close();
  server.kill();
}
