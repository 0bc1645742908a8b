/** @file Headless Chromium with WebGPU. Without a GPU, WebGPU runs on SwiftShader. */
import type { Browser } from 'playwright-core';
import * as search from '../../scripts/find-chromium.mjs';
import { CommandError, UsageError } from './errors.ts';

/** @throws CommandError if no browser is found; the message says how to install one */
export function findChromium(): string {
  try {
    return search.findChromium();
  } catch (error) {
    const { message } = error as Error;
    throw process.env.MUA_CHROMIUM ? new UsageError(message) : new CommandError(message);
  }
}

/** @throws CommandError if no browser is found, or if it does not start */
export async function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  const asRoot = process.platform === 'linux' && process.getuid?.() === 0;
  const args = [
    ...(asRoot ? ['--no-sandbox'] : []),
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // Without this flag, headless Chromium on Linux has no WebGPU.
    '--enable-unsafe-webgpu',
    // Chromium needs a large /dev/shm, but in containers it is small.
    '--disable-dev-shm-usage',
    ...(process.env.MUA_CHROMIUM_ARGS ?? '').split(' ').filter(Boolean),
  ];
  // Import it only here, because Playwright is large and most commands do not need it.
  const { chromium } = await import('playwright-core');
  try {
    return await chromium.launch({ executablePath, args, headless: true, handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false });
  } catch (error) {
    throw new CommandError(`${executablePath} does not start: ${(error as Error).message.split('\n')[0]}`);
  }
}
