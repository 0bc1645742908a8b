/** “Talk to it” opens with a message of a kind after which the models before and after the training act differently. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import 'fake-indexeddb/auto';
import { path } from '../../../src/base/message-path.ts';
import { FIRST_TASK, FIRST_WORDS } from '../../../src/app/library/first-play.ts';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { replyOf } from '../../../src/app/play/answers.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';

const { trials } = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));

/** The customer's first message, and what the agent did until the customer's second message. */
const openings = trials.map((trial) => {
  const nodes = path(trial);
  const [first, second] = nodes.flatMap(({ role }, i) => (role === 'user' ? [i] : []));
  const { evaluation, task } = trial;
  return { evaluation, task: task.id, words: nodes[first!]!.text, reply: replyOf(nodes.slice(first! + 1, second)) };
});

test('the customer of the task changes their mind, and these words are the first that the page suggests', async () => {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS });
  const tasks = await environments.tasks({ domain: 'retail', level: 'nano', split: 'heldout', seed: 1, count: 16 });
  const task = tasks.find(({ id }) => id === FIRST_TASK.task)!;
  expect(task.scenario.persona).toBe('changes_mind');
  const { suggestions } = await customerScripts('retail', false);
  expect(suggestions!(task)[0]).toBe(FIRST_WORDS);
});

test('of the customers who begin like this, the model asked none before the training, and all after it', () => {
  const alike = openings.filter(({ words }) => /email is .*change the payment of order #W/.test(words));
  const asked = (evaluation: string) => {
    const own = alike.filter((one) => one.evaluation === evaluation);
    return [own.filter(({ reply }) => reply === 'asked').length, own.length];
  };
  expect(asked('recorded-before')).toEqual([0, 4]);
  expect(asked('recorded-after')).toEqual([4, 4]);
});
