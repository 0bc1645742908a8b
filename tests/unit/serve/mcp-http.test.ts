/** The world of `mua env-serve` over MCP: with the SDK's client in both eras, and with the client of the SDK's first version. */
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, test } from 'vitest';
import type { Expert } from '../../../src/agent/acts.ts';
import { createExpert } from '../../../src/domains/retail/expert.ts';
import { connect } from '../../../src/mcp/index.ts';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import { openStage } from '../../../src/serve/index.ts';
import type { StepResult } from '../../../src/serve/protocol.ts';
import { type EnvServerOptions, startEnvServer } from '../../../src/serve/server.ts';
import { SERVER_OPTIONS } from '../../support/env-server.ts';
import { OpenEnvClient } from '../../support/openenv-client.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(cleanUps.map((close) => close())));

const TASK = 'retail/nano/train/1/3';

async function serve(options: Partial<EnvServerOptions> = {}) {
  const { stage, tasks } = await openStage({ domain: 'retail', level: 'nano', settings: {}, seed: 1, user: { mode: 'scripted' } });
  const started = await startEnvServer(stage, tasks, { ...SERVER_OPTIONS, graceSeconds: 0, ...options });
  cleanUps.push(() => started.stop());
  return { ...started, domain: stage.domain, mcp: `${started.url}/mcp` };
}

/** What a client of any version and era needs to play. */
type Call = (name: string, args: object) => Promise<StepResult & { text: string; error: boolean }>;
interface Answer {
  content?: unknown;
  structuredContent?: unknown;
  isError?: unknown;
}
const stepOf = ({ content, structuredContent, isError }: Answer) => {
  const { reward, done, ...observation } = (structuredContent ?? {}) as { reward: number; done: boolean };
  const text = (content as { text: string }[])[0]!.text;
  return { observation, reward, done, text, error: isError === true } as unknown as Awaited<ReturnType<Call>>;
};

async function callerOf(url: string, mode: 'legacy' | '2026-07-28' | 'first version'): Promise<Call> {
  if (mode === 'first version') {
    const client = new FirstClient({ name: 'first', version: '1' });
    await client.connect(new FirstTransport(new URL(url)));
    cleanUps.push(() => client.close());
    return async (name, args) => stepOf((await client.callTool({ name, arguments: { ...args } })) as Answer);
  }
  const client = new Client(
    { name: 'second', version: '1' },
    { versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: mode } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  cleanUps.push(() => client.close());
  let handle: object = {};
  return async (name, args) => {
    const { structuredContent, ...answer } = await client.callTool({
      name,
      arguments: { ...args, ...(name !== 'start_episode' && handle) },
    });
    const { episode, ...rest } = (structuredContent ?? {}) as { episode?: string };
    if (episode !== undefined) handle = { episode };
    return stepOf({ ...answer, structuredContent: rest });
  };
}

/** Plays as the expert does. Returns what a client saw after each act. */
async function play(
  expert: Expert,
  begin: () => Promise<StepResult>,
  act: (name: string, args: Record<string, unknown>) => Promise<StepResult>,
) {
  let result = await begin();
  const messages: ChatMessage[] = result.observation.messages!.slice(1);
  const seen: StepResult[] = [result];
  while (!result.done) {
    const next = expert.act(messages);
    messages.push(
      'call' in next
        ? { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: next.call }] }
        : { role: 'assistant', content: next.say },
    );
    result = 'call' in next ? await act(next.call.name, next.call.arguments) : await act('respond', { message: next.say });
    const { role, content, tool_name } = result.observation;
    if (role !== 'system') messages.push({ role, content, ...(tool_name && { name: tool_name }) });
    seen.push({ observation: result.observation, reward: result.reward, done: result.done });
  }
  return seen;
}

describe('an episode', async () => {
  const server = await serve();
  const expert = () => createExpert(server.domain, 5);
  const client = await OpenEnvClient.connect(server.url);
  const frames = await play(
    expert(),
    () => client.reset({ task_id: TASK, seed: 3 }),
    (name, args) => client.step({ name, arguments: args }),
  );

  test.each(['legacy', '2026-07-28', 'first version'] as const)('of a client (%s) is that of OpenEnv’s frames', async (mode) => {
    const call = await callerOf(server.mcp, mode);
    const seen = await play(
      expert(),
      async () => {
        const { text, error, ...begun } = await call('start_episode', { task_id: TASK, seed: 3 });
        expect(error).toBe(false);
        // A client shows only the text to its model.
        expect(text).toContain(begun.observation.messages![0]!.content);
        expect(text).toContain(`The customer says: ${begun.observation.content}`);
        return begun;
      },
      call,
    );
    expect(seen).toEqual(frames);
    expect(seen.at(-1)).toMatchObject({ done: true, reward: 1 });
    expect(await call('respond', { message: 'Hello?' })).toMatchObject({ error: true });
  });
});

describe('sessions', () => {
  test('the newer protocol has an episode for each handle, and no more than there are sessions', async () => {
    const { mcp, metrics, domain } = await serve({ maxSessions: 3 });
    const { server, call, close } = await connect({ kind: 'url', url: mcp });
    cleanUps.push(close);
    expect(server).toMatchObject({ name: 'mua-retail', era: 'modern', protocol: '2026-07-28' });
    expect(server.tools.map(({ name }) => name)).toEqual(['start_episode', ...domain.tools.map((tool) => tool.function.name), 'respond']);
    expect(server.tools.flatMap(({ warnings }) => warnings)).toEqual([]);
    const start = async () => (await call('start_episode', {})).structured as { episode: string; task_id: string };
    const [first, second, third] = [await start(), await start(), await start()];
    expect(first.task_id).not.toBe(second.task_id);
    expect(await call('start_episode', {})).toMatchObject({ error: true, text: 'Error: all 3 sessions are open' });
    expect(metrics.counts).toMatchObject({ sessions_open: 3, sessions_refused: 1 });
    expect(await call('respond', { message: 'Hello', episode: third.episode })).toMatchObject({ error: false });
    expect(await call('respond', { message: 'Hello', episode: 'guessed' })).toMatchObject({ error: true });
    expect(await call('respond', { message: 'Hello' })).toMatchObject({ error: true });
    await expect(callerOf(mcp, 'legacy')).rejects.toThrow('all 3 sessions are open');
  });

  test('wrong arguments and a missing start are errors that a model can read', async () => {
    const { mcp } = await serve();
    const call = await callerOf(mcp, 'legacy');
    expect(await call('respond', { message: 'Hello' })).toMatchObject({
      error: true,
      text: 'Error: there is no episode: expected start_episode first',
    });
    expect(await call('start_episode', { seed: -1 })).toMatchObject({
      error: true,
      text: expect.stringContaining('reset.seed is -1') as string,
    });
  });

  test('end when their client ends them, or after their time', async () => {
    const { mcp, metrics } = await serve({ idleSeconds: 1 });
    const own = await connect({ kind: 'url', url: mcp });
    await own.call('start_episode', {});
    const client = new Client({ name: 'a', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(mcp));
    await client.connect(transport);
    expect(metrics.counts.sessions_open).toBe(2);
    await transport.terminateSession();
    expect(metrics.counts.sessions_open).toBe(1);
    await expect.poll(() => metrics.counts.sessions_open, { timeout: 5000 }).toBe(0);
    expect(metrics.counts.episodes).toEqual({ dropped: 1 });
  });
});

describe('requests', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  };
  const post = (url: string, body: object, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify(body),
    });

  test('of other origins and without the token are refused, those of pages of this computer are answered', async () => {
    const { mcp } = await serve();
    expect((await post(mcp, initialize, { Origin: 'https://evil.example' })).status).toBe(403);
    const page = await post(mcp, initialize, { Origin: 'http://localhost:5173' });
    expect([page.status, page.headers.get('Access-Control-Allow-Origin')]).toEqual([200, 'http://localhost:5173']);
    expect(page.headers.get('Access-Control-Expose-Headers')).toBe('Mcp-Session-Id');
    const preflight = await fetch(mcp, {
      method: 'OPTIONS',
      headers: { Origin: 'http://localhost:5173', 'Access-Control-Request-Method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('Access-Control-Allow-Headers')]).toEqual([
      204,
      expect.stringContaining('mcp-session-id'),
    ]);
    const guarded = await serve({ token: 'sesame' });
    expect((await post(guarded.mcp, initialize)).status).toBe(401);
    const { server, close } = await connect({ kind: 'url', url: guarded.mcp, headers: { Authorization: 'Bearer sesame' } });
    expect(server.name).toBe('mua-retail');
    await close();
  });

  test('that are too large, have no session, or reach one of several processes', async () => {
    const { mcp } = await serve({ maxFrameBytes: 1000 });
    expect((await post(mcp, { ...initialize, more: 'x'.repeat(2000) })).status).toBe(413);
    expect((await post(mcp, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).status).toBe(400);
    expect((await post(mcp, { jsonrpc: '2.0', id: 1, method: 'tools/list' }, { 'Mcp-Session-Id': 'gone' })).status).toBe(404);
    const several = await serve({ others: async () => [] });
    expect(await (await post(several.mcp, initialize)).json()).toMatchObject({
      error: { message: expect.stringContaining('expected --workers 1') as string },
    });
  });

  test('of a client that opens its stream again, after it has left the first one', async () => {
    const { mcp } = await serve();
    const begun = await post(mcp, initialize);
    const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': begun.headers.get('Mcp-Session-Id')! };
    const leave = new AbortController();
    const first = await fetch(mcp, { headers, signal: AbortSignal.any([leave.signal, AbortSignal.timeout(3000)]) });
    expect(first.status).toBe(200);
    expect((await fetch(mcp, { headers })).status).toBe(409);
    leave.abort();
    const again = async () => {
      const { status, body } = await fetch(mcp, { headers });
      await body?.cancel();
      return status;
    };
    await expect.poll(again, { timeout: 3000 }).toBe(200);
  });
});
