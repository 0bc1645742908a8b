/** The next call of a model after the right conversation, in the small copy of BFCL, whose right calls are 6. */
import { describe, expect, it } from 'vitest';
import { serverAgents } from '../../../src/agent/server/agents.ts';
import { NO_TOKENS } from '../../../src/agent/server/server-turns.ts';
import type { Stage } from '../../../src/agent/rollouts.ts';
import { importBenchmark } from '../../../src/benchmarks/import/import.ts';
import { importedDomains } from '../../../src/benchmarks/imported-domain.ts';
import { rulesFor } from '../../../src/benchmarks/rules.ts';
import { goldTurns } from '../../../src/benchmarks/tasks.ts';
import { sameCall as sameAceCall } from '../../../src/domains/agent/same-call.ts';
import { exactCall, sameCall, toolCallOf } from '../../../src/domains/multiturn/tool-call.ts';
import { customerScripts } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { isTaught, nextCalls } from '../../../src/evaluation/next-call.ts';
import { dict } from '../../../src/python/values.ts';
import { ServerModel } from '../../../src/users/agent-model.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { aceFixtureFiles } from '../../support/acebench-fixture.ts';
import { type AgentRequest, startAgentServer } from '../../support/agent-server.ts';
import { fixtureFiles } from '../../support/bfcl-fixture.ts';
import { hashSampler } from '../../support/hash-sampler.ts';
import { nanoTokenizer } from '../../support/tokenizers.ts';

const LIMITS = {
  max_turns: 30,
  response_length_one_turn: 20,
  max_model_len: 4096,
  malformed_policy: 'feedback',
  require_done: false,
} as const;

async function stageOf(name: string, files: Parameters<typeof importBenchmark>[0], level = 'full') {
  const imported = await importBenchmark(files);
  const domains = importedDomains(async () => ({ id: 'i', imported })).filter((one) => one.name === name);
  const environments = createEnvironments({ domains, inMemory: true });
  const domain = await environments.domain(name, level);
  const ids = imported.tasks.map(({ id }) => id);
  const tasks = await environments.tasks({ domain: name, level, split: 'heldout', seed: 1, count: 100, select: { ids } });
  return { tasks, stage: { domain, environments, users: new ScriptedUsers(customerScripts), rules: rulesFor(domain, 'domain') } };
}

const measured = (stage: Stage, tasks: Parameters<typeof nextCalls>[1]['tasks'], limits = {}) =>
  nextCalls(stage, {
    tasks,
    gold: goldTurns,
    limits: { ...LIMITS, ...limits },
    sampling: { temperature: 1, top_p: 1, top_k: 0 },
    seed: 1,
    firstStream: 0,
    concurrency: 4,
  });

const call = (name: string, args: object) => ({
  tool_calls: [{ id: 'x', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});

/** What the model should call, from the last message of the user and the results after it. */
function wanted({ messages }: AgentRequest) {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const results = messages.slice(last).filter(({ role }) => role === 'tool').length;
  const said = messages[last]!.content!;
  if (said === 'Pay in fifty.') return call('fund_account', { amount: 50 });
  if (said === 'Make b.txt in docs.') return results === 0 ? call('cd', { folder: 'docs' }) : call('touch', { file_name: 'b.txt' });
  return said === 'List the files.' ? call('ls', {}) : call('cat', { file_name: 'a.txt' });
}

async function served(reply: (request: AgentRequest) => ReturnType<typeof call> | { content: string } | { status: number; body: unknown }) {
  const { stage, tasks } = await stageOf('bfcl-multiturn', fixtureFiles());
  const { url, requests, close } = await startAgentServer(reply);
  const agents = serverAgents(new ServerModel({ baseUrl: url, model: 'm', maxRetries: 0 }, { backoffMs: 1 }));
  const report = await measured({ ...stage, agents, tokenizer: NO_TOKENS }, tasks);
  close();
  return { report, requests };
}

describe('the next call', () => {
  it('is always right for a model that plays the gold calls', async () => {
    const { report, requests } = await served(wanted);
    expect(report).toMatchObject({ value: 1, right: 6, of: 6, unread: 0, unscored: 0, agent: { calls: 6 } });
    expect(report!.by_intent).toEqual({ base: { right: 4, of: 4 }, miss_func: { right: 2, of: 2 } });
    expect(requests).toHaveLength(6);
  });

  it('is asked after the right calls, whatever the model has called', async () => {
    const { report, requests } = await served((request) => {
      const right = wanted(request);
      return right.tool_calls[0]!.function.name === 'cat' ? right : call('cd', { folder: 'nowhere' });
    });
    expect(report).toMatchObject({ right: 2, of: 6, value: 1 / 3 });
    const last = requests.find(({ messages }) => messages.some(({ tool_calls }) => tool_calls?.[0]!.function.name === 'cd'))!;
    const calls = last.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ function: made }) => `${made.name} ${made.arguments}`));
    expect(calls).toEqual(['cat {"file_name": "a.txt"}', 'cd {"folder": "docs"}']);
  });

  it('is wrong if the model only talks, and not scored if its server fails', async () => {
    expect((await served(() => ({ content: 'I cannot.' }))).report).toMatchObject({ right: 0, of: 6, unscored: 0 });
    expect((await served(() => ({ status: 500, body: 'no' }))).report).toMatchObject({ right: 0, of: 0, unscored: 3, low: 0, high: 1 });
  });

  it('is asked of weights too: turns that are too long are wrong, and calls beyond the context are counted', async () => {
    const { stage, tasks } = await stageOf('bfcl-multiturn', fixtureFiles(), 'compact');
    const weights = () => ({ ...stage, sampler: hashSampler(0, 4), tokenizer: nanoTokenizer() });
    expect(await measured(weights(), tasks)).toMatchObject({ right: 0, of: 6, unread: 0, unscored: 0 });
    const short = await measured(weights(), tasks, { max_model_len: 60 });
    expect(short).toMatchObject({ right: 0, of: 6, unread: 6 });
  });

  it('exists for scripted tasks only', async () => {
    const { stage, tasks } = await stageOf('acebench-agent', aceFixtureFiles());
    expect(new Set(tasks.filter(isTaught).map(({ id }) => /multi_(turn|step)/.exec(id)![0]))).toEqual(new Set(['multi_step']));
    expect(
      await measured(
        { ...stage, tokenizer: NO_TOKENS },
        tasks.filter((task) => !isTaught(task)),
      ),
    ).toBeUndefined();
    const steps = tasks.filter(isTaught);
    const { url, close } = await startAgentServer(() => ({ content: '[turn_on_wifi()]' }));
    const agents = serverAgents(new ServerModel({ baseUrl: url, model: 'm', maxRetries: 0 }, { backoffMs: 1 }));
    const report = await measured({ ...stage, agents, tokenizer: NO_TOKENS }, steps);
    close();
    const right = steps.flatMap(({ actions }) => actions).filter(({ name }) => name === 'turn_on_wifi').length;
    expect(right).toBeGreaterThan(0);
    expect(report).toMatchObject({ right, of: steps.flatMap(({ actions }) => actions).length, unread: 0 });
  });
});

describe('two calls', () => {
  const of = (text: string) => toolCallOf(text)!;
  it.each([
    ["cd('a')", "cd(folder='a')", true],
    ['ls()', 'ls(a=False)', true],
    ['ls()', 'ls(a=True)', false],
    ['fund_account(5)', 'fund_account(amount=5.0)', true],
    ['fund_account(5)', "fund_account('5')", false],
    ['mean([1, 2])', 'mean(numbers=[1.0, 2])', true],
    ['mean([1, 2])', 'mean([2, 1])', false],
    ["cd('a')", "cat('a')", false],
    ["post_tweet('x')", "post_tweet('x', tags=[])", false],
    ["cd('a')", "cd(folder='a', x=1)", false],
    ["cd('a')", 'cd()', false],
  ])('%s and %s: %s', (a, b, same) => {
    expect(sameCall(of(a), of(b))).toBe(same);
    expect(sameCall(of(b), of(a))).toBe(same);
  });

  it('of unknown functions differ, and those of ACEBench need equal arguments', () => {
    expect(sameCall({ name: 'f', arguments: {} }, { name: 'f', arguments: {} })).toBe(false);
    const view = (id: bigint | number) => exactCall('view', dict({ id }));
    expect(sameAceCall(view(3n), view(3))).toBe(true);
    expect(sameAceCall(view(3n), view(4n))).toBe(false);
  });
});
