/** `mua evaluate --agent`: its flags, and whole evaluations in a new process without a GPU. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { AGENT_FLAGS, readAgent } from '../../../src/cli/commands/agent.ts';
import { demonstratorOf, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { type AgentReply, type AgentRequest, calling, forExpert, startAgentServer } from '../../support/agent-server.ts';
import { startMua } from '../../support/mua.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => Promise.all(cleanups.splice(0).map((close) => close())));

const read = (...args: string[]) => readAgent(readFlags(args, AGENT_FLAGS));
const server = ['--agent', 'http://localhost:9', '--agent-model', 'm'];

describe('the flags', () => {
  it('name a server', async () => {
    const costs = ['--agent-prompt-price', '1', '--agent-completion-price', '2', '--agent-budget', '3'];
    expect(
      (await read(...server, '--agent-format', 'text', '--agent-max-tokens', '99', '--agent-body', '{"top_k": 20}', ...costs))!.server,
    ).toEqual({
      baseUrl: 'http://localhost:9/v1',
      model: 'm',
      format: 'text',
      maxTokens: 99,
      extraBody: { top_k: 20 },
      promptPrice: 1,
      completionPrice: 2,
      budget: 3,
    });
    expect(await read()).toBeNull();
  });
  it.each([
    [['--agent-format', 'text'], '--agent-format is given: expected --agent URL with it'],
    [['--agent-budget', '1'], '--agent-budget is given: expected --agent URL with it'],
    [[...server, '--agent-budget', '1'], 'expected --agent-prompt-price or --agent-completion-price above 0'],
    [[...server, '--agent-body', '[1]'], '--agent-body is "[1]": expected a JSON object'],
    [[...server, '--agent-body', '{"tools": []}'], '--agent-body has the field "tools"'],
    [['--agent', 'localhost:9', '--agent-model', 'm'], '--agent is "localhost:9": expected an http(s) URL'],
    [['--agent', 'http://localhost:1/v1'], 'or name a model with --agent-model'],
  ])('%j is refused', async (flags, message) => {
    await expect((async () => read(...flags))()).rejects.toThrow(message);
  });
});

/** A demonstrator of retail behind a server. */
async function expertServer(reply: (act: AgentReply, request: AgentRequest, before: number) => AgentReply = (act) => act) {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const expert = (await demonstratorOf('retail'))(await environments.domain('retail', 'nano'), 1, { style: 'careful' });
  const started = await startAgentServer((request, before) => {
    const act = expert.act(forExpert(request));
    return reply(
      'call' in act ? { content: act.note ?? null, ...calling([act.call], `c${before}`) } : { content: act.say },
      request,
      before,
    );
  });
  cleanups.push(started.close);
  return started;
}

const KEY = 'sk-agent-4711';
async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'mua-agent-'));
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}
const evaluate = (...args: string[]) => startMua(['evaluate', ...args], { MUA_AGENT_KEY: KEY }).done;
async function written(path: string): Promise<string> {
  const names = await readdir(path);
  return (await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))).join('\n');
}

test('50 tasks × 4 with a scripted agent take less than a minute, and the key is in no file', { timeout: 120_000 }, async () => {
  const { url, headers } = await expertServer();
  const out = await folder();
  const start = performance.now();
  const prices = ['--agent-prompt-price', '10', '--agent-completion-price', '100'];
  const { code, stdout, stderr } = await evaluate(
    '--agent',
    url,
    '--agent-model',
    'm',
    '--tasks',
    '50',
    '--trials',
    '4',
    ...prices,
    '--out',
    join(out, 'e'),
    '--json',
  );
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect((performance.now() - start) / 1000).toBeLessThan(60);
  const report = JSON.parse(stdout) as { pass_hat: { value: number }[]; unscored: number; agent: Record<string, number> };
  expect(report).toMatchObject({ unscored: 0, agent: { calls: headers.length, retries: 0, unreported: 0 } });
  expect(report.pass_hat.map(({ value }) => value)).toEqual([1, 1, 1, 1]);
  // Each answer has 100 prompt and 10 completion tokens.
  expect(report.agent).toMatchObject({ prompt_tokens: 100 * headers.length, completion_tokens: 10 * headers.length });
  expect(report.agent.cost).toBeCloseTo(0.002 * headers.length, 9);
  expect(new Set(headers.map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));
  expect(await written(join(out, 'e'))).not.toContain(KEY);
});

test('a failing server leaves trials without a score, and --resume plays them again', { timeout: 120_000 }, async () => {
  let broken = true;
  const { url } = await expertServer((act, { seed }) =>
    broken && Number(seed) % 3 === 0 ? { status: 400, body: { error: `Bearer ${KEY} is odd` } } : act,
  );
  const out = join(await folder(), 'e');
  const first = await evaluate('--agent', url, '--agent-model', 'm', '--tasks', '6', '--trials', '2', '--out', out, '--json');
  const report = JSON.parse(first.stdout) as {
    unscored: number;
    unscored_reason: string;
    pass_hat: { value: number }[];
    terminations: Record<string, number>;
  };
  expect(report.unscored).toBeGreaterThan(0);
  expect(report.unscored).toBeLessThan(12);
  expect(report.terminations.agent_error).toBe(report.unscored);
  expect(report.pass_hat[0]!.value).toBe(1);
  expect(report.unscored_reason).toContain('the agent’s server rejected the request (HTTP 400)');
  expect(first.stdout + first.stderr + (await written(out))).not.toContain(KEY);

  const other = await startMua(['evaluate', '--resume', out], { MUA_AGENT_KEY: 'another' }).done;
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('it was not started with this MUA_AGENT_KEY') as string]);
  broken = false;
  const again = await evaluate('--resume', out, '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ unscored: 0, terminations: { user_stop: 12 } });
  const done = await evaluate('--resume', out);
  expect([done.code, done.stderr]).toEqual([2, expect.stringContaining('it is done: nothing is left to do') as string]);
});

test('flags that only weights have are refused', { timeout: 60_000 }, async () => {
  for (const [flags, message] of [
    [['--model', 'models/nano-retail'], '--model is given: expected no --model with --agent'],
    [['--on', 'browser'], '--on is given: expected no --on with --agent'],
    [['--temperature', '1', '--agent-temperature', '0'], '--temperature and --agent-temperature are given'],
  ] as const) {
    const { code, stderr } = await evaluate('--agent', 'http://localhost:9', '--agent-model', 'm', ...flags);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message) as string]);
  }
  const secret = await evaluate('--agent', 'http://u:p@localhost:9/v1', '--agent-model', 'm', '--out', 'x');
  expect([secret.code, secret.stderr]).toEqual([2, expect.stringContaining('MUA_AGENT_KEY holds a key') as string]);
  expect(secret.stderr).not.toContain('u:p');
});

test('a server that refuses the key names the variable to set', { timeout: 60_000 }, async () => {
  const { url } = await expertServer(() => ({ status: 401, body: { error: 'no such key' } }));
  const { code, stderr } = await evaluate('--agent', url, '--agent-model', 'm', '--tasks', '1');
  expect(code).toBe(1);
  expect(stderr).toContain('set MUA_AGENT_KEY to its API key');
});
