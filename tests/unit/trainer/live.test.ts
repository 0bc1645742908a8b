/** The acts that a viewer sees while episodes are played. */
import { expect, test } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { type LiveAct, liveActs, type LiveEpisode } from '../../../src/agent/live.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { LiveGroup } from '../../../src/trainer/live.ts';
import { STOP } from '../../../src/users/types.ts';
import { stage } from '../../support/episodes.ts';

const CALL = (id: string) =>
  `One moment.\n<tool_call>\n{"name": "cancel_pending_order", "arguments": {"order_id": "${id}", "reason": "no longer needed"}}\n</tool_call>`;
const script = () =>
  stage({
    agent: ['Confirm?<|im_end|>', CALL('W1'), '<tool_call>\n{"name"</tool_call>', CALL('#W1234567'), 'Done.<|im_end|>'],
    user: ['Cancel #W1234567.', 'yes', STOP],
  });

test('the acts of an episode: what was said, the calls, what they wrote, and what was no call', async () => {
  const { options } = script();
  let episode!: LiveEpisode;
  const sizes: number[] = [];
  const { sampler } = options;
  const generate = sampler.generate.bind(sampler);
  sampler.generate = (...given) => (sizes.push(episode.size), generate(...given));
  await runEpisode({ ...options, onStart: (started) => (episode = started) });
  expect([episode.group, episode.index]).toEqual(['1-0', 2]);
  const call = (id: string) => ({ name: 'cancel_pending_order', arguments: { order_id: id, reason: 'no longer needed' } });
  expect(episode.acts(9).map(({ id: _, ...act }) => act)).toEqual([
    { by: 'customer', text: 'Cancel #W1234567.' },
    { by: 'agent', text: 'Confirm?' },
    { by: 'customer', text: 'yes' },
    { by: 'agent', text: 'One moment.', call: call('W1'), result: { error: true, wrote: 0 } },
    { by: 'agent', text: '', problem: 'the tool call is not valid JSON' },
    { by: 'agent', text: 'One moment.', call: call('#W1234567'), result: { error: false, wrote: 1 } },
    { by: 'agent', text: 'Done.' },
    { by: 'customer', text: STOP },
  ]);
  expect(episode.acts(9).map(({ id }) => id)).toHaveLength(new Set(episode.acts(9).map(({ id }) => id)).size);
  expect(episode.acts(2)).toEqual(episode.acts(9).slice(-2));
  // Each change raises `size`, so a viewer can compare sizes to notice every change.
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(new Set([...sizes, episode.size])).toHaveProperty('size', 6);
});

test('a turn under way: the words so far, then the markup of its call; half a character waits', () => {
  const open = (sampled: string) => liveActs([], [], sampled, 3);
  expect(open('')).toEqual([]);
  expect(open('May I ha\uFFFD')).toEqual([{ id: '0', by: 'agent', text: 'May I ha', open: { markup: '' } }]);
  expect(open('One moment.\n<tool_call>\n{"name": "ca')).toEqual([
    { id: '0', by: 'agent', text: 'One moment.', open: { markup: '{"name": "ca' } },
  ]);
});

test('a tool call of the customer is an act after the message that it follows', async () => {
  const nodes = [{ id: 0, parent: null, role: 'assistant', text: 'Restart it.', tokens: [], mask: [], logprobs: [] }] as const;
  const call = { name: 'restart', arguments: {}, requestor: 'user' as const };
  const calls = [{ after: 0, call, text: 'ok', error: false, index: 0, changes: [] }];
  expect(liveActs(nodes as never, calls, '', 3)).toEqual([
    { id: '0', by: 'agent', text: 'Restart it.' },
    { id: '0 call 0', by: 'customer', text: '', call, result: { error: false, wrote: 0 } },
  ]);
});

test('a viewer gets the first group alone: each rollout when it changes, and all of it when the viewer is new', () => {
  const acts: LiveAct[] = [];
  const episode = (group: string, index: number) => ({ group, index, size: 0, acts: () => acts });
  const live = new LiveGroup();
  const [first, second] = [episode('3-0', 0), episode('3-0', 1)];
  for (const one of [first, second, episode('3-0', 8), episode('3-1', 0)]) live.begin(3, one);
  expect(live.news()).toEqual({
    type: 'live',
    step: 3,
    heldOut: false,
    rollouts: [
      { index: 0, acts },
      { index: 1, acts },
    ],
  });
  expect(live.news()).toBeNull();
  second.size = 5;
  expect(live.news()?.rollouts).toEqual([{ index: 1, acts }]);

  const task = { id: 'retail/nano/train/1/0', domain: 'retail' } as Trajectory['task'];
  live.end({
    group: '3-0',
    index: 0,
    reward: 1,
    task,
    violations: [{ rule: 'unconfirmed_write', call: 0, detail: '' }],
  } as unknown as Trajectory);
  live.end({ group: '3-1', index: 1, reward: 1, task, violations: [] } as unknown as Trajectory);
  expect(live.news()?.rollouts).toEqual([
    { index: 0, acts, reward: 1, audit: { task: 'retail/nano/train/1/0', domain: 'retail', violations: 1 } },
  ]);
  // The customer failed, so the rollout starts again and has no outcome.
  live.begin(3, episode('3-0', 0));
  expect(live.news()?.rollouts).toEqual([{ index: 0, acts }]);
  live.show();
  expect(live.news()?.rollouts.map(({ index }) => index)).toEqual([0, 1]);

  live.begin(4, episode('4-0', 0));
  expect(live.news()).toMatchObject({ step: 4, rollouts: [{ index: 0 }] });

  // The evaluation after the step: each task is a group, and the first eight are shown.
  for (const group of ['eval-0', 'eval-7', 'eval-8']) live.beginTrial(4, episode(group, 0));
  expect(live.news()).toMatchObject({ step: 4, heldOut: true, rollouts: [{ index: 0 }, { index: 7 }] });
  live.end({ group: 'eval-7', index: 0, reward: 0, task, violations: [] } as unknown as Trajectory);
  live.end({ group: 'eval-8', index: 0, reward: 0, task, violations: [] } as unknown as Trajectory);
  expect(live.news()?.rollouts).toMatchObject([{ index: 7, reward: 0 }]);
  live.begin(5, episode('5-0', 0));
  expect(live.news()).toMatchObject({ step: 5, heldOut: false, rollouts: [{ index: 0 }] });
});
