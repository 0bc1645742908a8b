/** The time limit of the import of a scenario file. The worker is replaced. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { importScenario } from '../../../src/app/clients/import-scenario.ts';

interface Browser {
  importScenario(file: File, name: string, onProgress: (checked: number) => void): Promise<unknown>;
}
let importFile: Browser['importScenario'];
let end: (reason: Error) => void;
vi.mock('../../../src/app/clients/worlds-client.ts', () => ({
  askWorlds: (question: (browser: Browser) => Promise<unknown>) =>
    Promise.race([question({ importScenario: importFile }), new Promise((_, reject) => (end = reject))]),
  endWorlds: (reason: Error) => end(reason),
}));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const file = new File(['{}'], 'slow.json');

test('ends the worker after five minutes without a checked task', async () => {
  let check = (_: number) => {};
  importFile = (_file, _name, onProgress) => {
    check = onProgress;
    return new Promise(() => {});
  };
  const checked: number[] = [];
  let problem = '';
  void importScenario(file, (n) => void checked.push(n)).catch((error: Error) => (problem = error.message));
  await vi.advanceTimersByTimeAsync(299_000);
  check(1);
  await vi.advanceTimersByTimeAsync(299_000);
  expect(problem).toBe('');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(problem).toBe('the checks of slow.json made no progress for 300 s and were ended');
  expect(checked).toEqual([0, 1]);
});

test('an import that ends leaves no timer', async () => {
  importFile = () => Promise.resolve({ name: 'lockers@00000000' });
  expect(await importScenario(file)).toEqual({ name: 'lockers@00000000' });
  expect(vi.getTimerCount()).toBe(0);
});
