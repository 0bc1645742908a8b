// @ts-check
/** @file Finds the Chrome or Chromium that `mua` uses. Run as a program, it prints the path, or says how to install a browser. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

/** @type {Partial<Record<NodeJS.Platform, string>>} */
const HOW_TO_INSTALL = {
  darwin: 'install Google Chrome, or "brew install --cask chromium"',
  win32: 'install Google Chrome or Microsoft Edge',
};
const HOW_ON_LINUX = 'install it with "apt-get install chromium" (Debian), or your distribution\'s package';

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

/** @throws Error that says what is wrong with MUA_CHROMIUM, or how to install a browser @returns {string} its path */
export function findChromium() {
  const given = process.env.MUA_CHROMIUM;
  if (given) {
    if (!existsSync(given)) throw new Error(`MUA_CHROMIUM is "${given}": there is no such file`);
    return given;
  }
  const found = usualPaths().find((path) => existsSync(path));
  if (found) return found;
  throw new Error(`no Chrome or Chromium found: ${HOW_TO_INSTALL[process.platform] ?? HOW_ON_LINUX}, or set MUA_CHROMIUM to its path`);
}

if (isMainThread && process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    console.log(findChromium());
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}
