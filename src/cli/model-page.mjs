// @ts-check
/** A text-generation model that plays customers, in a page of headless Chromium: Node has no runtime for its worker. */
import { launchChromium } from './browser.mjs';
import { builtSite } from './build.mjs';
import { serveSite } from './server.mjs';

/**
 * Starts a browser. Its failure is the failure of the first request.
 * @param {(text: string) => void} note
 * @returns {import('../local/spawn.ts').ModelWorker}
 */
export function modelInPage(note) {
  /** @type {(error: Error) => void} */
  let die = () => {};
  const death = /** @type {Promise<never>} */ (new Promise((_, reject) => (die = reject)));
  death.catch(() => {}); // each request waits for it too
  const opened = (async () => {
    const server = await serveSite(await builtSite(note));
    /** @type {import('playwright-core').Browser | undefined} */
    let browser;
    try {
      browser = await launchChromium();
      browser.on('disconnected', () => die(new Error('the browser ended')));
      const page = await browser.newPage();
      page.on('crash', () => die(new Error('the page crashed: perhaps memory ran out')));
      await page.goto(`${server.origin}/headless.html`);
      await page.waitForFunction('typeof window.muaModel === "function"');
      return { server, browser, page };
    } catch (error) {
      await browser?.close();
      await server.close();
      throw error;
    }
  })();
  opened.catch(() => {});
  /**
   * @param {keyof import('../local/api.ts').LocalModelWorker} method
   * @param {object} [argument]
   * @returns {Promise<any>}
   */
  const ask = async (method, argument) => {
    const { page } = await opened;
    return page.evaluate(([name, value]) => window.muaModel(name, value), /** @type {const} */ ([method, argument]));
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
