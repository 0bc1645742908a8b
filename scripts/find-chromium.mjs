/** Prints the path of the Chrome or Chromium that `mua` uses, or says how to get one. */
import { findChromium } from '../src/cli/browser.mjs';

try {
  console.log(findChromium());
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
