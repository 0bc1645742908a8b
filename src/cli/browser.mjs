// @ts-check
/** Headless Chromium with WebGPU. Without a GPU, WebGPU runs on SwiftShader. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CommandError, UsageError } from './errors.mjs';

const HOW_TO_INSTALL = {
  linux: 'install it with "apt-get install chromium" (Debian), or your distribution\'s package',
  darwin: 'install Google Chrome, or "brew install --cask chromium"',
  win32: 'install Google Chrome or Microsoft Edge',
};

/** @returns {string[]} */
function usualPaths() {
  const { platform, env } = process;
  if (platform === 'darwin') {
    return ['Google Chrome', 'Chromium', 'Google Chrome Canary', 'Microsoft Edge'].map(
      (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
    );
  }
  if (platform === 'win32') {
    const roots = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter((root) => root !== undefined);
    return roots.flatMap((root) =>
      ['Google\\Chrome\\Application\\chrome.exe', 'Chromium\\Application\\chrome.exe', 'Microsoft\\Edge\\Application\\msedge.exe'].map(
        (path) => join(root, path),
      ),
    );
  }
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'];
  return ['/usr/bin', '/usr/local/bin', '/snap/bin', ...(env.PATH ?? '').split(':').filter(Boolean)].flatMap((folder) =>
    names.map((name) => join(folder, name)),
  );
}

/** @throws {CommandError} if no browser is found; the message says how to install one */
export function findChromium() {
  const given = process.env.MUA_CHROMIUM;
  if (given) {
    if (!existsSync(given)) throw new UsageError(`MUA_CHROMIUM is "${given}": there is no such file`);
    return given;
  }
  const found = usualPaths().find((path) => existsSync(path));
  if (found) return found;
  const how = HOW_TO_INSTALL[/** @type {'linux'} */ (process.platform)] ?? HOW_TO_INSTALL.linux;
  throw new CommandError(`no Chrome or Chromium found: ${how}, or set MUA_CHROMIUM to its path`);
}

export async function launchChromium() {
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
    // /dev/shm is small in containers.
    '--disable-dev-shm-usage',
    ...(process.env.MUA_CHROMIUM_ARGS ?? '').split(' ').filter(Boolean),
  ];
  try {
    return await chromium.launch({ executablePath, args, headless: true, handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false });
  } catch (error) {
    throw new CommandError(`${executablePath} does not start: ${/** @type {Error} */ (error).message.split('\n')[0]}`);
  }
}
