/**
 * @file Undoes the stubs of a unit test file, and fails the file if it leaves its process changed: the next file runs in the same process,
 * unless scripts/own-process.mjs says otherwise.
 */
import { readFileSync } from 'node:fs';
import { afterAll, expect, vi } from 'vitest';
import { needsOwnProcess } from '../../scripts/own-process.mjs';

const NAMES = Object.getOwnPropertyNames(globalThis);
/** The folder, the variables of the environment and the platform's objects. */
const state = () =>
  new Map<string, unknown>([
    ['process.cwd()', process.cwd()],
    ...Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, value] as const),
    ...NAMES.map((name) => [`globalThis.${name}`, Reflect.get(globalThis, name)] as const),
  ]);
const before = state();

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  if (needsOwnProcess(readFileSync(expect.getState().testPath!, 'utf8'))) return;
  const after = state();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter((name) => !Object.is(before.get(name), after.get(name)));
  expect(changed, 'what this file leaves changed in its process').toEqual([]);
});
