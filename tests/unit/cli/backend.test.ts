/** Which backend a command uses on a machine. */
import { expect, test } from 'vitest';
import { type BackendName, chooseBackend } from '../../../src/cli/backend.ts';

interface Case {
  gpu: boolean;
  /** Whether lavapipe is installed, and why it cannot be used. */
  lavapipe: 'none' | 'usable' | 'too old';
  asked?: BackendName;
  expected: BackendName;
  /** What the command says about its choice. */
  says?: RegExp;
}

test.each<Case>([
  { gpu: true, lavapipe: 'usable', expected: 'browser' },
  { gpu: true, lavapipe: 'usable', asked: 'node', expected: 'node' },
  { gpu: false, lavapipe: 'none', expected: 'browser' },
  { gpu: false, lavapipe: 'none', asked: 'node', expected: 'node' },
  { gpu: false, lavapipe: 'usable', expected: 'node', says: /no GPU: running in Node on lavapipe.*--on browser/ },
  { gpu: false, lavapipe: 'usable', asked: 'browser', expected: 'browser' },
  { gpu: false, lavapipe: 'usable', asked: 'node', expected: 'node' },
  { gpu: false, lavapipe: 'too old', expected: 'browser', says: /cannot be used \(it is of Mesa 22\)/ },
])('GPU $gpu, lavapipe $lavapipe, --on $asked: $expected', async ({ gpu, lavapipe, asked, expected, says }) => {
  const said: string[] = [];
  let prepared = false;
  const machine = {
    hasGpu: () => gpu,
    prepareLavapipe: () => (prepared = lavapipe !== 'none'),
    lavapipeProblem: async () => (lavapipe === 'usable' ? null : 'it is of Mesa 22'),
  };
  expect(await chooseBackend(asked, machine, (text) => said.push(text))).toBe(expected);
  if (says) expect(said).toEqual([expect.stringMatching(says)]);
  else expect(said).toEqual([]);
  // Vulkan reads the variables of lavapipe when it starts.
  if (expected === 'node' && !gpu && lavapipe !== 'none') expect(prepared).toBe(true);
});
