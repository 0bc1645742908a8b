/**
 * Texts that models were trained on keep their bits: demonstrations, tasks and customers of all levels, and what customers
 * and tools said in the recorded run. The hashes were made at ed4425d, before the domains got folders of their own.
 * A change that makes other texts on purpose writes the new hashes here and says so in the changelog.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createEnvironments } from '../../../src/environments/index.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import type { Style } from '../../../src/records/dataset.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { GENERATED_DOMAINS, customerScripts } from '../../../src/domains/registry.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const sha = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

const HASHES = JSON.parse(readFileSync('tests/unit/domains/same-texts.json', 'utf8')) as Record<string, string>;
const LINES = [
  'What is your email, or your name and zip?',
  'Which order?',
  'Why do you want to cancel? Which items and which payment method?',
  'Cancel order #W1000000, no longer needed. Yes or no?',
  'Done. Anything else?',
];

it.each(
  [
    'retail/glimpse',
    'retail/nano',
    'retail/small',
    'retail/full',
    'telecom/glimpse',
    'telecom/nano',
    'telecom/small',
    'telecom/full',
  ].flatMap((place) => (['train', 'heldout'] as const).map((split) => [place, split] as const)),
)('tasks and customers of %s, %s', async (place, split) => {
  const [domain, level] = place.split('/') as [string, string];
  const tasks = await environments.tasks({ domain, level, split, seed: 7, count: 40, from: 3 });
  expect(sha(tasks)).toBe(HASHES[`tasks ${place} ${split}`]);
  const said: string[] = [];
  for (const users of [new ScriptedUsers(customerScripts), new ScriptedUsers(customerScripts, true)])
    for (const [i, { scenario }] of tasks.entries()) {
      // Scenarios that are only a text are played by the customers of unknown domains.
      const user = users.session(scenario.benchmark ? scenario : { ...scenario, domain }, i);
      said.push(await user.open());
      for (const line of LINES) said.push(await user.reply(line));
    }
  expect(sha(said)).toBe(HASHES[`customers ${place} ${split}`]);
});

it.each(
  ['glimpse', 'nano', 'small', 'full'].flatMap((level) =>
    (['careful', 'brisk', 'customer'] as const).map((kind) => [level, kind] as const),
  ),
)('demonstrations at %s: %s', async (level, kind) => {
  const styles: Style[] = kind === 'customer' ? ['careful', 'brisk'] : [kind];
  const side = kind === 'customer' ? 'customer' : 'agent';
  const made = await synthesize(
    { environments, users: new ScriptedUsers(customerScripts) },
    { domain: 'retail', level, count: 48, seed: 5, styles, side, from: 2 },
  );
  expect(sha(made)).toBe(HASHES[`demonstrations ${level} ${kind}`]);
});

it('what tools and customers said in the recorded run', async () => {
  const { trajectories } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  expect(trajectories.length).toBeGreaterThan(0);
  for (const { task, nodes, userSeed, verdict } of trajectories) {
    const user = new ScriptedUsers(customerScripts).session(task.scenario, userSeed!);
    const episode = await environments.start(task);
    let last = '';
    for (const { role, text, content, toolCall } of nodes) {
      if (role === 'user') expect(text).toBe(last === '' ? await user.open() : await user.reply(last));
      else if (role === 'tool' && !text.startsWith('Error: ')) expect(text).toBe(last);
      else if (role === 'assistant') {
        last = content ?? '';
        if (toolCall) last = (await environments.call(episode, toolCall)).text;
      }
    }
    expect(await environments.verify(episode)).toEqual(verdict);
  }
});
