/** The story of home: the pair of conversations that the script chooses, their acts, and the row that they change. */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { joinsSkills, skillsOf, storyPair } from '../../../scripts/story-pair.ts';
import { type RecordedStory, type Story, storyOf, storyRow } from '../../../src/app/home/story.ts';
import { path } from '../../../src/base/message-path.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import type { RunContent } from '../../../src/records/bundle.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';

const TIMEOUT = 'Error: timeout, perhaps not done';
const FILE = 'src/app/home/recorded-story.json';
const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as RecordedStory;
let bundle: RunContent;
let before: Trajectory[];
let after: Trajectory[];
let story: Story;
beforeAll(async () => {
  bundle = await readRunBundle(new Uint8Array(readFileSync('public/recorded/timeouts.mua.zip')));
  const of = (evaluation: string) => bundle.trials.filter((trial) => trial.evaluation === evaluation);
  [before, after] = [of(recorded.evaluations.before), of(recorded.evaluations.after)];
  story = storyOf(recorded);
});

/** What the agent says and calls, and what the tools answer, without tokens. */
const texts = (trajectory: Trajectory) => path(trajectory).map(({ role, text }) => [role, text]);

test('the file has the pair of the bundled run, its curve, and no tokens', () => {
  expect(recorded.run).toBe(bundle.run.id);
  const pair = storyPair(before, after)!;
  expect([recorded.before, recorded.after].map(({ id }) => id)).toEqual(pair.map(({ id }) => id));
  expect([recorded.before, recorded.after].map(texts)).toEqual(pair.map(texts));
  expect(recorded.metrics.map((step) => step['critic/score/mean'])).toEqual(bundle.metrics.map((step) => step['critic/score/mean']));
  expect(recorded.before.nodes.flatMap(({ tokens }) => tokens)).toEqual([]);
  // A first visit loads the file.
  expect(readFileSync(FILE).length).toBeLessThan(40_000);
});

test('before training, a timeout is taken for success; after it, the agent asks and calls again', () => {
  expect(story.before.trial.reward).toBe(0);
  expect(story.after.trial).toMatchObject({ reward: 1, violations: [] });
  expect(story.before.trial.task.id).toBe(story.after.trial.task.id);
  expect(story.moments).toBe(story.common.length + Math.max(story.before.acts.length, story.after.acts.length));
  const whole = (acts: Story['common']) => [...story.common, ...acts];
  const afterTimeouts = (acts: Story['common']) => acts.flatMap(({ call }, i) => (call?.error === TIMEOUT ? [acts[i + 1]!] : []));
  const [claims, repeats] = [afterTimeouts(whole(story.before.acts)), afterTimeouts(whole(story.after.acts))];
  expect(claims.some(({ call, text }) => call === null && /[Dd]one/.test(text))).toBe(true);
  expect(repeats.length).toBeGreaterThan(0);
  for (const { call } of repeats) expect(call).not.toBeNull();
  const spoken = whole(story.after.acts).findIndex(({ by, text }) => by === 'agent' && text.includes('Yes or no?'));
  expect(spoken).toBeGreaterThan(0);
  expect(whole(story.after.acts).findIndex(({ call }) => call)).toBeGreaterThan(spoken);
  for (const { acts } of [story.before, story.after]) expect(acts.at(-1)!.text).not.toContain('###');
});

test('the row is right at the end of the second conversation, and wrong at the end of the first', () => {
  const states = (side: 'before' | 'after') => {
    const { acts } = story[side];
    return [0, ...acts.map((_, i) => i + 1)].map(
      (shown) => new Set(storyRow(story[side], story.fields, shown)!.fields.map(({ state }) => state)),
    );
  };
  const [was, is] = [states('before'), states('after')];
  expect([...was[0]!]).toEqual(['first']);
  expect(was.at(-1)).toContain('wrong');
  expect(is.at(-1)).toContain('right');
  expect(is.some((shown) => shown.has('wrong'))).toBe(false);
  const last = storyRow(story.after, story.fields, Infinity)!;
  expect(last.fields.every(({ now, goal }) => now === goal)).toBe(true);
});

/** A conversation with one call for each result, then words. `late`: the call was carried out, but the agent sees a timeout. */
function conversation(reward: 0 | 1, asked: boolean, results: ('timeout' | 'late' | 'done')[], task = 't'): Trajectory {
  const base = { tokens: [], mask: [], logprobs: [] };
  const nodes: object[] = [{ id: 0, parent: null, role: 'user', text: 'Please cancel it.', ...base }];
  const add = (node: object) => nodes.push({ id: nodes.length, parent: nodes.length - 1, ...base, ...node });
  for (const [index, result] of results.entries()) {
    add({ role: 'assistant', text: '<tool_call>…', toolCall: { name: 'cancel', arguments: {} } });
    const changes = result === 'timeout' ? [] : [{}];
    add({ role: 'tool', text: result === 'done' ? '{}' : TIMEOUT, toolResult: { index, error: result !== 'done', changes } });
  }
  add({ role: 'assistant', text: 'Done.', content: 'Done.' });
  return {
    id: `${task}-${asked}-${results.join()}`,
    task: { id: task, domain: 'x', scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: '' } },
    nodes,
    leaf: nodes.length - 1,
    reward,
    violations: asked ? [] : [{ rule: 'unconfirmed_write', call: 0, detail: '' }],
  } as unknown as Trajectory;
}

describe('the choice of conversations', () => {
  const joined = conversation(1, true, ['timeout', 'done']);
  const claimed = conversation(0, true, ['timeout']);
  const unasked = conversation(0, false, ['timeout', 'done']);

  test('skills: a yes before each write, and a call after each timeout', () => {
    expect(skillsOf(joined)).toEqual({ asks: true, callsAgain: true });
    expect(skillsOf(claimed)).toEqual({ asks: null, callsAgain: false });
    expect(skillsOf(unasked)).toEqual({ asks: false, callsAgain: true });
    expect(skillsOf(conversation(1, true, ['late']))).toEqual({ asks: true, callsAgain: false });
    expect(skillsOf(conversation(1, true, ['done']))).toEqual({ asks: true, callsAgain: null });
  });

  test('a group joins the skills if only both together succeed, and each alone failed', () => {
    expect(joinsSkills([joined, claimed, unasked])).toBe(true);
    expect(joinsSkills([joined, claimed, claimed])).toBe(false);
    expect(joinsSkills([joined, unasked])).toBe(false);
    expect(joinsSkills([claimed, unasked])).toBe(false);
    expect(joinsSkills([joined, claimed, unasked, conversation(1, true, ['late'])])).toBe(false);
    expect(joinsSkills([joined, claimed, unasked, conversation(0, true, ['timeout', 'done'])])).toBe(false);
  });

  test('the shortest pair of one customer; null if there is none', () => {
    const other = (one: Trajectory) => ({ ...one, task: { ...one.task, id: 'u' } });
    const long = conversation(1, true, ['timeout', 'timeout', 'done'], 'u');
    expect(storyPair([other(claimed), claimed], [long, joined])).toEqual([claimed, joined]);
    expect(storyPair([claimed], [long])).toBeNull();
    expect(storyPair([unasked], [joined])).toBeNull();
    expect(storyPair([claimed], [conversation(1, false, ['timeout', 'done'])])).toBeNull();
    expect(storyPair([], [])).toBeNull();
  });
});
