/** @file Which unit test files need a process of their own. The others share processes, which saves half a second for each file. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What lasts until the end of a process: replaced modules, the database in memory, variables of the environment (transformers.js sets one),
 * and worlds that are added or replaced, also by commands.
 */
const LASTS = [
  /\bvi\.(mock|doMock|resetModules)\(/,
  /fake-indexeddb|node\/(indexed-db|session)\.ts|support\/tab\.ts/,
  /process\.env\.\w+ = |@huggingface\/transformers'/,
  // Needs a process in which nothing has defined Worker.
  /Worker is not defined/,
  /\b(addDomain|replaceWorld|connectWith|muaHere)\b|\/cli\/(main|world)\.ts/,
];

/** @param {string} text the source of a test file */
export const needsOwnProcess = (text) => LASTS.some((pattern) => pattern.test(text));

/** The unit test files that need a process of their own, as paths from the root of the repository. */
export const filesWithOwnProcess = () =>
  readdirSync('tests/unit', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => needsOwnProcess(readFileSync(file, 'utf8')))
    .sort();
