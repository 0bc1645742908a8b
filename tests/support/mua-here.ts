/** Runs `mua` in the process of the test, which is faster than a process of its own. */
import { afterEach, beforeEach, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';

/**
 * Collects what the commands of each test print. Call it at the top level of a test file.
 * @returns runs a command: its exit status, and what it printed to stdout and stderr
 */
export function muaHere(): (...args: string[]) => Promise<{ code: number; said: string }> {
  let said: string[];
  beforeEach(() => {
    said = [];
    for (const method of ['log', 'error'] as const) vi.spyOn(console, method).mockImplementation((text: string) => void said.push(text));
  });
  afterEach(() => vi.restoreAllMocks());
  return async (...args) => ({ code: await main(args), said: said.splice(0).join('\n') });
}
