/**
 * Compares this engine with its peers in one headless Chromium: matmul with jax-js, a training step with jax-js and
 * TensorFlow.js, batched decoding with onnxruntime-web. Usage: npm run bench:peers [-- --only train,decode --rounds 3 --json]
 */
import { createServer } from 'vite';
import { parseArgs } from 'node:util';
import { launchChromium } from '../../../src/cli/browser.ts';
import { ROOT } from '../../../src/cli/build.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'train,decode' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };
const server = await createServer({
  root: ROOT,
  configFile: false,
  logLevel: 'error',
  server: { host: '127.0.0.1', port: 0, headers: isolation, watch: null, hmr: false },
  // Prepare all packages before a page is loaded.
  optimizeDeps: {
    include: [
      '@jax-js/jax',
      '@tensorflow/tfjs-core',
      '@tensorflow/tfjs-backend-webgpu',
      '@tensorflow/tfjs-core/dist/register_all_gradients',
      '@tensorflow/tfjs-core/dist/public/chained_ops/register_all_chained_ops',
    ],
    exclude: ['onnxruntime-web'],
    noDiscovery: true,
  },
});
await server.listen();
const browser = await launchChromium();
const run = async (name) => {
  // Each comparison gets a new page, so that it does not slow the next one.
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  page.on('console', (message) => console.error(message.text().slice(0, 500)));
  page.on('pageerror', (error) => console.error(error.message.slice(0, 500)));
  await page.goto(`${server.resolvedUrls.local[0]}tests/bench/peers/index.html`);
  await page.waitForFunction((function_) => function_ in window, name);
  const result = await page.evaluate(([function_, n]) => window[function_](n), [name, rounds]);
  await page.close();
  return result;
};
const show = ({ task, name, median_ms, tokens_per_s, gflops }) =>
  [
    task.padEnd(22),
    name.padEnd(24),
    `${median_ms.toFixed(1)} ms`.padStart(12),
    tokens_per_s ? `${tokens_per_s.toFixed(0)} tokens/s` : '',
    gflops ? `${gflops.toFixed(2)} GFLOP/s` : '',
  ].join('  ');

try {
  const only = values.only.split(',');
  const report = {};
  if (only.includes('train')) report.train = await run('compareTraining');
  if (only.includes('decode')) report.decode = await run('compareDecoding');
  const { train = [], decode } = report;
  report.ratios = {};
  if (train.length > 0) {
    const [ours, ...others] = train.filter((row) => row.task === 'train');
    const matmuls = train.filter((row) => row.task !== 'train').map((row) => row.gflops);
    for (const { name, median_ms } of others) report.ratios[`train_times ${name}`] = median_ms / ours.median_ms;
    report.ratios.train_share_of_best_matmul = ours.gflops / Math.max(...matmuls);
    report.ratios.largest_loss_difference = Math.max(
      ...others.flatMap(({ losses }) => losses.map((loss, i) => Math.abs(loss - ours.losses[i]))),
    );
  }
  if (decode) {
    const [ours, ...others] = decode.rows;
    for (const { name, median_ms } of others) report.ratios[`decode_times ${name}`] = median_ms / ours.median_ms;
    report.ratios.decode_same_tokens = decode.sameTokens;
  }
  if (values.json) console.log(JSON.stringify(report));
  else {
    for (const row of [...train, ...(decode?.rows ?? [])]) console.log(show(row));
    for (const [name, value] of Object.entries(report.ratios)) console.log(`${name}: ${Number(value.toPrecision(3))}`);
  }
} finally {
  await browser.close();
  await server.close();
}
