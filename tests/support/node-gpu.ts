/** Gives tests that were written for a browser what they need of it in Node: WebGPU on lavapipe, and the files of the repository. */
import { readFile } from 'node:fs/promises';
import { dawn } from '../../src/trainer/node/dawn.ts';
import { lavapipeProblem, prepareLavapipe } from '../../src/trainer/node/lavapipe.ts';

if (prepareLavapipe()) {
  const problem = await lavapipeProblem();
  if (problem !== null) throw new Error(`lavapipe cannot be used: ${problem}`);
  Object.defineProperty(globalThis, 'navigator', { value: { gpu: dawn() }, configurable: true });
}

const { fetch } = globalThis;
/** Vite writes the address of a file as its path from the root of the repository. */
globalThis.fetch = async (input, init) =>
  typeof input === 'string' && input.startsWith('/') ? new Response(new Uint8Array(await readFile(`.${input}`))) : fetch(input, init);
