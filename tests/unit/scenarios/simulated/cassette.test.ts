/** Cassettes: recorded answers play again without anybody who answers, and a strict one refuses other calls. */
import { describe, expect, it } from 'vitest';
import { createEnvironments } from '../../../../src/environments/index.ts';
import type { Answerer } from '../../../../src/records/answerer.ts';
import type { Task, ToolCall } from '../../../../src/records/task.ts';
import { openAnswerer } from '../../../../src/scenarios/simulated/index.ts';
import { INSTRUCTION, simulatedToy, WORLD_ID } from '../../../support/simulated.ts';

const own = simulatedToy();
const task: Task = {
  id: 'lockers/hard/train/1/0',
  domain: 'lockers',
  level: 'hard',
  split: 'train',
  world: WORLD_ID,
  scenario: { persona: 'upfront', identity: {}, wishes: [], instruction: INSTRUCTION },
  actions: [],
  noop: true,
};
const CALLS: ToolCall[] = [
  { name: 'get_locker', arguments: { locker: 'locker_1' } },
  { name: 'rent_locker', arguments: { owner: 'person_1', size: 1 } },
  { name: 'rent_locker', arguments: { owner: 'person_1', size: 1 } },
  { name: 'give_up', arguments: { locker: 'locker_9' } },
  { name: 'give_up', arguments: { locker: 'locker_4' } },
  { name: 'list_lockers', arguments: { owner: 'person_1' } },
];
const CODE: Answerer = { kind: 'code' };
const NOISY: Answerer = { kind: 'noisy', rate: 0.6, seed: 3 };

/** What the agent sees, or why the episode ends. */
async function play(opened: ReturnType<typeof openAnswerer>, calls = CALLS): Promise<string[]> {
  const environments = createEnvironments({ domains: [opened.domain], inMemory: true });
  const episode = await environments.start(task);
  const seen: string[] = [];
  for (const call of calls)
    try {
      seen.push((await environments.call(episode, call)).text);
    } catch (error) {
      return [...seen, (error as Error).message];
    }
  return seen;
}

/** A file in memory. */
function tape(text = '') {
  const file = { text, lines: [] as string[] };
  return {
    file,
    recording: () => ({ file: 'c.jsonl', text: file.text, append: (lines: string) => void (file.text += lines) }),
    strict: () => ({ cassette: { file: 'c.jsonl', text: file.text } }),
  };
}

describe.each([CODE, NOISY])('a cassette of %j', (answerer) => {
  it('plays what was recorded, faults included, without the answerer', async () => {
    const { file, recording, strict } = tape();
    const recorded = await play(openAnswerer(own, answerer, { cassette: recording() }));
    if (answerer.kind === 'code') expect(recorded[1]).toBe('{"locker":"locker_4","rent":2.5}');
    expect(file.text.trimEnd().split('\n').length).toBeGreaterThan(2);
    expect(await play(openAnswerer(own, { kind: 'recorded', file: 'c.jsonl' }, strict()))).toEqual(recorded);
  });
});

it('is strict: another call, or the same call with other rows, is an error that names the call', async () => {
  const { recording, strict } = tape();
  await play(openAnswerer(own, CODE, { cassette: recording() }));
  const recorded = () => openAnswerer(own, { kind: 'recorded', file: 'c.jsonl' }, strict());
  const [other] = await play(recorded(), [{ name: 'get_locker', arguments: { locker: 'locker_2' } }]);
  expect(other).toMatch(
    /^c\.jsonl: has no answer to get_locker \{"locker":"locker_2"\} with these rows \(key [0-9a-f]{8}\): .* record it with --cassette$/,
  );
  const [otherRows] = await play(recorded(), [{ name: 'give_up', arguments: { locker: 'locker_4' } }]);
  expect(otherRows).toContain('has no answer to give_up');
});

it('goes on where it stopped: what is recorded is not asked again, and the bytes are the same', async () => {
  const whole = tape();
  await play(openAnswerer(own, CODE, { cassette: whole.recording() }));
  const lines = whole.file.text.split('\n');
  for (let kept = 1; kept < lines.length; kept++) {
    const cut = tape(lines.slice(0, kept).join('\n') + '\n');
    const opened = openAnswerer(own, CODE, { cassette: cut.recording() });
    const asked: string[] = [];
    const answer = opened.answers.answer.bind(opened.answers);
    opened.answers.answer = (question) => (asked.push(question.tool.name), answer(question));
    await play(opened);
    expect(cut.file.text).toBe(whole.file.text);
    expect(asked).toHaveLength(lines.length - 1 - kept);
    opened.answers.answer = answer;
  }
});

it('asks once if two episodes ask the same at the same time', async () => {
  const { file, recording } = tape();
  const opened = openAnswerer(own, CODE, { cassette: recording() });
  await Promise.all([play(opened), play(opened), play(opened)]);
  const keys = file.text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => (JSON.parse(line) as { key: string }).key);
  expect(new Set(keys).size).toBe(keys.length);
});

it('stops everything if the disk refuses: that is no error of a tool', async () => {
  const append = () => Promise.reject(new Error('ENOSPC: no space left on device'));
  const opened = openAnswerer(own, CODE, { cassette: { file: 'c.jsonl', text: '', append } });
  const environments = createEnvironments({ domains: [opened.domain], inMemory: true });
  await expect(environments.call(await environments.start(task), CALLS[0]!)).rejects.toMatchObject({
    final: true,
    message: 'c.jsonl: the answer could not be written: ENOSPC: no space left on device',
  });
});

it('is refused if a line is wrong, or if it is of another scenario or answerer', async () => {
  const { file, recording } = tape();
  await play(openAnswerer(own, CODE, { cassette: recording() }));
  const [header = '', first = ''] = file.text.split('\n');
  const open =
    (text: string, scenario = own) =>
    () =>
      openAnswerer(scenario, { kind: 'recorded', file: 'c.jsonl' }, { cassette: { file: 'c.jsonl', text } });
  expect(open('')).toThrow('c.jsonl: is empty');
  expect(open(`${header}\n{"key": 1`)).toThrow('c.jsonl: line 2: is no JSON');
  expect(open(`${header}\n${first.replace(/"key":"..../, '"key":"zzzz')}`)).toThrow('c.jsonl: line 2: key is');
  expect(open(`${header}\n${first.replace('"answer"', '"reply"')}`)).toThrow('line 2: expected exactly one of answer and fault');
  expect(open(`${header}\n${first.replace('"error":null', '"error":7')}`)).toThrow('line 2: answer: error is 7');
  expect(open(first)).toThrow('c.jsonl: line 1: format is missing');
  expect(open(`\n${first}`)).toThrow('c.jsonl: line 1: is no JSON');
  expect(open(header.replace('{"kind":"code"}', '{"kind":"llm"}'))).toThrow('c.jsonl: line 1: answerer');
  expect(open(header.replace('{"kind":"code"}', '{"kind":"noisy","rate":1,"seed":1,"kinds":7}'))).toThrow('c.jsonl: line 1: answerer');
  expect(
    open(
      file.text,
      simulatedToy((toy) => (toy.title = 'Others')),
    ),
  ).toThrow(/line 1: sha256 is .{8}…: expected .{8}…, because lockers has changed; record a new cassette/);
  const again = () => openAnswerer(own, NOISY, { cassette: { file: 'c.jsonl', text: file.text, append: () => {} } });
  expect(again).toThrow('line 1: the answers are of code: expected noisy@0.6 with seed 3; record them into another file');
});
