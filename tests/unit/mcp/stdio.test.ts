/** Servers that are commands: two servers of others without a change, and commands that misbehave. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { startMua } from '../../support/mua.ts';
import { isRunning } from '../../support/processes.ts';
import { connect } from '../../../src/mcp/node/index.ts';
import type { McpConnection, McpLimits } from '../../../src/mcp/types.ts';

const contacts = JSON.parse(readFileSync('src/domains/contacts/scenario.json', 'utf8')) as { host: Record<string, unknown> };

const cleanUps: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(cleanUps.map((close) => close())));

const open = async (args: string[], env: Record<string, string> = {}, limits: Partial<McpLimits> = {}): Promise<McpConnection> => {
  const connection = await connect({ kind: 'command', command: process.execPath, args, env }, { timeout: 20, ...limits });
  cleanUps.push(() => connection.close());
  return connection;
};
const installed = (name: string) => resolve(`node_modules/@modelcontextprotocol/${name}/dist/index.js`);
const openMemory = () => open([installed('server-memory')], { MEMORY_FILE_PATH: '{folder}/memory.jsonl' });

/** A server in a few lines. `calls` is JavaScript that answers a call: it may use `send`, `id` and `args`. */
const script = (calls: string, start = '') => [
  '-e',
  `${start};
  const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params: { arguments: args } = {} } = JSON.parse(line);
    if (method === 'initialize') send(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'tiny', version: '1' } });
    else if (method === 'tools/list') send(id, { tools: [{ name: 'say', inputSchema: { type: 'object' } }] });
    else if (method === 'tools/call') { ${calls} }
    else if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }) + '\\n');
  });`,
];
const say = (value: string) => `send(id, { content: [{ type: 'text', text: ${value} }] })`;

describe.concurrent('servers of others', () => {
  test('server-memory: tools, calls, and an empty start of each process', async () => {
    const [first, second] = await Promise.all([openMemory(), openMemory()]);
    expect(first.server).toMatchObject({ name: 'memory-server', era: 'legacy', protocol: '2025-11-25' });
    expect(first.server.tools.map(({ name }) => name)).toEqual([
      'create_entities',
      'create_relations',
      'add_observations',
      'delete_entities',
      'delete_observations',
      'delete_relations',
      'read_graph',
      'search_nodes',
      'open_nodes',
    ]);
    expect(first.server.tools_sha256).toBe(second.server.tools_sha256);
    const ana = { name: 'Ana', entityType: 'person', observations: ['lives in Lisbon'] };
    // Without turns, this server loses parallel writes.
    const names = Array.from({ length: 20 }, (_, i) => `P${i}`);
    await Promise.all(
      [ana, ...names.map((name) => ({ ...ana, name }))].map((entity) => first.call('create_entities', { entities: [entity] })),
    );
    const { structured } = (await first.call('read_graph', {})) as unknown as { structured: { entities: { name: string }[] } };
    expect(structured.entities.map(({ name }) => name)).toEqual(['Ana', ...names]);
    expect((await second.call('read_graph', {})).structured).toEqual({ entities: [], relations: [] });
    expect(await first.call('no_such_tool', {})).toMatchObject({ error: true, text: 'MCP error -32602: Tool no_such_tool not found' });
  });

  test('server-filesystem: reads and writes in its own folder only', async () => {
    const connection = await open([installed('server-filesystem'), '{folder}']);
    expect((await connection.call('list_allowed_directories', {})).text).toBe('Allowed directories:\n{folder}');
    expect((await connection.call('write_file', { path: '{folder}/a.txt', content: 'one' })).error).toBe(false);
    expect((await connection.call('read_text_file', { path: '{folder}/a.txt' })).text).toBe('one');
    expect(await connection.call('read_text_file', { path: '/etc/passwd' })).toMatchObject({ error: true });
  });

  test('the pin is the SHA-256 of the tools by name, as JSON with sorted keys', async () => {
    const { server } = await open(script(say("'x'")));
    expect(server.tools_sha256).toBe(createHash('sha256').update('[{"inputSchema":{"type":"object"},"name":"say"}]').digest('hex'));
  });
});

describe.concurrent('commands', () => {
  test('get few variables, and a folder of their own', async () => {
    process.env.MUA_TEST_SECRET = 'hidden';
    const env = "JSON.stringify({ ...process.env, cwd: process.cwd(), place: process.cwd().split('').join('.') })";
    const connection = await open(script(say(env)), { OWN: '{folder}/x' });
    delete process.env.MUA_TEST_SECRET;
    const { cwd, OWN, TMPDIR, place, ...rest } = JSON.parse((await connection.call('say', {})).text) as Record<string, string>;
    expect([cwd, OWN, TMPDIR]).toEqual(['{folder}', '{folder}/x', '{folder}']);
    const folder = place!.replace(/(.)\./g, '$1');
    expect(existsSync(folder)).toBe(true);
    await connection.close();
    expect(existsSync(folder)).toBe(false);
    expect(Object.keys(rest).filter((name) => !['PATH', 'HOME', 'LANG', 'TZ'].includes(name))).toEqual([]);
  });

  test('that do not exist, or end at once, say why', async () => {
    const gone = connect({ kind: 'command', command: 'no-such-program', args: [] });
    await expect(gone).rejects.toMatchObject({
      kind: 'unreachable',
      message: 'the command "no-such-program" does not exist: expected a program of PATH, or the path of one',
    });
    await expect(open(['-e', 'console.error("no \\u001b[31mconfig"); process.exit(3)'])).rejects.toMatchObject({
      kind: 'closed',
      message: expect.stringMatching(/ended with code 3; its last words on stderr: no \\u001b\[31mconfig/) as string,
    });
  });

  test('that end when they are asked with the newer protocol are started again', async () => {
    const strict = script(say("'fine'"), "process.stdin.once('data', (first) => { if (!/initialize/.test(first)) process.exit(1) })");
    expect((await (await open(strict)).call('say', {})).text).toBe('fine');
  });

  test('that write without end, or lines that are not JSON', async () => {
    const noisy = await open(script("setInterval(() => process.stdout.write('x'.repeat(100000)), 1)"), {}, { bytes: 1_000_000 });
    await expect(noisy.call('say', {})).rejects.toMatchObject({ kind: 'limit' });
    await expect(noisy.call('say', {})).rejects.toMatchObject({ kind: 'closed' });
    const chatty = await open(script("console.log('working…')"), {}, { timeout: 3 });
    await expect(chatty.call('say', {})).rejects.toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('it wrote a line to stdout that is not JSON: working…') as string,
    });
  });

  test('that answer in lists of messages are understood, as version 2025-03-26 allows', async () => {
    const lists = "console.log(JSON.stringify([{ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'listed' }] } }]))";
    expect((await (await open(script(lists))).call('say', {})).text).toBe('listed');
  });

  test('whose message is no answer are quoted when the time is over', async () => {
    const odd = await open(script("console.log(JSON.stringify({ jsonrpc: '2.0', id, error: 'disk full' }))"), {}, { timeout: 1 });
    const late = await odd.call('say', {}).catch((error: Error) => error);
    expect(late).toMatchObject({ kind: 'timeout', message: expect.stringContaining('disk full') as string });
    const open_ended = await open(script("process.stdout.write('no end')"), {}, { timeout: 1 });
    await expect(open_ended.call('say', {})).rejects.toThrow(/its last line on stdout has no end/);
  });

  test('are ended with what they have started, also if they ignore the end of their input', async () => {
    const stubborn = script(
      say('String(helper.pid)'),
      "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); var helper = require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])",
    );
    const connection = await open(stubborn);
    const helper = Number((await connection.call('say', {})).text);
    expect(() => process.kill(helper, 0)).not.toThrow();
    await connection.close();
    await vi.waitFor(() => expect(isRunning(helper)).toBe(false), 5000);
  });

  test('that write lines without end are ended soon', async () => {
    const start = performance.now();
    const lines = open(['-e', "const lines = 'y\\n'.repeat(30_000); for (;;) require('fs').writeSync(1, lines)"], {}, { timeout: 4 });
    await expect(lines).rejects.toMatchObject({ kind: 'limit', message: 'the server wrote more than 10,000 lines in one answer' });
    expect(performance.now() - start).toBeLessThan(4000);
  });
});

// Not concurrent, because it counts the pipes of this process.
test('a closed command is forgotten, also if a process that left their group holds stdout open', async () => {
  const leaves =
    "var helper = require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 20_000)'], { detached: true, stdio: 'inherit' })";
  const pipes = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
  const before = pipes();
  const connection = await open(script(say('String(helper.pid)'), leaves));
  const helper = Number((await connection.call('say', {})).text);
  await connection.close();
  await vi.waitFor(() => expect(pipes()).toBeLessThanOrEqual(before), 5000);
  process.kill(helper, 'SIGKILL');
});

test('a command that is stopped leaves no folder of its servers, also of those that its threads started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mua-stopped-'));
  cleanUps.push(async () => rmSync(folder, { recursive: true }));
  const { here: _here, ...host } = contacts.host;
  const worlds = ['one', 'two'].map((name) => {
    // It never answers, so that the commands wait for it when they are stopped.
    const command = [process.execPath, '-e', 'process.stdin.resume()'];
    const path = join(folder, `${name}.json`);
    writeFileSync(path, JSON.stringify({ ...contacts, name, host: { ...host, command } }));
    return ['--world', path];
  });
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  const servers = () => readdirSync(temporary).filter((name) => name.startsWith('mua-mcp-'));
  const args = ['synthesize', ...worlds.flat(), '--threads', '2', '--count', '4000', '--out', join(folder, 'x.jsonl')];
  const { child, done } = startMua(args, { TMPDIR: temporary });
  await vi.waitUntil(() => servers().length > 4, { timeout: 60_000, interval: 20 });
  child.kill('SIGTERM');
  expect((await done).code).toBe(143);
  expect(servers()).toEqual([]);
}, 90_000);
