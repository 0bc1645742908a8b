import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import { generationPrompt, QWEN, renderConversation, renderToolCall } from '../../../src/agent/chat-template.ts';
import { runEpisode } from '../../../src/agent/episode.ts';
import { prefixAt } from '../../../src/agent/prefix.ts';
import { path } from '../../../src/base/message-path.ts';
import { flatten, toMessages } from '../../../src/agent/trajectory.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { AUDIT } from '../../../src/domains/retail/audit.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { STOP, UserError } from '../../../src/users/types.ts';
import { domain, stage, type Script } from '../../support/episodes.ts';
import { nanoTokenizer, plainTokenizer } from '../../support/tokenizers.ts';
import { GENERATED_DOMAINS } from '../../../src/domains/registry.ts';

const CALL =
  '<tool_call>\n{"name": "cancel_pending_order", "arguments": {"order_id": "#W1234567", "reason": "no longer needed"}}\n</tool_call>';
const FIND = '<tool_call>\n{"name": "find_user_id_by_email", "arguments": {"email": "mia@example.com"}}\n</tool_call>';
const TRANSFER = '<tool_call>\n{"name": "transfer_to_human_agents", "arguments": {}}\n</tool_call>';

const whole: Script = {
  agent: [
    'Your email?<|im_end|>',
    FIND,
    'Order #W1234567 will be cancelled. Confirm?<|im_end|>',
    `One moment.\n${CALL}`,
    'Done. Anything else?<|im_end|>',
  ],
  user: ['Cancel order #W1234567.', 'mia@example.com', 'yes', STOP],
};

async function play(script: Script) {
  const parts = stage(script);
  const trajectory = await runEpisode(parts.options);
  check(trajectory, parts);
  return { trajectory, ...parts };
}

/** Conditions that every episode meets. */
function check(trajectory: Trajectory, { sampler, environments, options }: ReturnType<typeof stage>) {
  const { tokens, lossMask, logprobs } = flatten(trajectory);
  expect(tokens.length).toBeLessThanOrEqual(Math.min(options.limits.max_model_len, sampler.maxModelLen));
  // The sampler's tokens are the trajectory's tokens, up to the last sampled token.
  expect(tokens.slice(0, sampler.seen.length)).toEqual(sampler.seen);
  expect(lossMask.slice(sampler.seen.length)).not.toContain(1);
  // The sampler's log-prob encodes the position.
  lossMask.forEach((mask, t) => expect(logprobs[t]).toBe(mask ? -(t + 1) / 1000 : 0));
  for (const node of trajectory.nodes) {
    expect([node.mask.length, node.logprobs.length]).toEqual([node.tokens.length, node.tokens.length]);
    const sampled = node.role === 'assistant' && node.text !== options.rules?.greeting;
    expect(node.mask.every((mask) => mask === Number(sampled))).toBe(true);
  }
  expect(sampler.closed).toBe(sampler.opened.length);
  expect(environments.closed).toBe(sampler.opened.length);
  structuredClone(trajectory);
}

describe('an episode', () => {
  it('runs from the first message to ###STOP###', async () => {
    const { trajectory, sampler, users, environments } = await play(whole);
    expect(trajectory).toMatchObject({
      id: '1-0-2',
      group: '1-0',
      index: 2,
      seed: 7,
      termination: 'user_stop',
      reward: 1,
      turns: 5,
      parseErrors: 0,
      violations: [],
    });
    expect(trajectory.toolCalls).toEqual({ find_user_id_by_email: 1, cancel_pending_order: 1 });
    expect(trajectory.error).toBeUndefined();
    expect(sampler.opened).toEqual([{ seed: 7, stream: 3 }]);
    expect(users.seeds).toEqual([7]);
    // The customer hears only messages without calls.
    expect(users.heard).toEqual(['Your email?', 'Order #W1234567 will be cancelled. Confirm?', 'Done. Anything else?']);
    expect(environments.calls[1]).toEqual({
      name: 'cancel_pending_order',
      arguments: { order_id: '#W1234567', reason: 'no longer needed' },
    });
    expect(
      path(trajectory)
        .map((node) => node.role)
        .join(' '),
    ).toBe(
      'system user template assistant template user template assistant template tool template assistant template user template assistant template tool template assistant template user',
    );
    const tool = trajectory.nodes.filter((node) => node.role === 'tool')[1]!;
    expect(tool.toolResult).toMatchObject({
      name: 'cancel_pending_order',
      error: false,
      index: 1,
      changes: [{ key: '#W1234567', call: 1 }],
    });
    expect(trajectory.nodes.filter((node) => node.role === 'assistant')[3]).toMatchObject({
      content: 'One moment.',
      toolCall: { name: 'cancel_pending_order' },
    });
  });

  it('the loss mask selects exactly the text of the assistant and its end tokens', async () => {
    const { trajectory } = await play(whole);
    const { tokens, lossMask } = flatten(trajectory);
    expect(nanoTokenizer().decode(tokens.filter((_, t) => lossMask[t] === 1))).toBe(whole.agent.join(''));
  });

  it('shows the model the tokens that supervised fine-tuning trains on', async () => {
    const { trajectory } = await play(whole);
    const { tokens, lossMask } = flatten(trajectory);
    const rendered = renderConversation(nanoTokenizer(), toMessages(trajectory, domain.tools));
    expect(rendered.tokens).toEqual(tokens);
    // One difference: after a call the template closes the turn, where supervised data teaches <|im_end|>.
    const end = nanoTokenizer().id('<|im_end|>');
    const callEnd = nanoTokenizer().id('</tool_call>');
    expect(rendered.lossMask.map((mask, t) => (tokens[t] === end && tokens[t - 1] === callEnd ? 0 : mask))).toEqual(lossMask);
  });

  it('samples with the given limits and stop tokens', async () => {
    const { sampler } = await play({ ...whole, sampling: { temperature: 0.7, top_p: 0.9, top_k: 20 } });
    const id = (token: string) => nanoTokenizer().id(token);
    expect(sampler.params[0]).toEqual({
      maxNewTokens: 200,
      temperature: 0.7,
      topP: 0.9,
      topK: 20,
      stopTokenIds: [id('</tool_call>'), id('<|im_end|>'), id('<|endoftext|>')],
    });
  });

  it('passes the group’s seed to the user, its own to the sampler', async () => {
    const { users, sampler } = await play({ ...whole, userSeed: 99 });
    expect([users.seeds, sampler.opened]).toEqual([[99], [{ seed: 7, stream: 3 }]]);
  });

  it('records violations of the policy', async () => {
    const script = { agent: [CALL, 'Done.<|im_end|>'], user: ['Cancel #W1234567.', STOP] };
    expect((await play(script)).trajectory.violations).toEqual([]);
    const { trajectory } = await play({ ...script, rules: { audit: async () => AUDIT } });
    expect(trajectory.violations.map(({ rule, call }) => [rule, call])).toEqual([
      ['not_authenticated', 0],
      ['unconfirmed_write', 0],
    ]);
    expect(trajectory.reward).toBe(1);
  });

  it('gives the model the error of a failed call and continues', async () => {
    const { trajectory } = await play({ agent: [CALL.replace('#W1234567', 'W1'), 'Sorry.<|im_end|>'], user: ['Cancel W1.', STOP] });
    expect(trajectory.nodes.find((node) => node.role === 'tool')).toMatchObject({
      text: 'Error: order not found',
      toolResult: { error: true },
    });
    expect(trajectory).toMatchObject({ reward: 0, turns: 2, parseErrors: 0, violations: [] });
  });

  it('closes a turn that ended with <|endoftext|> as the template does', async () => {
    const { trajectory } = await play({ agent: ['Bye<|endoftext|>'], user: ['Hi', STOP] });
    expect(nanoTokenizer().decode(flatten(trajectory).tokens)).toContain(
      `${generationPrompt(QWEN)}Bye<|endoftext|><|im_end|>\n<|im_start|>user`,
    );
  });

  it('with thinking, the user hears no thoughts, calls inside thoughts do not count, and the thoughts stay in the context', async () => {
    const { trajectory, users } = await play({
      agent: [
        '<think>\nWho is it?\n</think>\n\nYour id?<|im_end|>',
        `<think>\nI call ${CALL}`,
        `<think>\nok\n</think>\n\n${CALL}`,
        'Bye<|im_end|>',
      ],
      user: ['Hi', '#W1234567', STOP],
      limits: { enable_thinking: true },
    });
    expect(users.heard).toEqual(['Your id?', 'Bye']);
    expect(trajectory).toMatchObject({ termination: 'user_stop', parseErrors: 1, reward: 1 });
    expect(trajectory.nodes.find(({ parseError }) => parseError)).toMatchObject({
      parseError: 'the tool call is inside the thoughts: expected </think> before it',
    });
    const text = nanoTokenizer().decode(flatten(trajectory).tokens);
    expect(text).toContain('<|im_start|>assistant\n<think>\nWho is it?\n</think>\n\nYour id?<|im_end|>\n<|im_start|>user');
    expect(text).toContain(`<|im_start|>assistant\n<think>\nok\n</think>\n\n${CALL}<|im_end|>`);
    expect(toMessages(trajectory).messages[2]).toEqual({ role: 'assistant', content: 'Your id?', reasoning_content: 'Who is it?' });
  });

  it('follows other rules: a greeting, stop words, terminal tools', async () => {
    const { trajectory, users } = await play({
      agent: ['Bye.<|im_end|>'],
      user: ['Hi', '###TRANSFER###'],
      rules: { greeting: 'How can I help?', stopWords: [STOP, '###TRANSFER###'] },
    });
    expect(trajectory.termination).toBe('user_stop');
    expect(users.heard).toEqual(['Bye.']);
    expect(toMessages(trajectory).messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'Serve the customer.'],
      ['assistant', 'How can I help?'],
      ['user', 'Hi'],
      ['assistant', 'Bye.'],
      ['user', '###TRANSFER###'],
    ]);
    const found = await play({ agent: [FIND], user: ['Hi'], rules: { terminalTools: ['find_user_id_by_email'] } });
    expect(found.trajectory.termination).toBe('terminal_tool');
  });
});

describe('termination', () => {
  it('terminal_tool: a transfer ends the episode', async () => {
    const { trajectory } = await play({ agent: [CALL, TRANSFER], user: ['Hi'] });
    expect(trajectory).toMatchObject({ termination: 'terminal_tool', turns: 2, reward: 1 });
  });

  it.each([
    [false, 1],
    [true, 0],
  ] as const)('max_turns: require_done %s gives reward %i', async (require_done, reward) => {
    const { trajectory } = await play({
      agent: [CALL, 'Done.<|im_end|>', 'Anything else?<|im_end|>'],
      user: ['Hi', 'thanks', 'hm'],
      limits: { max_turns: 2, require_done },
    });
    expect(trajectory).toMatchObject({ termination: 'max_turns', turns: 2, reward });
    expect(trajectory.nodes.at(-1)).toMatchObject({ role: 'user', text: 'thanks' });
  });

  it('turn_length: a turn at the cap ends the episode, closed by the template', async () => {
    const { trajectory, users } = await play({
      agent: ['I would like to tell you a very long story about orders.<|im_end|>'],
      user: ['Hi'],
      limits: { response_length_one_turn: 5 },
    });
    expect(trajectory).toMatchObject({ termination: 'turn_length', turns: 0, reward: 0 });
    expect(users.heard).toEqual([]);
    const [said, closing] = trajectory.nodes.slice(-2);
    expect(said!.mask).toEqual([1, 1, 1, 1, 1]);
    expect([closing!.mask, nanoTokenizer().decode(closing!.tokens)]).toEqual([[0, 0], '<|im_end|>\n']);
  });

  it('malformed_call: only under the policy `end`', async () => {
    const broken = '<tool_call>{"name": "hack"}</tool_call>';
    const script = { agent: [broken, 'Sorry.<|im_end|>'], user: ['Hi', STOP] };
    const ended = await play({ ...script, limits: { malformed_policy: 'end' } });
    expect(ended.trajectory).toMatchObject({ termination: 'malformed_call', turns: 0, parseErrors: 1, reward: 0 });

    const fed = await play(script);
    expect(fed.trajectory).toMatchObject({ termination: 'user_stop', turns: 2, parseErrors: 1, toolCalls: {} });
    expect(fed.environments.calls).toEqual([]);
    expect(nanoTokenizer().decode(flatten(fed.trajectory).tokens)).toContain(
      `${broken}<|im_end|>\n<|im_start|>user\n<tool_response>\nError: unknown tool "hack"\n</tool_response><|im_end|>\n`,
    );

    const spoken = await play({ ...script, agent: [broken], limits: { malformed_policy: 'as_text' } });
    expect(spoken.users.heard).toEqual([broken]);
    expect(spoken.trajectory).toMatchObject({ termination: 'user_stop', turns: 1, parseErrors: 1 });
  });

  it('ends an episode of failed calls at max_turns', async () => {
    const { trajectory } = await play({
      agent: Array.from({ length: 4 }, () => '<tool_call></tool_call>'),
      user: ['Hi'],
      limits: { max_turns: 4 },
    });
    expect(trajectory).toMatchObject({ termination: 'max_turns', turns: 4, parseErrors: 4 });
  });

  describe('context_full, at every length of the context', async () => {
    const { trajectory: free } = await play(whole);
    const full = flatten(free).tokens.length;
    // After the last sampled turn the customer may end the episode. The model never reads this reply, so it may be cut off.
    const lastSampled = flatten(free).lossMask.lastIndexOf(1) + 1;
    const opening = free.nodes[0]!.tokens.length + free.nodes[1]!.tokens.length;
    it.each([
      ['limit', true],
      ['sampler', false],
    ])('of the %s', async (_, byLimit) => {
      for (let length = opening - 2; length < full; length += 3) {
        const { trajectory } = await play({ ...whole, ...(byLimit ? { limits: { max_model_len: length } } : { maxModelLen: length }) });
        expect([length, trajectory.termination]).toEqual([length, length >= lastSampled ? 'user_stop' : 'context_full']);
        expect(trajectory.reward).not.toBeNull();
      }
    });
  });

  it('user_error: if the customer fails, is silent or gives up, the episode has no score', async () => {
    const failed = await play({ ...whole, user: ['Cancel', new UserError('429 Too Many Requests', 'rate_limit')] });
    expect(failed.trajectory).toMatchObject({ termination: 'user_error', reward: null, verdict: null, error: '429 Too Many Requests' });
    const silent = await play({ ...whole, user: ['Cancel', '  '] });
    expect(silent.trajectory).toMatchObject({ termination: 'user_error', reward: null, error: 'the simulated user said nothing' });
    const absent = await play({ ...whole, user: [new UserError('refused', 'network')] });
    expect(absent.trajectory).toMatchObject({ termination: 'user_error', reward: null, turns: 0 });
    expect(absent.sampler.opened).toEqual([]);
    const gone = await play({ ...whole, user: [STOP] });
    expect(gone.trajectory.termination).toBe('user_error');
  });

  it('aborted: before the start, and while a user is asked', async () => {
    const early = await play({ ...whole, signal: AbortSignal.abort() });
    expect(early.trajectory).toMatchObject({ termination: 'aborted', reward: null, turns: 0 });
    const controller = new AbortController();
    const parts = stage({ ...whole, signal: controller.signal });
    const user = parts.users.session(null, 0);
    parts.options.users = {
      session: () => ({ open: user.open, reply: async () => (controller.abort(), Promise.reject(new UserError('aborted', 'aborted'))) }),
    };
    const trajectory = await runEpisode(parts.options);
    check(trajectory, parts);
    expect(trajectory).toMatchObject({ termination: 'aborted', reward: null });
  });

  it('an error of the engine or the environment is thrown, and all sequences are closed', async () => {
    const parts = stage({ ...whole, agent: ['Your email?<|im_end|>'] });
    const user = parts.users.session(null, 0);
    let left = 0;
    parts.options.users = { session: () => ({ ...user, close: () => void left++ }) };
    await expect(runEpisode(parts.options)).rejects.toThrow('the script is at its end');
    expect([parts.sampler.closed, parts.environments.closed, left]).toEqual([1, 1, 1]);
  });
});

describe('in the retail environment', async () => {
  const retail = createEnvironments({ domains: GENERATED_DOMAINS });
  const place = { domain: 'retail', level: 'nano' };
  const nano = await retail.domain(place.domain, place.level);
  const tasks = await retail.tasks({ ...place, split: 'train', seed: 5, count: 12 });

  it.each([true, false])('gold calls made: %s', async (made) => {
    for (const task of tasks) {
      const calls = made ? task.actions.map((action) => renderToolCall(QWEN, action.name, action.arguments)) : [];
      const { options } = stage({ agent: [...calls, 'Anything else?<|im_end|>'], user: ['Hi', STOP], task, domain: nano });
      const trajectory = await runEpisode({ ...options, environments: retail });
      const transfers = made && trajectory.termination === 'terminal_tool';
      expect(trajectory.termination).toBe(transfers ? 'terminal_tool' : 'user_stop');
      expect(trajectory.reward).toBe(made || task.noop ? 1 : 0);
      expect(Object.values(trajectory.toolCalls).reduce((sum, n) => sum + n, 0)).toBe(calls.length);
    }
  });
});

describe('with a tokenizer that has no tool tags', () => {
  const tokenizer = plainTokenizer();
  const find = '<tool_call>{"name": "find_user_id_by_email", "arguments": {"email": "mia@example.com"}}</tool_call>';
  const script: Script = {
    tokenizer,
    // The text goes on after the end tag, as a policy that degrades wrote it.
    agent: [`${find} <tool_call>{"name": "x"}</tool_call><|im_end|>`, 'Done.<|im_end|>'],
    user: ['Hello, mia@example.com.', STOP],
  };

  it('a turn ends at the text of the end tag: nothing after it is sampled or trained on', async () => {
    const { trajectory, sampler } = await play(script);
    const [turn, closing] = trajectory.nodes.slice(3, 5);
    expect(turn).toMatchObject({ role: 'assistant', text: find, toolCall: { name: 'find_user_id_by_email' } });
    expect(turn!.tokens).toEqual(tokenizer.encode(find));
    expect(turn!.tokens.length).toBeGreaterThan(5);
    expect(tokenizer.decode(closing!.tokens)).toBe('<|im_end|>\n');
    expect(closing!.mask).toEqual(closing!.tokens.map(() => 0));
    expect(trajectory.toolCalls).toEqual({ find_user_id_by_email: 1 });
    expect(sampler.params[0]!.stopTokenIds).toEqual(['<|im_end|>', '<|endoftext|>'].map((token) => tokenizer.id(token)));
    const rendered = renderConversation(tokenizer, toMessages(trajectory, domain.tools));
    expect(rendered.tokens).toEqual(flatten(trajectory).tokens);
  });

  it('a token that holds the end of the tag and more stays whole, and the rest of its text is ignored', async () => {
    const { trajectory, sampler } = await play({ ...script, agent: [`${find}\nMore<|im_end|>`, 'Done.<|im_end|>'] });
    const turn = trajectory.nodes[3]!;
    expect(tokenizer.decode(turn.tokens.slice(-1))).toBe('>\n');
    expect(turn).toMatchObject({ text: `${find}\n`, content: '', toolCall: { name: 'find_user_id_by_email' } });
    expect(turn.logprobs.length).toBe(turn.tokens.length);
    // The sampler has the same tokens as the trainer.
    expect(flatten(trajectory).tokens.slice(0, sampler.seen.length)).toEqual(sampler.seen);
  });

  it('tokens that are given count too: the tag may begin in them, and nothing is sampled if they end with it', async () => {
    const tokens = tokenizer.encode(find);
    const { trajectory } = await play(script);
    const from = (length: number) => {
      const given = tokens.slice(0, length);
      const turn = { tokens: given, mask: given.map(() => 0), logprobs: given.map(() => null) };
      const rest = length === tokens.length ? [] : [`${tokenizer.decode(tokens.slice(length))} x<|im_end|>`];
      const prefix = { ...prefixAt(trajectory, 3, 'agent'), turn };
      return runEpisode(stage({ ...script, prefix, agent: [...rest, 'Done.<|im_end|>'], user: [STOP] }).options);
    };
    for (const length of [tokens.length - 2, tokens.length]) {
      const turn = (await from(length)).nodes[3]!;
      expect(turn.tokens).toEqual(tokens);
      expect(turn.mask.indexOf(1)).toBe(length === tokens.length ? -1 : length);
    }
  });

  it('with rules that allow several calls in a turn, the turn goes on after the first end tag', async () => {
    const two = `${find}\n${find}<|im_end|>`;
    const { trajectory } = await play({ ...script, agent: [two, 'Done.<|im_end|>'], rules: { callsPerTurn: 2 } });
    expect(trajectory.nodes[3]!.text).toBe(two);
    expect(trajectory.toolCalls).toEqual({ find_user_id_by_email: 2 });
    expect(renderConversation(tokenizer, toMessages(trajectory, domain.tools)).tokens).toEqual(flatten(trajectory).tokens);
  });
});
