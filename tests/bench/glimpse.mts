/**
 * How much held-out success the preset `glimpse` gains within a minute of pressing Start on the built page, for several seeds.
 * The clock starts at the click. An evaluation counts from the moment when the page has stored it. Every seed starts a new
 * browser, so that shaders are compiled again. Usage: npx tsx tests/bench/glimpse.mts [--seeds 5] [--first 42] [--within 60]
 *   [--set name=value …]   settings in place of the preset's; the page is built if its sources changed
 */
import { spawn } from 'node:child_process';
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';
import { mean } from '../../src/evaluation/pass-hat.ts';
import { pairedDifference, pairTrials } from '../../src/evaluation/paired.ts';
import type { EvaluationRow, Interval } from '../../src/records/evaluation.ts';
import type { RunRow, StepMetrics } from '../../src/records/run.ts';
import { launchOptions } from '../support/chromium.ts';

const PORT = 8022;
const ORIGIN = `http://127.0.0.1:${PORT}/`;
const POLL_MS = 250;
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5' },
    first: { type: 'string', default: '42' },
    within: { type: 'string', default: '60' },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const [seeds, first, within] = [Number(values.seeds), Number(values.first), Number(values.within)];

interface Seen {
  run?: RunRow;
  metrics: StepMetrics[];
  evaluations: EvaluationRow[];
}

/** The run, metrics and evaluations that the page has stored. */
const stored = (page: Page): Promise<Seen> =>
  page.evaluate(
    () =>
      new Promise<Seen>((resolve, reject) => {
        const opening = indexedDB.open('mua-runs');
        opening.onerror = () => reject(opening.error!);
        opening.onsuccess = () => {
          const db = opening.result;
          const reading = db.transaction(['runs', 'metrics', 'evaluations']);
          const [runs, metrics, evaluations] = ['runs', 'metrics', 'evaluations'].map((name) => reading.objectStore(name).getAll());
          reading.oncomplete = () => {
            db.close();
            resolve({
              run: (runs!.result as RunRow[])[0],
              metrics: (metrics!.result as { values: StepMetrics }[]).map((row) => row.values),
              evaluations: evaluations!.result as EvaluationRow[],
            });
          };
        };
      }),
  );

interface Point {
  step: number;
  /** Seconds after the click. */
  at: number;
  /** CPU seconds of all processes of the browser since the click. On a busy machine, they are a better measure than the clock. */
  cpu: number;
  row: EvaluationRow;
}

const percent = (value: number) => (100 * value).toFixed(1);
const interval = ({ value, low, high }: Interval) => `${percent(value)} % (${percent(low)} to ${percent(high)})`;
const seconds = (value: number) => `${value.toFixed(1)} s`;

const point = ({ step, at, cpu, row }: Point) =>
  `  step ${step}: ${percent(row.report.pass_hat[0]!.value)} % at ${seconds(at)}, after ${seconds(cpu)} of processor time`;

async function measure(seed: number): Promise<{ gain: number; slowest: number }> {
  const browser = await chromium.launch(launchOptions);
  try {
    const page = await browser.newPage();
    const devtools = await browser.newBrowserCDPSession();
    const cpuTime = async () => {
      const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
      return processInfo.reduce((sum, process) => sum + process.cpuTime, 0);
    };
    const settings = values.set.map((pair) => `&${pair}`).join('');
    await page.goto(`${ORIGIN}#/?preset=glimpse&seed=${seed}${settings}`);
    const button = page.getByRole('button', { name: 'Start training' });
    await button.waitFor();
    await page.waitForFunction(
      () => document.querySelector<HTMLButtonElement>('form[aria-label="New run"] button.primary')?.disabled === false,
    );
    const [cpuBefore, load, clicked] = [await cpuTime(), loadavg()[0]!, performance.now()];
    await button.click();
    const points: Point[] = [];
    let running = 0;
    let reported = 0;
    let seen: Seen;
    for (;;) {
      await page.waitForTimeout(POLL_MS);
      seen = await stored(page);
      const at = (performance.now() - clicked) / 1000;
      if (seen.run && seen.run.status !== 'starting') running ||= at;
      if (seen.metrics.length > reported) {
        reported = seen.metrics.length;
        console.error(
          `  seed ${seed}: ${reported - 1} steps at ${seconds(at)}, after ${seconds((await cpuTime()) - cpuBefore)} of processor time`,
        );
      }
      for (const row of seen.evaluations) {
        const step = row.model.kind === 'run' ? row.model.step : 0;
        if (points.some((known) => known.step === step)) continue;
        points.push({ step, at, cpu: (await cpuTime()) - cpuBefore, row });
        console.error(point(points.at(-1)!));
      }
      if (seen.run?.status === 'failed' || seen.run?.status === 'interrupted') throw new Error(`the run failed: ${seen.run.message}`);
      if (seen.run?.status === 'done') break;
    }
    points.sort((a, b) => a.step - b.step);
    const [before, end] = [points[0]!, points.at(-1)!];
    const inTime = points.findLast(({ at }) => at <= within) ?? before;
    const difference = pairedDifference(pairTrials(before.row.results, inTime.row.results))!;
    const steps = seen.metrics.filter(({ step }) => step > 0);
    const total = (name: string) => steps.reduce((sum, metrics) => sum + (metrics[name] ?? 0), 0);
    const unasked = ({ row }: Point) => row.results.filter(({ violations }) => violations.includes('unconfirmed_write')).length;
    const share = (at: Point) => `${percent(unasked(at) / at.row.results.length)} %`;
    console.log(
      [
        `seed ${seed} (load ${load.toFixed(1)} on ${availableParallelism()} cores)`,
        `  before ${interval(before.row.report.pass_hat[0]!)}; at ${within} s ${interval(inTime.row.report.pass_hat[0]!)}, gain ${interval({ ...difference, value: difference.difference })}; at the end ${interval(end.row.report.pass_hat[0]!)}`,
        `  conversations with a write without a yes: before ${share(before)}, at ${within} s ${share(inTime)}, at the end ${share(end)}`,
        `  start ${seconds(running)}; evaluations ${points.map(({ row }) => seconds(row.report.seconds)).join(' + ')}; ${steps.length} steps ${seconds(total('timing_s/step'))}: rollouts ${seconds(total('timing_s/gen'))}, reference ${seconds(total('timing_s/ref'))}, inspection ${seconds(total('timing_s/inspect'))}, update ${seconds(total('timing_s/update_actor'))}; first step ${seconds(steps[0]!['timing_s/step'] ?? 0)}`,
      ].join('\n'),
    );
    return { gain: difference.difference, slowest: end.at };
  } finally {
    await browser.close();
  }
}

const server = spawn('node', ['bin/mua.mjs', 'open', '--serve', '--port', String(PORT)], { stdio: ['ignore', 'ignore', 'inherit'] });
try {
  // The server answers when the page is built.
  for (let tries = 0; !(await fetch(ORIGIN).catch(() => null)); tries++) {
    if (tries === 1200) throw new Error('the page is not served');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const results: { gain: number; slowest: number }[] = [];
  for (let i = 0; i < seeds; i++) results.push(await measure(first + i));
  const enough = results.filter(({ gain }) => gain >= 0.15).length;
  console.log(
    `${enough} of ${seeds} seeds gained 15 points or more within ${within} s; mean gain ${percent(mean(results.map(({ gain }) => gain)))} points; the runs took ${results.map(({ slowest }) => seconds(slowest)).join(', ')}`,
  );
} finally {
  server.kill();
}
