import 'fake-indexeddb/auto';
import { describe, expect, it } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import type { ChatMessage } from '../../../src/records/conversation.ts';
import type { Task } from '../../../src/records/task.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { telecomTask } from '../../../src/domains/telecom/definition.ts';
import { makeTelecomTasks } from '../../../src/domains/telecom/generator.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { STOP, TRANSFER, type UserSimulator } from '../../../src/users/types.ts';
import { stage } from '../../support/episodes.ts';
import { createTelecomExpert } from '../../support/telecom-expert.ts';
import { GENERATED_DOMAINS, customerScripts } from '../../../src/domains/registry.ts';

const environments = createEnvironments({ databaseName: 'telecom-episodes', domains: GENERATED_DOMAINS });
const MAX_MODEL_LEN = 65536;

/** The acts of an expert in a conversation of `count` acts, in the model's format. */
function acts(task: Task, count: number): string[] {
  const expert = createTelecomExpert(task);
  const messages: ChatMessage[] = [{ role: 'user', content: 'Hi.' }];
  return Array.from({ length: count }, () => {
    const act = expert.act(messages);
    messages.push({ role: 'assistant', content: '' });
    return 'say' in act ? `${act.say}<|im_end|>` : `<tool_call>\n${JSON.stringify(act.call)}\n</tool_call>`;
  });
}

async function play(task: Task, agent: string[], users: UserSimulator = new ScriptedUsers(customerScripts)) {
  const domain = await environments.domain('telecom', task.level);
  const { options } = stage({ agent, user: [], limits: { max_model_len: MAX_MODEL_LEN }, maxModelLen: MAX_MODEL_LEN, task, domain, users });
  return runEpisode({ ...options, environments });
}

describe.each([1, 2, 3, 4])('generated tasks of %i faults', (faults) => {
  const tasks = makeTelecomTasks({ level: 'full', split: faults % 2 ? 'train' : 'heldout', seed: 11, count: 10, faults }).map(telecomTask);

  it('the gold plan earns 1, no action earns 0', async () => {
    for (const task of tasks) {
      const played = await play(task, acts(task, 40));
      expect([task.id, played.ending, played.reward, played.verdict!.progress]).toEqual([task.id, 'user_stop', 1, 1]);
      const made = played.nodes
        .flatMap(({ toolCall }) => toolCall?.name ?? [])
        .concat(played.userCalls?.map(({ call }) => call.name) ?? []);
      expect(made).toEqual(expect.arrayContaining(task.actions.map(({ name }) => name)));
      expect(played.nodes.some(({ role, text }) => role === 'user' && text.includes(task.noop ? TRANSFER : STOP))).toBe(true);

      const idle = await play(task, [], { session: () => ({ open: async () => STOP, reply: async () => STOP }) });
      expect([task.id, idle.ending, idle.reward]).toEqual([task.id, 'user_stop', 0]);
    }
  }, 60_000);
});

describe('the store', () => {
  const query = { domain: 'telecom', level: 'nano', split: 'train', seed: 5, count: 3 } as const;

  it('returns the generated tasks, and starts each task in its initial state', async () => {
    const tasks = await environments.tasks(query);
    expect(tasks.map(({ id }) => id)).toEqual(makeTelecomTasks(query).map(({ id }) => id));
    structuredClone(tasks);
    const episode = await environments.start(tasks[0]!);
    const verdict = await environments.verify(episode);
    expect(verdict).toMatchObject({ reward: 0, changes: [] });
    await environments.close(episode);
    await expect(environments.domain('telecom', 'huge')).rejects.toThrow("'huge' is unknown");
  });

  it('keeps the initial state in another store', async () => {
    const task = (await environments.tasks({ ...query, level: 'full', count: 40 })).find(
      ({ noop, actions }) => !noop && actions[0]!.requestor === 'user',
    )!;
    const episode = await environments.start(task);
    for (const action of task.actions) expect(await environments.call(episode, action)).toMatchObject({ error: false });
    expect((await environments.verify(episode)).reward).toBe(1);
    expect((await createEnvironments({ databaseName: 'telecom-episodes', domains: GENERATED_DOMAINS }).verify(episode)).reward).toBe(1);
    await environments.close(episode);
  });

  it('refuses calls of the other side’s tools', async () => {
    const [task] = await environments.tasks(query);
    const episode = await environments.start(task!);
    expect(await environments.call(episode, { name: 'toggle_airplane_mode', arguments: {} })).toMatchObject({
      error: true,
      text: "Error: Tool 'toggle_airplane_mode' not found.",
    });
    expect(await environments.call(episode, { name: 'get_details_by_id', arguments: { id: 'x' }, requestor: 'user' })).toMatchObject({
      error: true,
    });
    await environments.close(episode);
  });
});
