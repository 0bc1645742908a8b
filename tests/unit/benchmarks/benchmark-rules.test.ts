import { describe, expect, it } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { prefixAt } from '../../../src/agent/prefix.ts';
import { TAU2_RULES } from '../../../src/benchmarks/tau2/rules.ts';
import { path } from '../../../src/base/message-path.ts';
import { toMessages } from '../../../src/agent/trajectory.ts';
import type { ToolSchema } from '../../../src/records/task.ts';
import type { Domain } from '../../../src/environments/types.ts';
import { OUT_OF_SCOPE, STOP, TRANSFER, UserError, type UserSimulator, type UserTools } from '../../../src/users/types.ts';
import { domain, stage, type Script } from '../../support/episodes.ts';

const call = (name: string, args: object = {}) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const FIND = call('find_user_id_by_email', { email: 'mia@example.com' });
const CANCEL = call('cancel_pending_order', { order_id: '#W1234567', reason: 'no longer needed' });
const WRONG = call('cancel_pending_order', { order_id: 'W1', reason: 'no longer needed' });
const HANDOVER = call('transfer_to_human_agents');
const SAY = 'Anything else?<|im_end|>';

const userTool: ToolSchema = {
  type: 'function',
  function: { name: 'look', description: 'Look.', parameters: { type: 'object', properties: {}, required: [] } },
};
const tau1: Domain = { ...domain, name: 'tau1-retail', benchmark: 'tau1' };
const tau2: Domain = { ...domain, name: 'tau2-retail', terminalTools: [], benchmark: 'tau2' };

async function play(script: Script) {
  const parts = stage(script);
  const trajectory = await runEpisode(parts.options);
  return { ...parts, trajectory, roles: path(trajectory).flatMap(({ role }) => (role === 'template' ? [] : [role])) };
}

describe('tau2-bench', () => {
  it('begins with the greeting, which is not sampled', async () => {
    const { trajectory, roles, users } = await play({ domain: tau2, agent: [FIND, CANCEL, SAY], user: ['Cancel my order.', STOP] });
    expect(roles).toEqual(['system', 'assistant', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'user']);
    expect(trajectory.nodes.find(({ role }) => role === 'assistant')).toMatchObject({ text: TAU2_RULES.greeting });
    expect(trajectory).toMatchObject({ termination: 'user_stop', ending: 'user_stop', reward: 1 });
    expect(users.heard).toEqual(['Anything else?']);
  });

  it.each([STOP, TRANSFER, OUT_OF_SCOPE])('ends when the user says %s, also at once', async (word) => {
    const { trajectory } = await play({ domain: tau2, agent: [SAY], user: ['Hi.', `Bye. ${word}`] });
    expect(trajectory).toMatchObject({ ending: 'user_stop', reward: 0 });
    const opening = await play({ domain: tau2, agent: [], user: [word] });
    expect(opening.trajectory).toMatchObject({ ending: 'user_stop', reward: 0 });
    expect(opening.sampler.opened).toEqual([]);
  });

  it('continues after a handover until the user ends the conversation', async () => {
    const { trajectory } = await play({ domain: tau2, agent: [CANCEL, HANDOVER, SAY], user: ['Cancel it.', TRANSFER] });
    expect(trajectory).toMatchObject({ ending: 'user_stop', reward: 1, toolCalls: { transfer_to_human_agents: 1 } });
  });

  it('counts each message as a step, carries out a pending call, and lets the limit override a goodbye', async () => {
    // user 1, call 2, result 3, speech 4, goodbye 5
    const script = { domain: tau2, agent: [CANCEL, SAY], user: ['Cancel it.', STOP] };
    const endings: unknown[] = [];
    for (const maxSteps of [1, 2, 3, 4, 5, 6]) {
      const { trajectory, environments } = await play({ ...script, rules: { maxSteps } });
      endings.push([trajectory.ending, environments.calls.length, trajectory.reward]);
    }
    expect(endings).toEqual([
      ['max_steps', 0, 0],
      ['max_steps', 1, 0],
      ['max_steps', 1, 0],
      ['max_steps', 1, 0],
      ['max_steps', 1, 0],
      ['user_stop', 1, 1],
    ]);
    expect(TAU2_RULES).toMatchObject({ maxSteps: 200, maxErrors: 10 });
  });

  it('ends after too many failed calls, including unknown tools and malformed calls', async () => {
    const { trajectory, environments } = await play({
      domain: tau2,
      agent: [WRONG, call('no_such_tool'), '<tool_call>\n{\n</tool_call>'],
      user: ['Hi.'],
      rules: { maxErrors: 3 },
    });
    expect(trajectory).toMatchObject({ ending: 'too_many_errors', termination: 'max_turns', reward: 0, parseErrors: 1 });
    expect(environments.calls.map(({ name }) => name)).toEqual(['cancel_pending_order', 'no_such_tool']);
  });

  it.each([
    ['agent_error', { agent: ['<|im_end|>'], user: ['Hi.'] }],
    ['agent_error', { agent: ['<tool_call>\n{\n</tool_call>'], user: ['Hi.'], limits: { malformed_policy: 'end' } }],
    ['agent_error', { agent: ['a long speech without an end '.repeat(20)], user: ['Hi.'], limits: { response_length_one_turn: 20 } }],
    ['context_window_exceeded', { agent: [], user: ['x'.repeat(3000)], limits: { max_model_len: 700 } }],
    ['user_error', { agent: [SAY], user: ['Hi.', new UserError('no answer', 'timeout')] }],
    ['unexpected_error', { agent: [SAY], user: ['Hi.', STOP], signal: AbortSignal.abort() }],
  ] satisfies [string, Script][])('ends with %s', async (ending, script: Script) => {
    const { trajectory } = await play({ domain: tau2, ...script });
    expect(trajectory).toMatchObject({ ending, reward: ending === 'user_error' || ending === 'unexpected_error' ? null : 0 });
  });
});

describe('tau-bench', () => {
  it('lets the user speak first, and ignores a stop word in the first message', async () => {
    const { trajectory, roles } = await play({ domain: tau1, agent: [CANCEL, SAY], user: [`Cancel it. ${STOP}`, STOP] });
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
    expect(trajectory).toMatchObject({ termination: 'user_stop', reward: 1 });
    expect(trajectory.ending).toBeUndefined();
  });

  it('ends after thirty acts of the agent, without a reward', async () => {
    const { trajectory } = await play({
      domain: tau1,
      agent: [CANCEL, ...Array.from({ length: 30 }, (_, i) => (i % 2 ? FIND : SAY))],
      user: Array<string>(20).fill('Go on.'),
      limits: { max_turns: 5, max_model_len: 16384 },
      maxModelLen: 16384,
    });
    expect(trajectory).toMatchObject({ termination: 'max_turns', turns: 30, reward: 0, verdict: { reward: 1 } });
  });

  it('ends with a handover, also if the handover failed', async () => {
    const { trajectory } = await play({ domain: { ...tau1, terminalTools: ['cancel_pending_order'] }, agent: [WRONG], user: ['Hi.'] });
    expect(trajectory).toMatchObject({ termination: 'terminal_tool', turns: 1 });
    const mua = await play({ domain: { ...domain, terminalTools: ['cancel_pending_order'] }, agent: [WRONG, SAY], user: ['Hi.', STOP] });
    expect(mua.trajectory.termination).toBe('user_stop');
  });

  it('passes calls of unknown tools to the environment', async () => {
    const { environments, trajectory } = await play({ domain: tau1, agent: [call('no_such_tool', { a: 1 }), SAY], user: ['Hi.', STOP] });
    expect(environments.calls).toEqual([{ name: 'no_such_tool', arguments: { a: 1 } }]);
    expect(trajectory.parseErrors).toBe(0);
  });
});

describe('dual control', () => {
  const dual: Domain = { ...tau2, name: 'tau2-telecom', userTools: [userTool] };

  /** Makes one batch of calls before each of its lines. */
  function handsOn(lines: string[], batches: number[][]) {
    const heard: string[] = [];
    const results: string[] = [];
    let given: UserTools | undefined;
    const users: UserSimulator = {
      session(_, __, tools) {
        given = tools;
        const next = async () => {
          for (const size of batches.shift() ?? []) {
            const answers = await tools!.call(Array.from({ length: size }, (___, i) => ({ name: 'look', arguments: { i } })));
            results.push(...answers.map(({ text }) => text));
          }
          return lines.shift()!;
        };
        return { open: next, reply: (text) => (heard.push(text), next()) };
      },
    };
    return { users, heard, results, tools: () => given };
  }

  it('neither side sees the calls of the other', async () => {
    const user = handsOn(['My phone is broken.', 'I looked.', STOP], [[1], [2], []]);
    const { trajectory, environments } = await play({
      domain: dual,
      agent: [FIND, SAY, `Let me see.\n${CANCEL}`, SAY],
      user: [],
      users: user.users,
    });
    expect(user.tools()!.schemas).toEqual([userTool]);
    expect(user.heard).toEqual(['Anything else?', 'Anything else?']);
    expect(user.results).toHaveLength(3);
    expect(environments.calls.map(({ name, requestor }) => [name, requestor])).toEqual([
      ['look', 'user'],
      ['find_user_id_by_email', undefined],
      ['look', 'user'],
      ['look', 'user'],
      ['cancel_pending_order', undefined],
    ]);
    expect(JSON.stringify(toMessages(trajectory))).not.toContain('look"');
    expect(trajectory.toolCalls).toEqual({ find_user_id_by_email: 1, cancel_pending_order: 1 });
    expect(trajectory.userCalls!.map(({ index, call: made }) => [index, made.name])).toEqual([
      [0, 'look'],
      [2, 'look'],
      [3, 'look'],
    ]);
    // Each call is stored with the last message that the agent had seen.
    expect(trajectory.userCalls!.map(({ after }) => trajectory.nodes[after]!.role)).toEqual(['template', 'template', 'template']);
    expect(trajectory).toMatchObject({ ending: 'user_stop', reward: 1 });
  });

  it("the user's messages, results and errors count too", async () => {
    // call 1, results 2, words 3
    const few = await play({ domain: dual, agent: [SAY], user: [], users: handsOn(['Hi.'], [[2]]).users, rules: { maxSteps: 2 } });
    expect(few.trajectory).toMatchObject({ ending: 'max_steps', reward: 0 });
    expect(few.environments.calls).toHaveLength(2);
    const wrong = await play({
      domain: dual,
      agent: [SAY],
      user: [],
      users: handsOn(['Hi.', 'There.'], [[1], [2]]).users,
      rules: { maxErrors: 3 },
    });
    expect(wrong.trajectory).toMatchObject({ ending: 'too_many_errors', reward: 0 });
    expect(wrong.trajectory.userCalls).toHaveLength(3);
  });

  it('a continued conversation counts a message of several calls once', async () => {
    // 3 and 2 calls: messages 1 to 3, the agent's 4, 5 to 7, 8, and words 9
    const script = { domain: dual, user: [], rules: { maxSteps: 9 } };
    const original = (await play({ ...script, agent: [SAY, SAY], users: handsOn(['Hi.', 'No.', 'No.'], [[3], [2]]).users })).trajectory;
    expect(original).toMatchObject({ ending: 'max_steps', turns: 2 });
    const sampled = path(original).filter(({ mask }) => mask.includes(1));
    const users = [handsOn(['No.', 'No.'], [[2]]).users, handsOn(['No.'], []).users];
    for (const [i, { id }] of sampled.entries()) {
      const resumed = await play({ ...script, agent: [SAY, SAY].slice(i), users: users[i]!, prefix: prefixAt(original, id, 'agent') });
      expect(resumed.trajectory).toMatchObject({ ending: 'max_steps', turns: 2, userCalls: original.userCalls! });
    }
  });

  it('the environment refuses an agent’s call of a user tool, and counts the call as the agent’s', async () => {
    const { environments } = await play({ domain: dual, agent: [call('look'), SAY], user: [], users: handsOn(['Hi.', STOP], []).users });
    expect(environments.calls).toEqual([{ name: 'look', arguments: {} }]);
  });
});
