/**
 * The `test` of almost all specs. The pages of one worker share a browser context, so that the browser compiles the app only
 * once. A first load in a new context costs three times the processor time of a later load. Each test begins with
 * one empty page and empty storage.
 */
import { test as base, type BrowserContext } from '@playwright/test';

export const test = base.extend<object, { sharedContext: BrowserContext }>({
  sharedContext: [
    async ({ browser }, use, { project }) => {
      const context = await browser.newContext({ baseURL: project.use.baseURL });
      await use(context);
      await context.close();
    },
    { scope: 'worker' },
  ],
  context: ({ sharedContext }, use) => use(sharedContext),
  page: async ({ context, baseURL }, use) => {
    const page = await context.newPage();
    const devtools = await context.newCDPSession(page);
    await devtools.send('Storage.clearDataForOrigin', { origin: new URL(baseURL!).origin, storageTypes: 'all' });
    await devtools.detach();
    await use(page);
    await Promise.all(context.pages().map((open) => open.close()));
  },
});
