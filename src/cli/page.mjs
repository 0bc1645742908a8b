// @ts-check
/** Runs one command in the built app in headless Chromium. */
import { launchChromium } from './browser.mjs';
import { builtSite } from './build.mjs';
import { CommandError, pageError } from './errors.mjs';
import { onInterrupt } from './files.mjs';
import { serveSite } from './server.mjs';

const NO_GPU =
  "On a machine without a GPU, Chromium needs its software renderer SwiftShader (part of Debian's chromium and of Google Chrome); " +
  'set MUA_CHROMIUM to another browser, or MUA_CHROMIUM_ARGS to further flags.';

/** A busy machine starts a browser slowly. */
const START_TIMEOUT_MS = 120_000;

/**
 * @typedef {object} PageJob
 * @property {import('./headless.ts').HeadlessRequest} request
 * @property {import('./files.mjs').ModelFolder} [model]
 * @property {PageRun[]} [runs] the runs of a training, in the order of the request
 * @property {PageCustomer[]} [customers] the customers of an evaluation, in the order of the request
 * @property {string} [data] a file that the page reads as text
 * @property {import('./benchmark-data.mjs').BenchmarkData} [benchmark] data that the page imports first
 * @property {{ baseUrl: string, apiKey?: string }} [userEndpoint]
 * @property {(name: string, body: Buffer) => Promise<void> | void} [onFile] a file that the page made
 * @property {import('./progress.mjs').ProgressBar} progress
 */

/**
 * @typedef {object} PageRun
 * @property {{ paths: Record<string, string> }} model
 * @property {{ logs: object, checkpoint: string } | null} interrupted where the run goes on
 * @property {(name: string, body: Buffer) => Promise<void> | void} receive gets what the page sends of the run
 */

/**
 * @typedef {object} PageCustomer
 * @property {string} [done] a file with the trials from before an interruption
 * @property {(trajectory: Buffer) => Promise<void> | void} receive gets each trial that has ended
 */

/**
 * @param {PageJob} job
 * @returns {Promise<any>} the command's result
 * @throws {CommandError | import('./errors.mjs').UsageError}
 */
export async function runInPage({ request, model, runs = [], customers = [], data, benchmark, userEndpoint, onFile, progress }) {
  const server = await serveSite(await builtSite((text) => progress.note(text)));
  /** @type {import('playwright-core').Browser | undefined} */
  let browser;
  const close = async () => {
    await browser?.close().catch(() => {});
    await server.close();
  };
  const cleanUp = onInterrupt(close);
  try {
    let result;
    let received = false;
    server.accept('result.json', (body) => {
      result = JSON.parse(body.toString('utf8'));
      received = true;
    });
    for (const [name, file] of Object.entries(model?.paths ?? {})) server.offer(`model/${name}`, { file });
    for (const [i, run] of runs.entries()) {
      for (const [name, file] of Object.entries(run.model.paths)) server.offer(`run/${i}/${name}`, { file });
      if (run.interrupted) {
        server.offer(`run/${i}/interrupted.json`, { data: JSON.stringify(run.interrupted.logs) });
        server.offer(`run/${i}/checkpoint.safetensors`, { file: run.interrupted.checkpoint });
      }
      server.accept(`run/${i}/*`, (body, name) => run.receive(name.slice(`run/${i}/`.length), body));
    }
    for (const [i, { done, receive }] of customers.entries()) {
      if (done) server.offer(`customer/${i}/done.jsonl`, { file: done });
      server.accept(`customer/${i}/trial`, receive);
    }
    if (data) server.offer('data.jsonl', { file: data });
    // By index, because paths may contain any character.
    benchmark?.files.forEach(([, file], i) => server.offer(`benchmark/${i}`, { file }));
    const imported = benchmark && {
      benchmark: { benchmark: benchmark.rules, domain: benchmark.domain, paths: benchmark.files.map(([path]) => path) },
    };
    if (onFile) server.accept('out/*', (body, name) => onFile(name.slice('out/'.length), body));
    const proxied = userEndpoint && { baseUrl: server.proxyUser(userEndpoint) };
    const throughProxy = (/** @type {any} */ user) => (user.mode === 'endpoint' ? { ...user, ...proxied } : user);
    const users = {
      ...('user' in request && { user: throughProxy(request.user) }),
      ...('customers' in request && {
        customers: request.customers.map((customer) => ({ ...customer, user: throughProxy(customer.user) })),
      }),
    };
    server.offer('request.json', { data: JSON.stringify({ ...request, ...users, ...imported, model: Object.keys(model?.paths ?? {}) }) });

    browser = await launchChromium();
    const page = await browser.newPage();
    page.setDefaultTimeout(START_TIMEOUT_MS);
    const died = new Promise((_, reject) => {
      const dead = (/** @type {string} */ why) =>
        reject(new CommandError(`the browser ${why}: perhaps memory ran out; try a smaller model or batch`));
      page.on('crash', () => dead('page crashed'));
      browser?.on('disconnected', () => dead('ended unexpectedly'));
    });
    died.catch(() => {}); // handled in the race below; always rejects when the browser closes
    await page.exposeFunction('muaProgress', progress.update.bind(progress));
    await page.exposeFunction('muaNote', (/** @type {string} */ text) => progress.note(`mua: ${text}`));
    if (process.env.MUA_DEBUG) page.on('console', (message) => progress.note(`[page] ${message.text()}`));
    page.on('pageerror', (error) => progress.note(`[page] ${error.message}`));
    const work = (async () => {
      await page.goto(`${server.origin}/headless.html`);
      await page.waitForFunction('typeof window.mua === "function"');
      return page.evaluate((exchange) => window.mua(exchange), server.exchange);
    })();
    work.catch(() => {}); // handled in the same race
    const { error } = /** @type {import('./headless.ts').HeadlessAnswer} */ (await Promise.race([work, died]));
    if (error?.name === 'GpuUnavailableError') throw new CommandError(`${error.message} ${NO_GPU}`);
    if (error) throw pageError(error);
    if (!received) throw new CommandError('the page gave no result');
    return result;
  } finally {
    cleanUp();
    progress.clear();
    await close();
  }
}
