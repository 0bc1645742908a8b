/** Which unit test files run in a process of their own. */
import { expect, test } from 'vitest';
import { filesWithOwnProcess, needsOwnProcess } from '../../scripts/own-process.mjs';

test.each([
  ["vi.mock('../../src/base/format.ts');", true],
  ["vi.doMock('../../src/base/format.ts', () => ({}));", true],
  ["import 'fake-indexeddb/auto';", true],
  ["import { nodeSession } from '../../../src/trainer/node/session.ts';", true],
  ["  process.env.MUA_KEY = 'secret';", true],
  ["import { main } from '../../../src/cli/main.ts';", true],
  ['const mua = muaHere();', true],
  ["vi.spyOn(console, 'log');", false],
  ["vi.stubGlobal('fetch', answer);", false],
  ["expect(process.env.MUA_KEY === 'secret').toBe(true);", false],
])('%s: %s', (text, own) => {
  expect(needsOwnProcess(text)).toBe(own);
});

test('the list has files with such a text, and no others', () => {
  const files = filesWithOwnProcess();
  expect(files).toContain('tests/unit/cli/mcp.test.ts');
  expect(files).not.toContain('tests/unit/base/redact.test.ts');
});
