/** @file Episodes with several calls a turn, and with tools that appear later, in a world that is no table. */
import { Template } from '@huggingface/jinja';
import { describe, expect, it } from 'vitest';
import { auditProblem } from '../../../src/agent/audit-log.ts';
import { generationPrompt, IM_END, QWEN, renderConversation, toolsText } from '../../../src/agent/chat-template.ts';
import { CHAT_TEMPLATE } from '../../../src/agent/jinja-template.ts';
import { runEpisode } from '../../../src/agent/episode.ts';
import { liveActs } from '../../../src/agent/live.ts';
import { prefixAt } from '../../../src/agent/prefix.ts';
import { flatten, toMessages } from '../../../src/agent/trajectory.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { readTrajectory } from '../../../src/exchange/trajectory-schema.ts';
import type { EpisodeLimits } from '../../../src/records/episode.ts';
import { STOP } from '../../../src/users/types.ts';
import { stage } from '../../support/episodes.ts';
import { counterDomain, counterTask, RESET } from '../../support/session-world/counter.ts';
import { nanoTokenizer, qwenTokenizer } from '../../support/tokenizers.ts';

const called = (name: string, args = '{}') => `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call>`;
const add = (by: number) => called('add', `{"by": ${by}}`);
const AGENT = [`I add.\n${add(2)}\n${add(3)}${IM_END}`, `It is 5.${IM_END}`, `${called('reset')}\n${add(4)}${IM_END}`, `It is 4.${IM_END}`];
const USER = ['Add two and three.', 'Start again, with four.', STOP];

interface Play {
  agent?: string[];
  user?: string[];
  goal?: number;
  replays?: boolean;
  limits?: Partial<EpisodeLimits>;
}

async function staged({ agent = AGENT, user = USER, goal = 4, replays = true, limits = {} }: Play = {}) {
  const environments = createEnvironments({ domains: [counterDomain(replays)], inMemory: true });
  const domain = await environments.domain('counter', 'one');
  const parts = stage({
    agent,
    user,
    domain,
    environments,
    task: counterTask(goal),
    rules: { callsPerTurn: Infinity, terminalTools: domain.terminalTools },
    limits,
  });
  return { ...parts, domain };
}

async function play(options: Play = {}) {
  const { options: episode, domain, sampler } = await staged(options);
  return { trajectory: await runEpisode(episode), domain, sampler };
}

describe('several calls in a turn, and a tool that appears later', () => {
  it('runs the calls in order, scores 1 and 0, and logs each call', async () => {
    const { trajectory } = await play();
    expect(trajectory).toMatchObject({ termination: 'user_stop', reward: 1, turns: 6, parseErrors: 0, toolCalls: { add: 3, reset: 1 } });
    const results = trajectory.nodes.filter(({ role }) => role === 'tool');
    expect(results.map(({ text, toolResult }) => [text, toolResult!.name, toolResult!.index])).toEqual([
      ['2', 'add', 0],
      ['5', 'add', 1],
      ['0', 'reset', 2],
      ['4', 'add', 3],
    ]);
    expect(trajectory.nodes.find(({ toolCalls }) => toolCalls)).toMatchObject({
      content: 'I add.',
      toolCall: { name: 'add', arguments: { by: 2 } },
      toolCalls: [
        { name: 'add', arguments: { by: 2 } },
        { name: 'add', arguments: { by: 3 } },
      ],
    });
    expect(trajectory.audit!.hashes).toHaveLength(4);
    expect(auditProblem(trajectory)).toBeNull();
    trajectory.nodes.find(({ toolCalls }) => toolCalls)!.toolCalls![1]!.arguments.by = 9;
    expect(auditProblem(trajectory)).toContain('call 2 (add) is not as the log has it');
    expect((await play({ goal: 5 })).trajectory.reward).toBe(0);
  });

  it("has the tokens of Qwen's template, and mask 1 on the sampled tokens only", async () => {
    const { trajectory, domain, sampler } = await play();
    const { tokens, lossMask } = flatten(trajectory);
    const conversation = toMessages(trajectory, domain.tools);
    expect(conversation.messages.map(({ role }) => role).join(' ')).toBe(
      'system user assistant tool tool assistant user system assistant tool tool assistant user',
    );
    expect(conversation.messages[7]!.content).toBe(toolsText(QWEN, [RESET]));
    const text = nanoTokenizer().decode(tokens);
    const render = (template: string) => new Template(template).render({ messages: conversation.messages, tools: conversation.tools });
    expect(text).toBe(render(CHAT_TEMPLATE));
    const empty = generationPrompt(QWEN).replace('<|im_start|>assistant\n', '');
    expect(text.replaceAll(empty, '')).toBe(render(qwenTokenizer().chatTemplate).replaceAll(empty, ''));
    expect({ tokens, lossMask }).toEqual(renderConversation(nanoTokenizer(), conversation));
    expect(nanoTokenizer().decode(tokens.filter((_, i) => lossMask[i]))).toBe(AGENT.join(''));
    expect(sampler.seen).toEqual(tokens.slice(0, sampler.seen.length));
  });

  it('gives every call and its result the same id in chat messages', async () => {
    const { trajectory } = await play();
    const { messages } = toMessages(trajectory);
    const made = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id, function: { name } }) => [id, name]));
    expect(new Set(made.map(([id]) => id)).size).toBe(4);
    expect(messages.flatMap(({ role, tool_call_id, name }) => (role === 'tool' ? [[tool_call_id, name]] : []))).toEqual(made);
  });

  it('is read back from a file as it was', async () => {
    const { trajectory } = await play();
    expect(readTrajectory(JSON.parse(JSON.stringify(trajectory)), 'run.jsonl', 'line 1')).toEqual(trajectory);
  });

  it('shows each call with its result to a viewer, however few acts are asked for', async () => {
    const { nodes } = (await play()).trajectory;
    const upToResults = nodes.slice(0, nodes.findLastIndex(({ role }) => role === 'tool') + 1);
    const results = (last: number) => liveActs(upToResults, [], '', last).map(({ call, result }) => [call?.name, result?.wrote]);
    expect(results(2)).toEqual([
      ['reset', 1],
      ['add', 1],
    ]);
    expect(results(1)).toEqual([['add', 1]]);
  });
});

describe('a turn with a fault', () => {
  it('runs no call if one of them is malformed, and sends one error', async () => {
    const agent = [`${add(4)}\n${called('reset')}${IM_END}`, `${add(1)}\n<tool_call>\n{"name"${IM_END}`, `Sorry.${IM_END}`];
    const { trajectory } = await play({ agent, user: ['Add four.', STOP] });
    expect(trajectory).toMatchObject({ reward: 0, parseErrors: 2, toolCalls: {} });
    expect(trajectory.nodes.filter(({ role }) => role === 'tool').map(({ text }) => text)).toEqual([
      'Error: unknown tool "reset"',
      'Error: <tool_call> without </tool_call>',
    ]);
  });

  it('ends after the answer of a terminal tool, and closes the results', async () => {
    const agent = [`${add(4)}\n${called('stop')}\n${add(1)}${IM_END}`];
    const { trajectory } = await play({ agent });
    expect(trajectory).toMatchObject({ termination: 'terminal_tool', reward: 1, toolCalls: { add: 1, stop: 1 } });
    expect(nanoTokenizer().decode(flatten(trajectory).tokens)).toMatch(/stopped at 4\n<\/tool_response><\|im_end\|>\n$/);
    expect(auditProblem(trajectory)).toBeNull();
  });

  it('with one call a turn, stops at the first call', async () => {
    const { options } = await staged({ agent: [add(4), `It is 4.${IM_END}`], user: ['Add four.', STOP] });
    const trajectory = await runEpisode({ ...options, rules: { ...options.rules, callsPerTurn: 1 } });
    expect(trajectory).toMatchObject({ reward: 1, toolCalls: { add: 1 } });
    expect(trajectory.nodes.some(({ toolCalls }) => toolCalls)).toBe(false);
  });

  it('with two calls a turn, a third call is an error', async () => {
    const { options } = await staged({ agent: [`${add(1)}${add(1)}${add(1)}${IM_END}`, `Sorry.${IM_END}`], user: ['Add three.', STOP] });
    const trajectory = await runEpisode({ ...options, rules: { ...options.rules, callsPerTurn: 2 } });
    expect(trajectory.nodes.find(({ role }) => role === 'tool')!.text).toBe('Error: the turn has 3 tool calls: expected at most 2');
  });
});

describe('continuing', () => {
  const rest = (as: 'user' | 'agent', nodes: { role: string }[], from: number) =>
    nodes.slice(from).filter(({ role }) => role === (as === 'agent' ? 'assistant' : 'user')).length;

  it('goes on from every message to the same end', async () => {
    const { trajectory: whole } = await play();
    for (const { id, role } of whole.nodes) {
      if (role === 'template' || id === 0) continue;
      for (const as of ['agent', 'user'] as const) {
        const prefix = prefixAt(whole, id, as);
        const from = prefix.nodes.length;
        const { options } = await staged({
          agent: AGENT.slice(AGENT.length - rest('agent', whole.nodes, from)),
          user: USER.slice(USER.length - rest('user', whole.nodes, from)),
        });
        const { nodes, audit, reward, turns } = await runEpisode({ ...options, prefix });
        const plain = (all: typeof nodes) => all.map(({ role: party, text, tokens, tools }) => ({ party, text, tokens, tools }));
        expect(plain(nodes)).toEqual(plain(whole.nodes));
        expect([audit, reward, turns]).toEqual([whole.audit, whole.reward, whole.turns]);
      }
    }
  });

  it('is refused inside a turn, with other tools, and in a world that does not promise equal answers', async () => {
    const { trajectory: whole } = await play();
    const refused = async (prefix: ReturnType<typeof prefixAt>, options?: Play) => {
      const { options: episode } = await staged(options);
      return runEpisode({ ...episode, prefix }).then(() => 'played', String);
    };
    const first = whole.nodes.findIndex(({ role }) => role === 'tool');
    expect(await refused({ nodes: whole.nodes.slice(0, first + 1) })).toContain('1 of whose calls have no result, expected 0');
    const changed = structuredClone(prefixAt(whole, whole.leaf, 'user'));
    changed.nodes.find(({ tools }) => tools)!.tools![0]!.function.name = 'clear';
    expect(await refused(changed)).toContain('after message 2 of the user the stored conversation has other new tools');
    expect(await refused(prefixAt(whole, first, 'agent'), { replays: false })).toContain(
      "a stored conversation of 'counter' cannot be continued: its world has promises.replays false",
    );
  });
});
