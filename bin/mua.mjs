#!/usr/bin/env node
import { commandLine } from './bundle.mjs';

try {
  const { main } = await commandLine();
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  const { code, message } = error;
  const missing = code === 'ERR_MODULE_NOT_FOUND' && message.includes("'vite'");
  console.error(`mua: ${missing ? 'the packages are not installed: run npm ci in the project first' : message}`);
  if (process.env.MUA_DEBUG) console.error(error);
  process.exitCode = 1;
}
