/** Tasks and a policy of one's own for the tools of an existing domain, word for word as docs/domains.md describes them. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStage } from '../../../src/serve/index.ts';
import { startEnvServer } from '../../../src/serve/server.ts';
import { SERVER_OPTIONS } from '../../support/env-server.ts';
import { OpenEnvClient } from '../../support/openenv-client.ts';

test('the files of the document: the policy is in the prompt, and the calls of the task have reward 1', async () => {
  const text = await readFile('docs/domains.md', 'utf8');
  const [db, tasks] = [...text.split('## Your own tasks and policy')[1]!.matchAll(/```json\n([^`]*)```/g)].map(([, json]) => json!);
  const folder = await mkdtemp(join(tmpdir(), 'mua-own-'));
  const files = { 'db.json': db!, 'tasks.json': tasks!, 'policy.md': 'Ask for a yes before each change.' };
  const paths = Object.entries(files).map(([name]): [string, string] => [name, join(folder, name)]);
  for (const [name, path] of paths) await writeFile(path, files[name as keyof typeof files]);
  const { stage, tasks: source } = await openStage({
    domain: 'mock',
    benchmark: { rules: 'tau2', domain: 'mock', files: paths },
    settings: {},
    seed: 1,
    user: { mode: 'scripted' },
  });
  const { url, stop } = await startEnvServer(stage, source, SERVER_OPTIONS);
  try {
    expect(await (await fetch(`${url}/tasks?split=test`)).json()).toEqual({ split: 'heldout', of: 1, tasks: ['mock:mine'] });
    const rewards: (number | null)[] = [];
    for (const status of ['completed', 'pending']) {
      const client = await OpenEnvClient.connect(url);
      const begun = await client.reset({ task_id: 'mock:mine', seed: 1 });
      expect(JSON.stringify(begun.observation.messages)).toContain('Ask for a yes before each change.');
      await client.step({ name: 'update_task_status', arguments: { task_id: 'task_1', status } });
      let { reward, done } = await client.step({ content: 'It is done.' });
      while (!done) ({ reward, done } = await client.step({ content: 'Goodbye.' }));
      rewards.push(reward);
      await client.close();
    }
    expect(rewards).toEqual([1, 0]);
  } finally {
    await stop();
    await rm(folder, { recursive: true });
  }
});
