/** The flags of a customer behind a server, and the local server that forwards the page's requests to it. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { COST_FLAGS, readUser, USER_FLAGS } from '../../../src/cli/commands/shared.ts';
import { serveSite } from '../../../src/cli/server.ts';
import { EndpointUsers } from '../../../src/users/endpoint.ts';
import { cancelOrder, customer } from '../../support/customers.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(cleanups.splice(0).map((close) => close()));
});

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const read = (...args: string[]) => readUser(readFlags(args, { ...USER_FLAGS, ...COST_FLAGS }) as unknown as { user: string });
const listing = (models: object[]) => serving((_, response) => void response.end(JSON.stringify({ object: 'list', data: models })));

describe('the model that is chosen if no flag names one', () => {
  test.each([
    ['LM Studio', [{ id: 'text-embedding-nomic-embed-text-v1.5' }, { id: 'qwen3-4b' }], 'qwen3-4b'],
    ['OpenAI', [{ id: 'whisper-1' }, { id: 'omni-moderation-latest' }, { id: 'gpt-5-mini' }], 'gpt-5-mini'],
    ['Ollama', [{ id: 'embeddinggemma:300m' }, { id: 'bge-m3:latest' }, { id: 'gemma3:4b' }], 'gemma3:4b'],
    [
      'Mistral',
      [
        { id: 'mistral-x', capabilities: { completion_chat: false } },
        { id: 'mistral-small', capabilities: { completion_chat: true } },
      ],
      'mistral-small',
    ],
    [
      'Together',
      [
        { id: 'a/b', type: 'embedding' },
        { id: 'c/d', type: 'chat' },
      ],
      'c/d',
    ],
  ])('%s: the first that can chat', async (_, models, chosen) => {
    expect((await read('--user', await listing(models))).user).toMatchObject({ model: chosen });
  });

  test('a server without a chat model is an error that names what it has', async () => {
    await expect(read('--user', await listing([{ id: 'bge-m3' }]))).rejects.toThrow(/it lists no chat model, only bge-m3.*--user-model/);
    await expect(read('--user', await listing([]))).rejects.toThrow(/it lists no model\)/);
  });

  test('a server that needs a key names MUA_USER_KEY, in the words of the server', async () => {
    const url = await serving((_, response) => void response.writeHead(401).end('{"error": {"message": "Missing bearer token"}}'));
    await expect(read('--user', url)).rejects.toThrow(/Missing bearer token.*set MUA_USER_KEY/);
  });
});

describe('the settings of requests', () => {
  const server = ['--user', 'http://localhost:9', '--user-model', 'm'];

  test('are part of the customer', async () => {
    const { user } = await read(...server, '--user-temperature', '0.7', '--user-max-tokens', '256', '--user-body', '{"top_k": 20}');
    expect(user).toEqual({
      mode: 'endpoint',
      baseUrl: 'http://localhost:9/v1',
      model: 'm',
      temperature: 0.7,
      maxTokens: 256,
      extraBody: { top_k: 20 },
    });
  });

  test.each([
    [['--user-body', '[1]'], /--user-body is "\[1\]": expected a JSON object/],
    [['--user-body', '{'], /--user-body is "\{": expected a JSON object/],
    [['--user-body', '{"messages": []}'], /--user-body has the field "messages"/],
    [['--user-max-tokens', '0'], /--user-max-tokens is "0": expected a whole number/],
  ])('%j is refused', async (flags, message) => {
    await expect((async () => read(...server, ...flags))()).rejects.toThrow(message);
  });

  test('need a server', async () => {
    await expect(read('--user-temperature', '0')).rejects.toThrow('--user-temperature is given: expected --user URL with it');
  });
});

describe('requests that the local server forwards', () => {
  const scenario = customer('on_request', [cancelOrder]);
  async function forwarding(baseUrl: string) {
    const folder = await mkdtemp(join(tmpdir(), 'mua-site-'));
    await writeFile(join(folder, 'index.html'), '');
    const site = await serveSite(folder);
    cleanups.push(site.close, () => rm(folder, { recursive: true }));
    return site.proxyUser({ baseUrl });
  }

  test('a dead server is named by its own address', async () => {
    const url = await serving(() => {});
    await cleanups.pop()!();
    const users = new EndpointUsers({ baseUrl: await forwarding(`${url}/v1?key=k`), model: 'm', maxRetries: 0 });
    await expect(users.session(scenario, 1).open()).rejects.toMatchObject({
      kind: 'network',
      message: `the user endpoint at ${url}/v1/chat/completions cannot be reached`,
    });
  });

  test('the page gets all headers that say how long to wait, and no others', async () => {
    const sent = {
      'retry-after-ms': '5',
      'x-ratelimit-reset-requests': '1s',
      'anthropic-ratelimit-requests-reset': 'x',
      'set-cookie': 'a=b',
      'x-mua-unreachable': 'me',
    };
    const url = await serving((_, response) => void response.writeHead(429, sent).end());
    const { headers } = await fetch(`${await forwarding(`${url}/v1`)}/models`);
    expect(Object.keys(sent).map((name) => headers.get(name))).toEqual(['5', '1s', 'x', null, null]);
  });
});
