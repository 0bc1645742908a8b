/** Launch options of all browser tests: headless Chromium. Without a GPU, its WebGPU runs on SwiftShader. */
import { existsSync } from 'node:fs';

const candidates = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable'];
const executablePath = process.env.MUA_CHROMIUM ?? candidates.find((path) => existsSync(path));

export const launchOptions = {
  executablePath,
  args: [
    '--no-sandbox',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--enable-unsafe-webgpu',
    '--enable-precise-memory-info',
    '--js-flags=--expose-gc',
  ],
};
