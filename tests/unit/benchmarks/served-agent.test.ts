/** Agents behind a real HTTP server that play the gold of benchmarks, do nothing, or fail. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it, test } from 'vitest';
import type { BfclTask } from '../../../src/benchmarks/bfcl/task.ts';
import { importBenchmark } from '../../../src/benchmarks/import/import.ts';
import { goldTurns, toldBy } from '../../../src/benchmarks/tasks.ts';
import { customerScripts } from '../../../src/domains/registry.ts';
import { loads } from '../../../src/python/json.ts';
import { dumps } from '../../../src/python/text.ts';
import type { Task, ToolCall } from '../../../src/records/task.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { type AgentReply, type AgentRequest, calling, startAgentServer } from '../../support/agent-server.ts';
import { files, tau1Airline, tau1Retail, tau2Mock, tau2Retail } from '../../support/benchmark-data.ts';
import { bfclFolder, expectedBfcl, filesOf, hasBfcl, sha256 } from '../../support/bfcl-data.ts';
import { aceFixtureFiles } from '../../support/acebench-fixture.ts';
import { aceFolder, hasAce } from '../../support/acebench-data.ts';
import { fixtureFiles } from '../../support/bfcl-fixture.ts';
import { aceStage } from '../../support/acebench-play.ts';
import { GoldPlan, importedStage } from '../../support/served-episodes.ts';

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((close) => close()));

async function serving(reply: (request: AgentRequest) => AgentReply) {
  const server = await startAgentServer(reply);
  cleanups.push(server.close);
  return server;
}
type Stage = Awaited<ReturnType<typeof importedStage>>;

async function playGold(stage: Stage, task: Task, url: string, plans: Map<string, GoldPlan>): Promise<Trajectory> {
  const plan = new GoldPlan(task, toldBy(task));
  plans.set(task.id, plan);
  return stage.play(task, plan.users, url).finally(() => plans.delete(task.id));
}

/** An agent that plays the gold of all tasks. @param most calls in one message */
async function goldServer(most: number) {
  const plans = new Map<string, GoldPlan>();
  const { url } = await serving(({ model, messages }) => {
    const plan = plans.get(model)!;
    // It first says all that it must say, because a call may end the conversation.
    if (plan.told.length > 0 && messages.filter(({ role }) => role === 'user').length === 1) return { content: plan.told.join(', ') };
    const calls = plan.take('assistant', most);
    return calls.length > 0 ? calling(calls, `${messages.length}`) : { content: 'Please go on.' };
  });
  return { url, plans };
}

const silent = { session: () => ({ open: async () => 'Hello, I need help.', reply: async () => '###STOP###' }) };

/** The failures of all tasks: gold must get the expected reward, and an agent that does nothing must not pass a task with writes. */
async function failures(stage: Stage, most: number, wanted: (task: Task) => number): Promise<string[]> {
  const { url, plans } = await goldServer(most);
  const nothing = await serving(() => ({ content: 'I cannot help.' }));
  const broken = await serving(() => ({ status: 500, body: { error: { message: 'CUDA error' } } }));
  const wrong: string[] = [];
  for (const task of stage.tasks) {
    const gold = await playGold(stage, task, url, plans);
    if (gold.reward !== wanted(task)) wrong.push(`${task.id} gold ${gold.reward} ${gold.termination} ${gold.error ?? ''}`);
    const idle = await stage.play(task, silent, nothing.url);
    if (!task.noop && task.actions.length > 0 && idle.reward !== 0) wrong.push(`${task.id} idle ${idle.reward}`);
    const failed = await stage.play(task, silent, broken.url);
    if (failed.reward !== null || failed.termination !== 'agent_error') wrong.push(`${task.id} failing ${failed.reward}`);
  }
  return wrong;
}

describe('tasks in the formats of tau-bench and tau2-bench', () => {
  it.each([
    ['tau1 retail', tau1Retail, 1],
    ['tau1 airline', tau1Airline, 1],
    ['tau2 retail', tau2Retail, Infinity],
  ] as const)('%s: gold passes, nothing fails, and an error is not scored', async (_, data, most) => {
    expect(await failures(await importedStage(await importBenchmark(files(data))), most, () => 1)).toEqual([]);
  });

  it('tau2 makes all calls of one message', async () => {
    const stage = await importedStage(await importBenchmark(files(tau2Mock)));
    const { url } = await serving(({ messages }) =>
      messages.at(-1)!.role === 'tool'
        ? { content: 'Done.' }
        : calling([
            { name: 'get_users', arguments: {} },
            { name: 'update_task_status', arguments: { task_id: 'task_1', status: 'completed' } },
          ]),
    );
    const played = await stage.play(stage.tasks[0]!, silent, url);
    expect(played).toMatchObject({ turns: 3, toolCalls: { get_users: 1, update_task_status: 1 }, termination: 'user_stop' });
  });
});

/** An agent that plays BFCL's gold: all calls of a turn in one message. */
const bfclGold = (gold: ReadonlyMap<string, readonly (readonly ToolCall[])[]>) => (request: AgentRequest) => {
  const turn = request.messages.filter(({ role }) => role === 'user').length - 1;
  const calls = request.messages.at(-1)!.role === 'user' ? (gold.get(request.model)![turn] ?? []) : [];
  return calls.length > 0 ? calling(calls, `${request.messages.length}`) : { content: '' };
};
const users = new ScriptedUsers(customerScripts);

describe('an entry of BFCL', () => {
  const stage = async () => importedStage(await importBenchmark(fixtureFiles()));

  it('passes with the gold calls, fails with nothing, and an error is not scored', async () => {
    const { tasks, play } = await stage();
    const { url } = await serving(bfclGold(new Map(tasks.map((task) => [task.id, goldTurns(task)]))));
    const nothing = await serving(() => ({ content: '' }));
    const broken = await serving(() => ({ status: 400, body: { error: 'no' } }));
    for (const task of tasks) {
      expect(await play(task, users, url)).toMatchObject({ reward: 1, termination: 'user_stop' });
      expect(await play(task, users, nothing.url)).toMatchObject({ reward: 0, termination: 'user_stop' });
      expect(await play(task, users, broken.url)).toMatchObject({ reward: null, termination: 'agent_error' });
    }
  });

  it('passes with the gold calls as text', async () => {
    const { tasks, play } = await stage();
    const texts = new Map(tasks.map((task) => [task.id, goldTurns(task)]));
    const { url, requests } = await serving((request) => {
      const { tool_calls = [] } = bfclGold(texts)({
        ...request,
        messages: request.messages
          .filter(({ role, content }) => role !== 'user' || !content!.startsWith('<tool_response>'))
          .concat(request.messages.at(-1)!.content!.startsWith('<tool_response>') ? { role: 'tool', content: '' } : []),
      }) as { tool_calls?: { function: { name: string; arguments: string } }[] };
      return {
        content: tool_calls
          .map(({ function: { name, arguments: args } }) => `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`)
          .join('\n'),
      };
    });
    for (const task of tasks) expect((await play(task, users, url, { format: 'text' })).reward).toBe(1);
    expect(requests.every(({ tools }) => tools === undefined)).toBe(true);
    expect(requests[0]!.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('"name": "ls"') as string });
  });

  it('ends a turn at calls that cannot be decoded, as upstream, and answers them for the server', async () => {
    const { tasks, play } = await stage();
    const { url, requests } = await serving(() => ({
      tool_calls: [{ id: 'x', type: 'function', function: { name: 'ls', arguments: '[1' } }],
    }));
    const played = await play(tasks[0]!, users, url);
    expect(played).toMatchObject({ reward: 0, toolCalls: {}, parseErrors: 0, termination: 'user_stop' });
    expect(requests[1]!.messages.slice(-3)).toEqual([
      { role: 'assistant', content: null, tool_calls: [{ id: 'x', type: 'function', function: { name: 'ls', arguments: '[1' } }] },
      { role: 'tool', tool_call_id: 'x', content: expect.stringContaining('not read') as string },
      { role: 'user', content: expect.any(String) as string },
    ]);
  });

  it('keeps 50 apart from 50.0, and large integers whole', async () => {
    const { tasks, play } = await stage();
    const task = tasks.find(({ id }) => id.endsWith('base_1'))!;
    for (const [amount, reward] of [
      ['50.0', 1],
      ['50.5', 0],
      ['12345678901234567890', 0],
    ] as const) {
      const { url } = await serving(({ messages }) =>
        messages.at(-1)!.role === 'tool'
          ? { content: 'Done.' }
          : { tool_calls: [{ id: 'a', function: { name: 'fund_account', arguments: `{"amount":  ${amount}}` } }] },
      );
      const played = await play(task, users, url);
      expect(played.reward).toBe(reward);
      expect(played.nodes.find(({ toolCall }) => toolCall)!.toolCall!.exact).toBe(`{"amount": ${amount}}`);
    }
  });
});

describe('a task of ACEBench', () => {
  const call = (name: string, args: object) => ({ name, arguments: args }) as ToolCall;
  it.each([
    ['native calls', [calling([call('turn_on_wifi', {})], 'a'), calling([call('delete_message', { message_id: 1 })], 'b')], 1],
    ['several native calls', [calling([call('turn_on_wifi', {}), call('delete_message', { message_id: 1 })], 'a')], 1],
    ['calls in words, as upstream asks for', [{ content: '[turn_on_wifi()]' }, { content: '[delete_message(message_id=1)]' }], 1],
    ['nothing', [], 0],
  ])('%s', async (_, replies, reward) => {
    const { tasks, play } = await importedStage(await importBenchmark(aceFixtureFiles()));
    const task = tasks.find(({ id }) => id.endsWith('en_agent_multi_turn_0'))!;
    const left = [...replies];
    const { url, requests } = await serving(() => left.shift() ?? { content: 'finish conversation' });
    expect(await play(task, users, url)).toMatchObject({ reward, termination: 'agent_stop' });
    expect(requests[0]!.messages[0]).toEqual({ role: 'system', content: 'EN role.\nEN phone.' });
    const broken = await serving(() => ({ status: 500, body: 'no' }));
    expect(await play(task, users, broken.url)).toMatchObject({ reward: null, termination: 'agent_error' });
  });
});

const shared = resolve(import.meta.dirname, '../../../../shared/data');
const hasTau = existsSync(join(shared, 'expected/tau1_airline.json'));
if (!hasTau) console.warn(`SKIPPED: all tasks of tau-bench and tau2-bench with an agent behind a server: ${shared} does not exist`);
if (!hasBfcl) console.warn(`SKIPPED: all entries of BFCL with an agent behind a server: ${bfclFolder} does not exist`);

const folder = async (path: string) =>
  importedStage(
    await importBenchmark(
      readdirSync(join(shared, path), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => [name, readFileSync(join(shared, path, name))] as const),
    ),
  );
/** The rewards that the original code gives to the gold actions. */
function originalRewards(name: string): Map<string, number> {
  const { tasks } = JSON.parse(readFileSync(join(shared, `expected/${name}.json`), 'utf8')) as {
    tasks: {
      index?: number;
      id?: string;
      rewards?: { gold_then_outputs: { reward: number } };
      evaluations?: { gold: { reward: number } };
    }[];
  };
  return new Map(
    tasks.map(({ index, id, rewards, evaluations }) => [id ?? `test/${index}`, (rewards?.gold_then_outputs ?? evaluations!.gold).reward]),
  );
}

test.skipIf(!hasTau).each([
  ['tau-bench/retail', 'tau1_retail', 1],
  ['tau-bench/airline', 'tau1_airline', 1],
  ['tau2-bench/retail', 'tau2_retail', Infinity],
  ['tau2-bench/airline', 'tau2_airline', Infinity],
  ['tau2-bench/mock', 'tau2_mock', Infinity],
  ['tau2-bench/telecom', 'tau2_telecom', Infinity],
] as const)('%s: gold gets what the original code gives', { timeout: 300_000 }, async (path, name, most) => {
  const rewards = originalRewards(name);
  const stage = await folder(path);
  stage.tasks = stage.tasks.filter(({ benchmark }) => rewards.has(benchmark!.id));
  expect(stage.tasks).toHaveLength(rewards.size);
  expect(await failures(stage, most, ({ benchmark }) => rewards.get(benchmark!.id)!)).toEqual([]);
});

// Most entries have only calls of entries before them. `bfcl/episode.test.ts` plays all 800 without a server.
test.skipIf(!hasBfcl)(
  'BFCL: gold passes all entries with new calls, and nothing passes none of every eighth',
  { timeout: 300_000 },
  async () => {
    const { tasks, play } = await importedStage(
      await importBenchmark(filesOf(bfclFolder).map((path) => [path, readFileSync(join(bfclFolder, path))] as const)),
    );
    const { url } = await serving(bfclGold(new Map(tasks.map((task) => [task.id, goldTurns(task)]))));
    const nothing = await serving(() => ({ content: '' }));
    expect(tasks).toHaveLength(800);
    const wrong: string[] = [];
    const played = new Set<string>();
    for (const [i, task] of tasks.entries()) {
      const calls = goldTurns(task)
        .flat()
        .map((call) => JSON.stringify(call));
      const isNew = calls.some((call) => !played.has(call));
      for (const call of calls) played.add(call);
      if ((isNew || i % 8 === 0) && (await play(task, users, url)).reward !== 1) wrong.push(`${task.id} gold`);
      if (i % 8 === 0 && (await play(task, users, nothing.url)).reward !== 0) wrong.push(`${task.id} nothing`);
    }
    expect(wrong).toEqual([]);
  },
);

if (!hasAce) console.warn(`SKIPPED: all tasks of ACEBench with an agent behind a server: ${aceFolder} does not exist`);
test.skipIf(!hasAce)('ACEBench: gold behind a server gets what the same texts get here', { timeout: 120_000 }, async () => {
  const imported = await importBenchmark(filesOf(aceFolder).map((path) => [path, readFileSync(join(aceFolder, path))] as const));
  const { tasks, play } = await importedStage(imported);
  const here = aceStage(imported);
  const texts = new Map(tasks.map((task) => [task.id, [...(task.benchmark as unknown as { gold: string[] }).gold]]));
  const { url } = await serving(({ model }) => ({ content: texts.get(model)!.shift() ?? 'finish conversation' }));
  const wrong: string[] = [];
  let passed = 0;
  for (const task of tasks) {
    const own = await here.play(task, [...texts.get(task.id)!]);
    const served = await play(task, users, url);
    passed += served.reward!;
    if (served.reward !== own.reward || served.termination !== own.termination) wrong.push(`${task.id} ${served.reward} ${own.reward}`);
  }
  expect(wrong).toEqual([]);
  // So many of the 100 tasks does the gold reach in the original code.
  expect(passed).toBe(84);
});

interface Transcript {
  id: string;
  kind: string;
  script: { content: string | null; tool_calls?: { id: string; function: { name: string; arguments: string } }[] }[][];
  prompts: (string | { len: number; sha256: string })[];
  raises?: string;
}

/** A request as upstream writes it, with the ids of the script, which are not unique. */
function asUpstream({ messages, tools }: AgentRequest): string {
  const ids = new Map<string, string>();
  const written = messages.map(({ role, content, tool_calls: calls, tool_call_id: id }) => {
    calls?.forEach((call, i) => ids.set(call.id, `call_${i}`));
    if (id !== undefined) return { role, content, tool_call_id: ids.get(id) };
    return { role, content, ...(calls && { tool_calls: calls.map((call) => ({ id: ids.get(call.id), function: call.function })) }) };
  });
  return dumps(loads(JSON.stringify({ messages: written, tools })), { ascii: false });
}

test.skipIf(!hasBfcl)('BFCL: the requests are those of the original handler', { timeout: 120_000 }, async () => {
  const { tasks, play } = await importedStage(
    await importBenchmark(filesOf(bfclFolder).map((path) => [path, readFileSync(join(bfclFolder, path))] as const)),
  );
  const transcripts = expectedBfcl<{ transcripts: Transcript[] }>('protocol').transcripts.filter(
    ({ kind, raises }) => kind === 'openai_fc' && raises === undefined,
  );
  expect(transcripts.length).toBeGreaterThan(70);
  const wrong: unknown[] = [];
  for (const { id, script, prompts } of transcripts) {
    const left = script.map((turn) => [...turn]);
    const { url, requests, close } = await startAgentServer(({ messages }) => {
      const turn = messages.filter(({ role }) => role === 'user').length - 1;
      return { ...(left[turn]!.shift() ?? { content: '' }) };
    });
    await play(
      tasks.find(({ benchmark }) => (benchmark as BfclTask).id === id)!,
      users,
      url,
    );
    close();
    const ours = requests.map(asUpstream);
    const at = prompts.findIndex((prompt, i) =>
      typeof prompt === 'string' ? ours[i] !== prompt : ours[i] === undefined || sha256(ours[i]) !== prompt.sha256,
    );
    if (at >= 0 || ours.length !== prompts.length)
      wrong.push({ id, at, ours: ours[at]?.slice(0, 1500), theirs: prompts[at], counts: [ours.length, prompts.length] });
  }
  expect(wrong.slice(0, 2)).toEqual([]);
});
