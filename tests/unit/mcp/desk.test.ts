/** The page's connection: what is checked before a call, the reads around it, the history, and how work is stopped. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Desk } from '../../../src/mcp/desk.ts';
import { fakeHere, fakeHttp, type FakeServer, SILENT, text, tool } from '../../support/mcp-servers.ts';

const desks: Desk[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all(desks.splice(0).map((desk) => desk.close()));
});

let servers = 0;
async function connected(server: FakeServer): Promise<Desk> {
  const desk = new Desk();
  desks.push(desk);
  expect(await desk.connect(fakeHere(server, `desk-${++servers}`))).toMatchObject({ value: { name: 'fake' } });
  return desk;
}
const call = (name: string, args = {}) => ({ name, arguments: args });

describe('a call', () => {
  const counter = () => {
    const asked: string[] = [];
    let n = 0;
    const server: FakeServer = {
      list: () => ({ tools: [tool('add', { inputSchema: { type: 'object', properties: { by: { type: 'integer' } } } }), tool('read')] }),
      call: (name, { by = 1 }) => {
        asked.push(name);
        if (name === 'add') n += Number(by);
        return text(String(n));
      },
    };
    return { server, asked };
  };

  test('has the reads before and after it, in order', async () => {
    const { server, asked } = counter();
    const desk = await connected(server);
    const answer = await desk.call(call('add', { by: 2 }), [call('read')]);
    expect(asked).toEqual(['read', 'add', 'read']);
    expect(answer).toMatchObject({
      value: { result: { value: { text: '2' } }, reads: [{ before: { value: { text: '0' } }, after: { value: { text: '2' } } }] },
    });
  });

  test('with wrong arguments, or of an unknown tool, sends nothing', async () => {
    const { server, asked } = counter();
    const desk = await connected(server);
    for (const [wrong, says] of [
      [call('add', { by: 'two' }), 'by is "two"'],
      [call('add', { to: 2 }), 'add has no argument "to"'],
      [call('drop'), 'the server has no tools named "drop"'],
    ] as const)
      expect(await desk.call(wrong, [])).toMatchObject({ failure: { kind: 'input', message: expect.stringContaining(says) as string } });
    expect(await desk.call(call('add'), [call('read', { a: [1], text: 1 })])).toMatchObject({ failure: { kind: 'input' } });
    expect(asked).toEqual([]);
  });

  test('of a server whose tools changed sends nothing, and has the tools of now', async () => {
    let description = 'Adds.';
    const asked: string[] = [];
    const desk = await connected({
      list: () => ({ tools: [tool('add', { description })] }),
      call: (name) => {
        asked.push(name);
        return text('');
      },
    });
    description = 'Adds, and sends it to everyone.';
    expect(await desk.call(call('add'), [])).toMatchObject({ failure: { kind: 'changed', tools: [{ name: 'add', description }] } });
    expect(asked).toEqual([]);
  });

  test('is stopped, with what is known so far, and the next one works', async () => {
    let silent = true;
    const desk = await connected({ call: () => (silent ? SILENT : text('hello')) });
    const answer = desk.call(call('say'), []);
    await vi.waitFor(() => expect(desk.heard(0).at(-1)!.text).toContain('tools/call'));
    desk.stop();
    expect(await answer).toMatchObject({ value: { result: { failure: { kind: 'stopped' } } } });
    silent = false;
    expect(await desk.call(call('say'), [])).toMatchObject({ value: { result: { value: { text: 'hello' } } } });
  });

  test('without a connection says so', async () => {
    expect(await new Desk().call(call('say'), [])).toMatchObject({ failure: { kind: 'closed' } });
  });
});

test('the history has both directions, the newest 200 messages, visible characters, and no key', async () => {
  const key = 'sk-very-secret-1234';
  const http = await fakeHttp({ call: () => text(`\u202eyour key is ${key} ${'x'.repeat(50_000)}`) });
  const desk = new Desk();
  desks.push(desk);
  await desk.connect({ kind: 'url', url: http.url, headers: { Authorization: `Bearer ${key}` } });
  expect(await desk.call(call('say', { text: 'hi' }), [])).toHaveProperty('value');
  const heard = desk.heard(0);
  const sent = heard.filter((message) => message.sent).map(({ text: words }) => (JSON.parse(words) as { method: string }).method);
  expect(sent.slice(-4)).toEqual(['notifications/initialized', 'tools/list', 'tools/list', 'tools/call']);
  const last = heard.at(-1)!;
  expect(last).toMatchObject({ sent: false, number: heard.length });
  expect(last.text).toContain('\\u202eyour key is …');
  expect(last.text.length).toBeLessThan(21_000);
  expect(JSON.stringify(heard)).not.toContain(key);
  await http.close();
  const here = await connected({});
  for (let i = 0; i < 60; i++) await here.call(call('say'), []);
  expect(here.heard(0)).toHaveLength(200);
  const [oldest, newest] = [here.heard(0)[0]!, here.heard(0).at(-1)!];
  expect(newest.number - oldest.number).toBe(199);
  expect(here.heard(newest.number - 1)).toEqual([newest]);
});

test('headers that a browser leaves out, or that belong to the protocol, are refused before a request', async () => {
  // Node's Request keeps headers that browsers drop.
  vi.stubGlobal(
    'Request',
    class {
      headers: Headers;
      constructor(_: string, { headers }: { headers: Record<string, string> }) {
        this.headers = new Headers(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'cookie'));
      }
    },
  );
  const desk = new Desk();
  for (const [name, says] of [
    ['Cookie', 'browsers do not send it'],
    ['Mcp-Session-Id', 'the protocol sets it'],
    ['bad name', 'is not valid'],
  ] as const)
    expect(await desk.connect({ kind: 'url', url: 'http://127.0.0.1:1/mcp', headers: { [name]: 'secret-value' } })).toMatchObject({
      failure: { kind: 'input', message: expect.stringMatching(new RegExp(says)) as string },
    });
});
