/** The hash chain of tool calls: every change of a conversation's calls is found and named. */
import 'fake-indexeddb/auto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditProblem } from '../../../src/agent/audit-log.ts';
import { runEpisode } from '../../../src/agent/episode.ts';
import { readTrajectory } from '../../../src/exchange/trajectory-schema.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { stage } from '../../support/episodes.ts';
import { mua } from '../../support/mua.ts';

const call = (name: string, args: object) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;
const FIND = call('find_user_id_by_email', { email: 'a@b.c' });
const CANCEL = call('cancel_pending_order', { order_id: '#W1234567' });
const play = () =>
  runEpisode({
    ...stage({ agent: [FIND, CANCEL, call('cancel_pending_order', { order_id: 'W1' }), 'Done.<|im_end|>'], user: ['Hi', '###STOP###'] })
      .options,
    weights: 'step 4',
  });

let conversation: Trajectory;
beforeAll(async () => (conversation = await play()));
const changed = (change: (trajectory: Trajectory) => void) => {
  const copy = structuredClone(conversation);
  change(copy);
  return auditProblem(copy);
};
const tools = ({ nodes }: Trajectory) => nodes.filter(({ toolResult }) => toolResult);

describe('a conversation as it was logged', () => {
  it('passes, also after its way through a file, and is the same again', async () => {
    expect(conversation.audit).toEqual({
      policy: 'step 4',
      hashes: [expect.stringMatching(/^[0-9a-f]{64}$/), expect.any(String), expect.any(String)],
    });
    expect(auditProblem(conversation)).toBeNull();
    expect(auditProblem(readTrajectory(JSON.parse(JSON.stringify(conversation)), 'f', 'line 1'))).toBeNull();
    expect((await play()).audit).toEqual(conversation.audit);
    const { audit: _, ...old } = conversation;
    expect(auditProblem(old)).toBeNull();
  });
});

describe('a change is named', () => {
  it.each([
    [
      'another argument',
      (t: Trajectory) => void (t.nodes.find(({ toolCall }) => toolCall?.name.startsWith('cancel'))!.toolCall!.arguments.order_id = '#W9'),
      'call 2 (cancel_pending_order) is not as the log has it',
    ],
    ['another result', (t: Trajectory) => void (tools(t)[0]!.text = 'somebody'), 'call 1 (find_user_id_by_email) is not as the log has it'],
    [
      'another row',
      (t: Trajectory) => void ((tools(t)[1]!.toolResult!.changes[0]!.after as { status: string }).status = 'pending'),
      'call 2 (cancel_pending_order) is not',
    ],
    [
      'a failure that was none',
      (t: Trajectory) => void (tools(t)[2]!.toolResult!.error = false),
      'call 3 (cancel_pending_order) is not as',
    ],
    ['another task', (t: Trajectory) => void (t.task.id = 'desk/nano/train/0/1'), 'call 1 (find_user_id_by_email) is not as'],
    ['another policy', (t: Trajectory) => void (t.audit!.policy = 'step 5'), 'call 1 (find_user_id_by_email) is not as'],
    [
      'a removed call',
      (t: Trajectory) => void delete tools(t)[1]!.toolResult,
      'call 2 (cancel_pending_order) has the number 3: a call was left out',
    ],
    ['a removed last call', (t: Trajectory) => void delete tools(t)[2]!.toolResult, 'the log has 3 calls, the conversation has 2'],
    ['a removed hash', (t: Trajectory) => void t.audit!.hashes.pop(), 'call 3 (cancel_pending_order) is not in the log of 2 calls'],
    [
      'moved calls',
      (t: Trajectory) => void ([tools(t)[0]!.toolResult!.index, tools(t)[1]!.toolResult!.index] = [1, 0]),
      'call 1 (cancel_pending_order) is not as',
    ],
    [
      'an added call',
      (t: Trajectory) =>
        void (t.userCalls = [{ after: 1, call: { name: 'reset', arguments: {} }, text: '', error: false, index: 3, changes: [] }]),
      'call 4 (reset) is not in the log',
    ],
  ])('%s', (_, change, problem) => expect(changed(change)).toContain(problem));
});

describe('mua verify-log', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'mua-log-'))));
  afterAll(() => rm(folder, { recursive: true }));

  it('checks every line, and names the changed one', async () => {
    const file = join(folder, 'conversations.jsonl');
    const { audit: _, ...old } = conversation;
    const lines = [conversation, old, conversation].map((trajectory) => JSON.stringify(trajectory));
    await writeFile(file, `${lines.join('\n')}\n`);
    const whole = await mua('verify-log', folder);
    expect(whole, whole.stderr).toMatchObject({ code: 0 });
    expect(whole.stdout).toContain('6 calls of 3 conversations are as they were logged; 1 conversations have no log');
    lines[2] = lines[2]!.replace('mia_garcia_4516', 'mia_garcia_4517');
    await writeFile(file, `${lines.join('\n')}\n{"half`);
    const broken = await mua('verify-log', file);
    expect(broken.code).toBe(1);
    expect(broken.stderr).toMatch(/line 3: call \d \(\w+\) is not as the log has it/);
    expect(broken.stderr).toContain('line 4');
    expect((await mua('verify-log', join(folder, 'nothing'))).code).toBe(2);
  }, 60_000);
});
