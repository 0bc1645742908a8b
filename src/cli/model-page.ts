/** @file Runs a text-generation model that plays customers in a page of headless Chromium, because Node has no runtime for its worker. */
import type { Browser } from 'playwright-core';
import type { LocalModelWorker } from '../local/api.ts';
import type { ModelWorker } from '../local/spawn.ts';
import { launchChromium } from './browser.ts';
import { type BuildProgress, builtSite } from './build.ts';
import { type CustomerFolder, offerFolders } from './customer-folder.ts';
import { JobFiles } from './job-files.ts';
import { serveSite } from './server.ts';

/**
 * Starts a browser with the model. If this fails, the first request fails.
 * @param folders the folders that the model may be in
 */
export function modelInPage(progress: BuildProgress, folders: readonly CustomerFolder[] = []): ModelWorker {
  let die: (error: Error) => void = () => {};
  const death = new Promise<never>((_, reject) => (die = reject));
  death.catch(() => {}); // each request also waits for this promise and reports the error
  const opened = (async () => {
    const files = new JobFiles();
    const orders = offerFolders(files, folders);
    const server = await serveSite(await builtSite(progress), { files });
    let browser: Browser | undefined;
    try {
      browser = await launchChromium();
      browser.on('disconnected', () => die(new Error('the browser ended')));
      const page = await browser.newPage();
      page.on('crash', () => die(new Error('the page crashed: perhaps memory ran out')));
      await page.goto(`${server.origin}/headless.html`);
      await page.waitForFunction('typeof window.muaModel === "function"');
      await page.evaluate(([exchange, kept]) => window.muaKeep(exchange, kept), [server.exchange, orders] as const);
      return { server, browser, page };
    } catch (error) {
      await browser?.close();
      await server.close();
      throw error;
    }
  })();
  opened.catch(() => {});
  const ask = async <Method extends keyof LocalModelWorker>(
    method: Method,
    argument?: object,
  ): Promise<Awaited<ReturnType<LocalModelWorker[Method]>>> => {
    const { page } = await opened;
    const answer = await page.evaluate(([name, value]) => window.muaModel(name, value), [method, argument] as const);
    return answer as Awaited<ReturnType<LocalModelWorker[Method]>>;
  };
  return {
    model: { load: (config) => ask('load', config), generate: (request) => ask('generate', request), stop: () => ask('stop') },
    death,
    terminate: () =>
      void opened
        .then(async ({ server, browser }) => {
          await browser.close();
          await server.close();
        })
        .catch(() => {}),
  };
}
