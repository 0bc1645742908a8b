/** @file The tools of a task replace those of its domain: for the agent of a server, and in exported conversations. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runEpisode } from '../../../src/agent/episode.ts';
import { exportRun } from '../../../src/cli/run-export.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { ToolSchema } from '../../../src/records/task.ts';
import { Session, type SessionEvents } from '../../../src/serve/session.ts';
import type { TaskSource } from '../../../src/serve/task-source.ts';
import { STOP } from '../../../src/users/types.ts';
import { stage } from '../../support/episodes.ts';
import { counterDomain, counterTask } from '../../support/session-world/counter.ts';

const OWN: ToolSchema = {
  type: 'function',
  function: { name: 'double', description: 'Doubles the counter.', parameters: { type: 'object', properties: {}, required: [] } },
};
const task = { ...counterTask(4), tools: [OWN] };

async function options() {
  const environments = createEnvironments({ domains: [counterDomain()], inMemory: true });
  const domain = await environments.domain('counter', 'one');
  return stage({ agent: ['It is 0.<|im_end|>'], user: ['How much is it?', STOP], domain, environments, task }).options;
}

it('a server gives the tools of the episode’s task', async () => {
  const served = await options();
  const tasks = { choose: async () => ({ task, seed: 1 }) } as unknown as TaskSource;
  const ignored = () => {};
  const events: SessionEvents = { started: ignored, stepped: ignored, ended: ignored, failed: ignored, recorded: ignored };
  const session = new Session('one', served, tasks, events);
  const answer = async (type: string, data: object) => JSON.parse((await session.answer(JSON.stringify({ type, data })))!).data.observation;
  const named = async () => (await answer('step', { type: 'list_tools' })).tools.map(({ name }: { name: string }) => name);
  expect(await named()).toEqual(['add', 'stop', 'respond']);
  expect((await answer('reset', {})).tools).toEqual([OWN]);
  expect(await named()).toEqual(['double', 'respond']);
  await session.close();
});

it('an exported conversation has the tools of its task', async () => {
  const trajectory = await runEpisode(await options());
  const folder = await mkdtemp(join(tmpdir(), 'mua-tools-'));
  await writeFile(join(folder, 'trajectories.jsonl'), `${JSON.stringify(trajectory)}\n`);
  const { content } = await exportRun(folder, 'chat', 'chat.jsonl');
  expect(JSON.parse(new TextDecoder().decode(content)).tools).toEqual([OWN]);
  await rm(folder, { recursive: true });
});
