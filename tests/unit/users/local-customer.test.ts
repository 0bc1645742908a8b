/** Customers played by a language model in the tab: the prompt, the order of many conversations, time limits, and a worker that dies. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Generation } from '../../../src/local/api.ts';
import { checkFolder } from '../../../src/local/check.ts';
import { readPicked } from '../../../src/local/folder.ts';
import { folderPrecisions } from '../../../src/local/precision.ts';
import { resumable } from '../../../src/base/hub.ts';
import type { UserScenario } from '../../../src/records/task.ts';
import type { LocalConfig } from '../../../src/records/user.ts';
import { LocalHost } from '../../../src/users/local-host.ts';
import { LocalHosts } from '../../../src/users/local-hosts.ts';
import { LocalUsers, readGenerated } from '../../../src/users/local.ts';
import { UserSessions } from '../../../src/users/worker-api.ts';
import { customerScripts } from '../../../src/domains/registry.ts';
import { FakeWorkers, type Generate, said } from '../../support/model-workers.ts';

const CONFIG: LocalConfig = { source: 'bundled', model: 'm', precision: 'fp32', device: 'wasm' };
const SCENARIO: UserScenario = { persona: 'upfront', identity: {}, wishes: [], instruction: 'You want to cancel order #W1.' };
const request = (conversation = 'a'): Generation => ({
  conversation,
  messages: [],
  tools: [],
  maxTokens: 5,
  temperature: 0,
  seed: 1,
});
const never = () => new Promise<never>(() => {});
const stoppable: Generate = async (_, stopped) => {
  await stopped;
  return { failure: { kind: 'cancelled', message: 'the generation was cancelled', isFatal: false } };
};

afterEach(() => vi.useRealTimers());

test('the model gets the instruction and the conversation with mirrored roles, and its tokens are counted', async () => {
  const workers = new FakeWorkers(async ({ messages }) =>
    said(messages.length < 3 ? 'Cancel #W1.' : '<think>\n\n</think>\n\nBye. ###STOP###'),
  );
  const session = new LocalUsers(CONFIG, new LocalHosts(workers.spawn)).session(SCENARIO, 3);
  expect(await session.open()).toBe('Cancel #W1.');
  expect(await session.reply('Done. Anything else?')).toBe('Bye. ###STOP###');
  expect(workers.requests[1]!.messages.slice(1)).toEqual([
    { role: 'user', content: 'Hi! How can I help you today?' },
    { role: 'assistant', content: 'Cancel #W1.' },
    { role: 'user', content: 'Done. Anything else?' },
  ]);
  expect(workers.requests[0]!.messages[0]!.content).toContain(SCENARIO.instruction);
  expect(workers.requests[0]!.conversation).toBe(workers.requests[1]!.conversation);
  expect(workers.requests[0]!.seed).not.toBe(workers.requests[1]!.seed);
  expect(session.requests).toMatchObject([
    { prompt: 7, completion: 3, retry: false },
    { prompt: 7, completion: 3, retry: false },
  ]);
});

test('a tool of the customer is called, and its result goes back', async () => {
  const workers = new FakeWorkers(async ({ messages }) =>
    said(messages.at(-1)!.role === 'tool' ? 'It works.' : '<tool_call>\n{"name": "reboot", "arguments": {"now": true}}\n</tool_call>'),
  );
  const schema = { type: 'function' as const, function: { name: 'reboot', description: '', parameters: { type: 'object' as const, properties: {}, required: [] } } }; // prettier-ignore
  const call = vi.fn(async () => [{ text: 'rebooted', error: false }]);
  const session = new LocalUsers(CONFIG, new LocalHosts(workers.spawn)).session(SCENARIO, 3, { schemas: [schema], call });
  expect(await session.open()).toBe('It works.');
  expect(call).toHaveBeenCalledWith([{ name: 'reboot', arguments: { now: true } }]);
  expect(workers.requests[1]!.messages.slice(-2)).toEqual([
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'call00000', type: 'function', function: { name: 'reboot', arguments: { now: true } } }],
    },
    { role: 'tool', content: 'rebooted', tool_call_id: 'call00000' },
  ]);
});

test('one generation at a time, and the conversations take turns', async () => {
  const workers = new FakeWorkers(async ({ conversation }) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return said(conversation);
  });
  const host = new LocalHost(CONFIG, workers.spawn);
  await Promise.all(
    ['a', 'b', 'c'].map(async (conversation) => {
      for (let turn = 0; turn < 3; turn++) await host.generate(request(conversation));
    }),
  );
  expect(workers.requests.map(({ conversation }) => conversation).join('')).toBe('abcabcabc');
  expect([workers.mostRunning, workers.spawned]).toEqual([1, 1]);
});

describe('failures end the episode, and the next episode plays', () => {
  test('a model that is too slow is stopped', async () => {
    const workers = new FakeWorkers(stoppable);
    const host = new LocalHost(CONFIG, workers.spawn);
    await expect(host.generate(request(), undefined, 50)).rejects.toMatchObject({ kind: 'timeout', message: 'the model "m" in the tab gave no answer within 50 ms' }); // prettier-ignore
    workers.generate = async () => said('ok');
    expect((await host.generate(request())).text).toBe('ok');
    expect([workers.spawned, workers.terminated]).toEqual([1, 0]);
  });

  test('a worker that hangs is replaced', async () => {
    const workers = new FakeWorkers(never);
    const host = new LocalHost(CONFIG, workers.spawn, 20);
    await expect(host.generate(request(), undefined, 50)).rejects.toMatchObject({ kind: 'timeout' });
    workers.generate = async () => said('ok');
    expect((await host.generate(request())).text).toBe('ok');
    expect([workers.spawned, workers.terminated]).toEqual([2, 1]);
  });

  test('a worker that dies is replaced', async () => {
    const workers = new FakeWorkers(never);
    const host = new LocalHost(CONFIG, workers.spawn);
    const answer = host.generate(request());
    await vi.waitFor(() => expect(workers.running).toBe(1));
    workers.die(new Error('out of memory'));
    await expect(answer).rejects.toMatchObject({ kind: 'server', message: 'the worker of the model "m" failed (out of memory): expected its next message' }); // prettier-ignore
    workers.generate = async () => said('ok');
    expect((await host.generate(request())).text).toBe('ok');
    expect(workers.spawned).toBe(2);
  });

  test('memory that runs out ends the worker', async () => {
    const workers = new FakeWorkers(async () => ({ failure: { kind: 'memory', message: 'memory ran out at 9 tokens', isFatal: true } }));
    const host = new LocalHost(CONFIG, workers.spawn);
    await expect(host.generate(request())).rejects.toMatchObject({ kind: 'server', message: 'memory ran out at 9 tokens' });
    expect(workers.terminated).toBe(1);
  });

  test('a cancelled conversation ends at once, also while it waits', async () => {
    const workers = new FakeWorkers(stoppable);
    const host = new LocalHost(CONFIG, workers.spawn);
    const [first, second] = [new AbortController(), new AbortController()];
    const answers = [host.generate(request('a'), first.signal), host.generate(request('b'), second.signal)];
    await vi.waitFor(() => expect(workers.running).toBe(1));
    second.abort();
    await expect(answers[1]).rejects.toMatchObject({ kind: 'aborted' });
    first.abort();
    await expect(answers[0]).rejects.toMatchObject({ kind: 'aborted' });
    expect(workers.requests.map(({ conversation }) => conversation)).toEqual(['a']);
  });

  test('a model that cannot be loaded ends the start of a run', async () => {
    const workers = new FakeWorkers(never);
    workers.load = () => ({ failure: { kind: 'files', message: 'config.json of "m" is missing', isFatal: false } });
    const users = new LocalUsers(CONFIG, new LocalHosts(workers.spawn));
    await expect(users.ready()).rejects.toMatchObject({ kind: 'bad_response', message: 'config.json of "m" is missing' });
    expect([workers.spawned, workers.terminated]).toEqual([1, 1]);
  });
});

test('a model that no conversation uses leaves the memory', async () => {
  vi.useFakeTimers();
  const workers = new FakeWorkers(async () => said('ok'));
  const host = new LocalHost(CONFIG, workers.spawn);
  await host.generate(request());
  vi.advanceTimersByTime(299_000);
  expect(workers.terminated).toBe(0);
  vi.advanceTimersByTime(2000);
  expect(workers.terminated).toBe(1);
});

test('the user worker waits until the model is loaded', async () => {
  const sessions = new UserSessions(customerScripts);
  // Node has no web workers, so a customer in the tab cannot start. The caller gets this error.
  await expect(sessions.configure({ mode: 'local', ...CONFIG })).rejects.toThrow(/Worker is not defined/);
  expect(await sessions.configure({ mode: 'scripted' })).toEqual({ simulator: 1 });
});

test.each([
  ['cut', { text: 'I want', isCut: true }, 'the customer’s model did not end its message within 3 tokens'],
  ['thoughts only', { text: '<think>hm', isCut: false }, 'the customer’s model did not end its thoughts (<think> is not closed)'],
  ['empty', { text: ' \n', isCut: false }, 'the customer’s model gave an empty answer'],
])('an answer that is %s is refused', (_, answer, message) => {
  expect(() => readGenerated({ promptTokens: 1, tokens: 3, ...answer }, false)).toThrow(message);
});

test('marks of a call that cannot be read stay words', () => {
  const text = 'Hello <tool_call>{"name": 3}</tool_call>';
  expect(readGenerated({ text, isCut: false, promptTokens: 1, tokens: 3 }, true)).toEqual({ text, calls: [] });
});

describe('a folder', () => {
  const good: Record<string, string> = {
    'config.json': '{"architectures": ["Qwen3ForCausalLM"]}',
    'tokenizer.json': '{}',
    'tokenizer_config.json': '{"chat_template": "x"}',
    'onnx/model.onnx': '',
  };
  const check = (change: Record<string, string | undefined>) => {
    const files = Object.fromEntries(Object.entries({ ...good, ...change }).filter(([, text]) => text !== undefined)) as typeof good;
    return checkFolder({ model: 'm', precision: 'fp32' }, Object.keys(files), async (path) => files[path]!);
  };

  test('of a text-generation model passes, with its template in either file', async () => {
    await check({});
    await check({ 'tokenizer_config.json': '{}', 'chat_template.jinja': 'x' });
  });

  test.each([
    ['onnx/model.onnx', undefined, 'onnx/model.onnx of "m" is missing: expected an ONNX model in the precision fp32'],
    ['tokenizer.json', undefined, 'tokenizer.json of "m" is missing: expected a tokenizer'],
    [
      'config.json',
      '{"architectures": ["BertModel"]}',
      'config.json of "m" names the architecture "BertModel": expected a text-generation model, such as Qwen3ForCausalLM',
    ],
    ['config.json', '[', /^config\.json of "m" is not JSON \(.+\): expected a JSON object$/],
    ['config.json', '7', 'config.json of "m" is 7: expected a JSON object'],
    [
      'tokenizer_config.json',
      '{}',
      'tokenizer_config.json of "m" has no chat_template: expected the template of an instruction-tuned model',
    ],
  ] as const)('with %s %s is refused', async (path, text, message) => {
    await expect(check({ [path]: text })).rejects.toThrow(message);
  });

  test('is read with its name, and offers its precisions', () => {
    const file = new File(['x'], 'x');
    const { name, files } = readPicked(
      ['qwen/onnx/model_q4.onnx', 'qwen/onnx/model.onnx', 'qwen/config.json'].map((path) => [path, file] as const),
    );
    expect([name, files.map(({ path }) => path)]).toEqual(['qwen', ['onnx/model_q4.onnx', 'onnx/model.onnx', 'config.json']]);
    expect(folderPrecisions(name, files)).toEqual(['q4', 'fp32']);
    expect(() => folderPrecisions('qwen', files.slice(2))).toThrow('the folder "qwen" has no onnx/model.onnx');
  });
});

describe('a download', () => {
  const FILE = Uint8Array.from({ length: 10 }, (_, i) => i);
  /** Each answer sends `bytes` from the start that its range names, and then breaks off. */
  const server = (...bytes: number[]) => {
    const ranges: (string | undefined)[] = [];
    vi.stubGlobal('fetch', async (_url: string, { headers }: { headers?: { Range: string } }) => {
      ranges.push(headers?.Range);
      const from = Number(headers?.Range.match(/\d+/)![0] ?? 0);
      const to = Math.min(FILE.length, from + (bytes.shift() ?? 0));
      let isSent = to === from;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (isSent) return to === FILE.length ? controller.close() : controller.error(new TypeError('the connection broke'));
          isSent = true;
          controller.enqueue(FILE.slice(from, to));
        },
      });
      return new Response(body, { status: headers ? 206 : 200 });
    });
    return ranges;
  };
  const downloaded = () => new Response(resumable('http://hub/x', { path: 'x', bytes: FILE.length })).bytes();
  afterEach(() => vi.unstubAllGlobals());

  test('goes on after the bytes that have arrived', async () => {
    const ranges = server(0, 4, 3, 9);
    expect(await downloaded()).toEqual(FILE);
    expect(ranges).toEqual([undefined, undefined, 'bytes=4-', 'bytes=7-']);
  });

  test('ends if more bytes come than the Hub named', async () => {
    server(FILE.length);
    const longer = new Response(resumable('http://hub/x', { path: 'x', bytes: FILE.length - 1 })).bytes();
    await expect(longer).rejects.toThrow('the download of x broke off after 10 bytes: expected 9');
  });

  test('ends after three new connections', async () => {
    const ranges = server(2, 2, 2, 2, 2);
    await expect(downloaded()).rejects.toThrow('the download of x broke off after 8 bytes: expected 10');
    expect(ranges).toHaveLength(4);
  });
});
