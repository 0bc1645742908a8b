/** The notices of the build: each package once, with its own texts. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, win32 } from 'node:path';
import { expect, test, vi } from 'vitest';
import { NOTICES, notices } from '../../../bin/notices.mjs';

type Generate = (this: { getModuleIds(): string[]; emitFile(file: object): void }) => void;

function written(modules: string[]): string {
  const plugin = notices();
  let text = '';
  const context = {
    getModuleIds: () => modules,
    emitFile: ({ fileName, source }: { fileName: string; source: string }) => {
      expect(fileName).toBe(NOTICES);
      text = source;
    },
  };
  (plugin.generateBundle as unknown as Generate).call(context);
  return text;
}

test('the packages, once each, with their license files', () => {
  const root = process.cwd();
  const of = (path: string) => `${root}/node_modules/${path}`;
  const text = written([
    of('svelte/src/index.js'),
    of('svelte/src/other.js'),
    `${root}/src/main.ts`,
    `\0${of('dexie/dist/dexie.mjs')}?commonjs`,
    of('@huggingface/jinja/dist/index.js'),
  ]);
  for (const name of ['svelte', 'dexie', '@huggingface/jinja']) {
    const { version } = JSON.parse(readFileSync(of(`${name}/package.json`), 'utf8')) as { version: string };
    expect(text.split(`${name} ${version} (`)).toHaveLength(2);
  }
  expect(text).toContain(readFileSync(of('svelte/LICENSE.md'), 'utf8').trim());
});

test('an MCP server that runs in the tab is named, with the license of its project', () => {
  const text = written([`${process.cwd()}/src/mcp/servers/memory.ts`]);
  expect(text).toContain('@modelcontextprotocol/server-memory 2026.8.31 (');
  expect(text).toContain('Contributions made by authors who originally licensed their work under the MIT License');
});

test('a package without a license fails the build; one without a file has its license and its author', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mua-notices-'));
  const add = (name: string, fields: object) => {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...fields }));
    return join(folder, 'node_modules', name, 'index.js');
  };
  expect(() => written([add('none', {})])).toThrow('none 1.0.0 has no license');
  expect(written([add('short', { license: 'MIT', author: { name: 'Ada' } })])).toBe('short 1.0.0 (MIT)\n\nCopyright Ada\n');
  rmSync(folder, { recursive: true });
});

test('the code of MCP servers is found on Windows, where only the bundler writes slashes', async () => {
  vi.resetModules();
  vi.doMock('node:path', () => win32);
  const { entryOf } = await import('../../../bin/mcp-servers.mjs');
  vi.doUnmock('node:path');
  expect(entryOf(`${process.cwd()}/src/mcp/servers/memory.ts`)).toContain('server-memory');
});
