/** @file Does the work of a command in the built app in headless Chromium. */
import type { Browser } from 'playwright-core';
import { launchChromium } from './browser.ts';
import { builtSite } from './build.ts';
import { CommandError, errorOfWork } from './errors.ts';
import { offerFolders } from './customer-folder.ts';
import { onInterrupt } from './files.ts';
import type { HeadlessAnswer } from './headless.ts';
import { type Backend, withEndpoints } from './backend-job.ts';
import { serveSite } from './server.ts';

const NO_GPU =
  "On a machine without a GPU, Chromium needs its software renderer SwiftShader (part of Debian's chromium and of Google Chrome); " +
  'set MUA_CHROMIUM to another browser, or MUA_CHROMIUM_ARGS to further flags.';

/** A long time, because a browser starts slowly on a busy machine. */
const START_TIMEOUT_MS = 120_000;

export const workInPage: Backend = async ({ request, files, userEndpoint, folders, progress }) => {
  progress.phase('looking for changes of the app');
  const server = await serveSite(await builtSite(progress), { files });
  let browser: Browser | undefined;
  const close = async () => {
    await browser?.close().catch(() => {});
    await server.close();
  };
  const cleanUp = onInterrupt(close);
  try {
    let result: string | undefined;
    files.accept('result.json', (body) => void (result = body.toString('utf8')));
    const proxy = userEndpoint && server.proxyUser(userEndpoint);
    const order = withEndpoints(request, (user) => ({ ...user, ...(proxy !== undefined && { baseUrl: proxy }) }));
    files.offer('request.json', { data: JSON.stringify({ ...order, folders: offerFolders(files, folders) }) });

    progress.phase('starting the browser');
    browser = await launchChromium();
    const page = await browser.newPage();
    page.setDefaultTimeout(START_TIMEOUT_MS);
    const died = new Promise<never>((_, reject) => {
      const dead = (why: string) => reject(new CommandError(`the browser ${why}: perhaps memory ran out; try a smaller model or batch`));
      page.on('crash', () => dead('page crashed'));
      browser?.on('disconnected', () => dead('ended unexpectedly'));
    });
    died.catch(() => {}); // handled in the race below; this promise always rejects when the browser closes
    await page.exposeFunction('muaProgress', progress.update.bind(progress));
    // The page knows the server only by the address of the proxy.
    const [inner, given] = proxy && userEndpoint ? [new URL(proxy).origin, new URL(userEndpoint.baseUrl).origin] : ['', ''];
    await page.exposeFunction('muaActivity', (text: string) => progress.activity(inner ? text.replaceAll(inner, given) : text));
    await page.exposeFunction('muaNote', (text: string) => progress.note(`mua: ${text}`));
    if (process.env.MUA_DEBUG) page.on('console', (message) => progress.note(`[page] ${message.text()}`));
    page.on('pageerror', (error) => progress.note(`[page] ${error.message}`));
    const work = (async (): Promise<HeadlessAnswer> => {
      await page.goto(`${server.origin}/headless.html`);
      await page.waitForFunction('typeof window.mua === "function"');
      progress.phase('opening the GPU');
      return page.evaluate((exchange) => window.mua(exchange), server.exchange);
    })();
    work.catch(() => {}); // the same race reports this error
    const { error } = await Promise.race([work, died]);
    if (error?.name === 'GpuUnavailableError') throw new CommandError(`${error.message} ${NO_GPU}`);
    if (error) throw errorOfWork(error);
    if (result === undefined) throw new CommandError('the page returned no result');
    return JSON.parse(result) as unknown;
  } finally {
    cleanUp();
    progress.clear();
    await close();
  }
};
