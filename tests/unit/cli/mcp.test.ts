/** `mua mcp`: what is printed, and the exit codes. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { type FakeHttp, fakeHttp, json, SILENT, text, tool } from '../../support/mcp-servers.ts';
import { startMua } from '../../support/mua.ts';
import { isRunning } from '../../support/processes.ts';

// Each command would start a thread that repeats its newest line.
vi.mock('../../../bin/beat.mjs', async (original) => ({
  ...(await original<object>()),
  Beat: class {
    set() {}
    wrote() {}
    pause() {}
    end() {}
  },
}));

const MEMORY = `'${process.execPath}' node_modules/@modelcontextprotocol/server-memory/dist/index.js`;
const FILE = 'MEMORY_FILE_PATH={folder}/memory.jsonl';
const KEY = 'sk-very-secret-1234';
const cleanUps: (() => Promise<unknown>)[] = [];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-mcp-test-'));
});
afterAll(() => Promise.all([...cleanUps.map((close) => close()), rm(folder, { recursive: true })]));
afterEach(() => vi.restoreAllMocks());

/** Runs the command in this process. */
async function mua(...args: string[]): Promise<{ code: number; stdout: string; error: string }> {
  const [out, error] = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')].map((spy) => spy.mockReset().mockImplementation(() => {}));
  const code = await main(['mcp', ...args]);
  const said = (spy: typeof out) => spy!.mock.calls.map((words) => words.join(' ')).join('\n');
  return { code, stdout: said(out), error: said(error) };
}
const parsed = async (...args: string[]) => {
  const { code, stdout } = await mua(...args, '--json');
  return { code, ...(JSON.parse(stdout) as Record<string, unknown>) };
};
const serve = async (...given: Parameters<typeof fakeHttp>): Promise<FakeHttp> => {
  const http = await fakeHttp(...given);
  cleanUps.push(http.close);
  return http;
};
/** Writes calls to a file. */
async function callsFile(...calls: object[]): Promise<string> {
  const path = join(folder, `${crypto.randomUUID()}.jsonl`);
  await writeFile(path, calls.map((call) => JSON.stringify(call)).join('\n'));
  return path;
}

describe('list', () => {
  test('prints the server and its tools, as JSON and for people', async () => {
    const { url } = await serve({ list: () => ({ tools: [tool('pay', { description: 'Pays.\u200b\u001b[2J' })] }) });
    expect(await parsed('list', '--url', url)).toMatchObject({
      code: 0,
      server: { name: 'fake', version: '1' },
      protocol: '2025-11-25',
      tools: [
        {
          name: 'pay',
          description: 'Pays.\u200b\u001b[2J',
          inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
          warnings: ['hidden or control characters: description (U+200B U+001B)'],
        },
      ],
    });
    const { stdout } = await mua('list', '--url', url);
    expect(stdout).toMatch(/^fake 1, protocol 2025-11-25, 1 tool, pinned as [0-9a-f]{16}\n {2}pay: Pays\.\u200b\[2J\n {4}warning: hidden/);
    expect(stdout).not.toContain('\u001b');
  });

  test('sends the headers, and no error shows their values', async () => {
    const http = await serve({}, (_, response, request) => {
      json(response, { error: `bad ${request.headers.authorization}` }, 401);
      return true;
    });
    const { code, error } = await mua('list', '--url', http.url, '--header', `Authorization: Bearer ${KEY}`, '--header', 'X-Own: 1');
    expect(http.requests[0]!.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-own': '1' });
    expect([code, error]).toEqual([1, expect.stringMatching(/^mua: the server refuses access \(HTTP 401\).*\(auth\)$/)]);
    expect(error).not.toContain(KEY);
    process.env.MUA_MCP_KEY = KEY;
    await mua('list', '--url', http.url);
    expect(http.requests.at(-1)!.headers.authorization).toBe(`Bearer ${KEY}`);
    await mua('list', '--url', http.url, '--header', 'authorization: Basic b3duOmtleQ==');
    delete process.env.MUA_MCP_KEY;
    expect(http.requests.at(-1)!.headers.authorization).toBe('Basic b3duOmtleQ==');
  });

  test.each([
    [[], '--command and --url are missing: expected one of them'],
    [['--url', 'https://a/', '--command', 'a'], '--command and --url are both given: expected one of them'],
    [['--url', 'https://a/', '--env', 'A=1'], '--env is for --command'],
    [['--url', 'a'], 'the address of the MCP server is not valid: expected http(s)://HOST/PATH'],
    [['--command', 'a', '--header', 'B: c'], '--header is for --url'],
    [['--url', 'https://a/', '--header', KEY], "--header is not a header: expected 'NAME: VALUE'"],
    [['--command', "node 'a"], "--command has a ' without its end"],
    [['--command', 'node a', '--timeout', '0'], '--timeout is "0": expected a number from 0.1 to 86400'],
  ])('%j is wrong use', async (flags, message) => {
    const { code, error } = await mua('list', ...flags);
    expect([code, error]).toEqual([2, expect.stringContaining(message)]);
    expect(error).not.toContain(KEY);
  });

  test('an unknown action names the actions', async () => {
    expect(await mua('lst')).toMatchObject({
      code: 2,
      error: expect.stringContaining('unknown command "mcp lst" (did you mean list?)') as string,
    });
    expect(await mua()).toMatchObject({ code: 2, error: expect.stringContaining('expected list, call, check, serve') as string });
    expect((await mua('--help')).stdout).toContain('call a tool of a server');
    expect((await mua('call', '--help')).stdout).toContain('./mua mcp call TOOL');
  });
});

describe('call', () => {
  test('calls a server that is a command', async () => {
    const entities = [{ name: 'Ana', entityType: 'person', observations: [] }];
    const result = await parsed('call', 'create_entities', JSON.stringify({ entities }), '--command', MEMORY, '--env', FILE);
    expect(result).toMatchObject({ code: 0, error: false, structured: { entities } });
  });

  test('a failed tool is printed, and the exit code is 1', async () => {
    const { url } = await serve({ call: () => text('the account is closed', { isError: true }) });
    expect(await parsed('call', 'say', '--url', url)).toMatchObject({ code: 1, text: 'the account is closed', error: true });
    expect(await mua('call', 'say', '--url', url)).toMatchObject({ code: 1, stdout: 'the tool failed:\nthe account is closed' });
  });

  test('arguments are checked before they are sent, unless --raw is given', async () => {
    const inputSchema = {
      type: 'object',
      required: ['to'],
      properties: {
        to: { type: 'string', pattern: '^(a+)+$' },
        pattern: { type: 'integer' },
        items: { type: 'array', items: { type: 'object', additionalProperties: false, properties: { n: { enum: [1, 2] } } } },
      },
    };
    const http = await serve({ list: () => ({ tools: [tool('pay', { inputSchema })] }), call: (_, args) => text(JSON.stringify(args)) });
    const refusals: [given: string, message: string][] = [
      ['[1]', 'the arguments are [1]: expected a JSON object such as \'{"name": "Ana"}\''],
      ['{to}', 'the arguments are "{to}": expected a JSON object'],
      ['{}', 'pay: the argument "to" is missing: expected its type string'],
      ['{"to":"a","itms":[]}', 'pay has no argument "itms" (did you mean items?): expected to, pattern, items'],
      ['{"to":5}', 'pay: to is 5: Instance type "number" is invalid. Expected "string".'],
      ['{"to":"a","pattern":"x"}', 'pay: pattern is "x": Instance type "string" is invalid. Expected "integer".'],
      ['{"to":"a","items":[{"n":1},{"n":3}]}', 'pay: items[1].n is 3: '],
      ['{"to":"a","items":[{"m":1}]}', 'pay: items[0].m is 1: expected no such field'],
    ];
    for (const [given, message] of refusals)
      expect(await mua('call', 'pay', given, '--url', http.url)).toMatchObject({
        code: 2,
        error: expect.stringContaining(message) as string,
      });
    expect(http.requests.filter(({ asked }) => asked?.method === 'tools/call')).toEqual([]);
    expect((await mua('call', 'pay', '{"too":1}', '--url', http.url, '--raw')).stdout).toBe('{"too":1}');
    // A pattern of a stranger may take forever, so the server checks it.
    expect((await mua('call', 'pay', `{"to":"${'a'.repeat(40)}!"}`, '--url', http.url)).code).toBe(0);
  });

  test('a server that does not answer ends the command in time', async () => {
    const { url } = await serve({ call: () => SILENT });
    expect(await mua('call', 'say', '--url', url, '--timeout', '0.3')).toMatchObject({
      code: 1,
      error: expect.stringMatching(/\(timeout\)$/) as string,
    });
  });

  test('a killed command takes its server with it, and the next command removes its folder', async () => {
    const temporary = await mkdtemp(join(folder, 'temporary-'));
    const pidFile = join(folder, 'pid');
    const server =
      "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); require('fs').writeFileSync(process.env.PID_FILE, String(process.pid))";
    const list = (...flags: string[]) => startMua(['mcp', 'list', '--command', ...flags], { TMPDIR: temporary });
    const { child, done } = list(`'${process.execPath}' -e "${server}"`, '--env', `PID_FILE=${pidFile}`);
    const pid = await vi.waitFor(async () => Number((await readFile(pidFile, 'utf8')) || NaN), { timeout: 60_000, interval: 100 });
    expect(isRunning(pid)).toBe(true);
    const [left] = await readdir(temporary);
    const used = left!.replace(`-${child.pid}-`, `-${process.pid}-`);
    // Of a computer whose name ends with the number of a process that is over here.
    const ofOther = left!.replace(`-${child.pid}-`, `-${child.pid}-1-`);
    for (const name of [used, ofOther]) await mkdir(join(temporary, name));
    child.kill('SIGKILL');
    await done;
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), 5000);
    expect((await readdir(temporary)).sort()).toEqual([left, used, ofOther].sort());
    expect((await list(MEMORY).done).code).toBe(0);
    expect((await readdir(temporary)).sort()).toEqual([used, ofOther].sort());
  });
});

describe('check', () => {
  const ana = { name: 'create_entities', arguments: { entities: [{ name: 'Ana', entityType: 'person', observations: [] }] } };

  test('server-memory with a file of its own starts anew, and answers alike', async () => {
    const calls = await callsFile(ana, { name: 'search_nodes', arguments: { query: 'Ana' } });
    expect(await parsed('check', '--command', MEMORY, '--env', FILE, '--calls', calls)).toMatchObject({
      code: 0,
      server: { name: 'memory-server' },
      tools: 9,
      tools_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      same_tools: true,
      calls: [
        { name: 'create_entities', failed: false },
        { name: 'search_nodes', failed: false },
      ],
      determinism: { equal: true },
      reset: { state: 'back', why: expect.stringContaining('read_graph') as string },
      limits: [],
      not_tried: expect.arrayContaining([{ tool: 'open_nodes', why: 'no call of the file calls it' }]) as object[],
    });
  });

  test('server-memory with a file that stays does not', async () => {
    const stays = `MEMORY_FILE_PATH=${join(folder, 'stays.jsonl')}`;
    const result = await parsed('check', '--command', MEMORY, '--env', stays, '--calls', await callsFile(ana));
    // Creating an entity that exists answers with an empty list.
    expect(result).toMatchObject({
      code: 1,
      determinism: { equal: false, differs: { call: 1, name: 'create_entities' } },
      reset: { state: 'kept' },
    });
  });

  test('server-filesystem in its own folder: the reads among the calls show the state', async () => {
    const calls = await callsFile(
      { name: 'write_file', arguments: { path: '{folder}/a.txt', content: 'one' } },
      { name: 'list_directory', arguments: { path: '{folder}' } },
    );
    const server = `'${process.execPath}' node_modules/@modelcontextprotocol/server-filesystem/dist/index.js {folder}`;
    expect(await parsed('check', '--command', server, '--calls', calls)).toMatchObject({
      code: 0,
      calls: [{ failed: false }, { failed: false, text: '[FILE] a.txt' }],
      determinism: { equal: true },
      reset: { state: 'back', why: expect.stringContaining('list_directory') as string },
    });
  });

  test('without calls, only what the server says to be a read is called, and the rest is named', async () => {
    const read = { annotations: { readOnlyHint: true } };
    const tools = [
      tool('time', { ...read, inputSchema: { type: 'object' } }),
      tool('find', { ...read, inputSchema: { type: 'object', properties: {}, required: ['name'] } }),
      tool('delete_all'),
    ];
    let clock = 0;
    const { url, requests } = await serve({ list: () => ({ tools }), call: () => text(`${++clock} o'clock`) });
    const { code, stdout } = await mua('check', '--url', url);
    expect(code).toBe(1);
    expect(requests.flatMap(({ asked }) => (asked?.method === 'tools/call' ? [asked.params!.name] : []))).toEqual(['time', 'time']);
    expect(stdout).toContain(`determinism: call 1, time, differs: "1 o'clock" and "2 o'clock"`);
    expect(stdout).toContain('reset: unknown (no calls were given, so nothing was changed)');
    expect(stdout).toContain('not tried: find (it needs arguments), delete_all (the server does not say that it only reads)');
  });

  test.each<[string, (clock: number) => object, string]>([
    [
      'late',
      (clock) => text(`${'so late '.repeat(20)}at ${clock} o'clock`),
      `"… so late so late at 1 o'clock" and "… so late so late at 2 o'clock"`,
    ],
    ['very late', (clock) => text(`${'so late '.repeat(200)}at ${clock} o'clock`), `at 1 o'clock" and "… so late so late at 2 o'clock"`],
    ['only in structuredContent', (clock) => ({ ...text('now'), structuredContent: { clock } }), '\\"clock\\":1'],
  ])('answers that differ %s are shown where they differ', async (_, answer, expected) => {
    const tools = [tool('time', { annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } })];
    let clock = 0;
    const { url } = await serve({ list: () => ({ tools }), call: () => answer(++clock) });
    expect((await mua('check', '--url', url)).stdout).toContain(expected);
  });

  test('limits and lists that change are told', async () => {
    let list = 0;
    const { url } = await serve({
      list: () => ({ tools: [tool('say', { description: `Version ${++list}.` })] }),
      call: (_, { text: words }) => (words === 'slow' ? SILENT : text('x'.repeat(30_000))),
    });
    const calls = await callsFile({ name: 'say' }, { name: 'say', arguments: { text: 'slow' } });
    expect(await parsed('check', '--url', url, '--calls', calls, '--timeout', '0.3')).toMatchObject({
      code: 1,
      same_tools: false,
      determinism: { equal: true },
      reset: { state: 'unknown' },
      limits: ['call 1, say: the text was cut by 10,000 characters', expect.stringMatching(/^call 2, say: .*did not answer.*\(timeout\)$/)],
    });
  });

  test('a file of calls that is wrong names its line', async () => {
    const check = async (...lines: object[]) => mua('check', '--command', MEMORY, '--calls', await callsFile(...lines));
    expect((await check(ana, { tool: 'x' })).error).toMatch(/line 2 is \{"tool":"x"\}: expected \{"name": "TOOL", "arguments": \{…\}\}$/);
    expect((await check({ name: 'x', arguments: [] })).code).toBe(2);
    expect((await check()).error).toContain('has no calls');
  });
});

describe('serve', () => {
  test('plays a world over stdin and stdout, in both eras, and ends with its client', async () => {
    const server = `'${process.execPath}' bin/mua.mjs mcp serve --domain retail --level nano`;
    const { code, structured } = (await parsed('call', 'start_episode', '{"task_id":"retail/nano/train/1/3"}', '--command', server)) as {
      code: number;
      structured: Record<string, unknown>;
    };
    expect([code, structured]).toMatchObject([
      0,
      { role: 'user', turn: 0, task_id: 'retail/nano/train/1/3', episode: expect.any(String) as string },
    ]);
    const client = new Client({ name: 'older', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: ['bin/mua.mjs', 'mcp', 'serve'], stderr: 'ignore' }));
    const { content } = await client.callTool({ name: 'start_episode', arguments: {} });
    expect((content as { text: string }[])[0]!.text).toContain('The customer says: ');
    await client.close();
  });

  test('a wrong domain is named', async () => {
    expect(await mua('serve', '--domain', 'retial')).toMatchObject({ code: 2, error: expect.stringContaining('retial') as string });
  });
});
