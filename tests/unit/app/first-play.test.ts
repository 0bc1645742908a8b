/** “Talk to it” opens with a message after which, in the recorded evaluations, the models before and after the training act differently. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { path } from '../../../src/base/message-path.ts';
import { FIRST_TASK, FIRST_WORDS } from '../../../src/app/library/first-play.ts';
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

test('the customer of the task said these words, and only the trained model asked first', () => {
  const own = openings.filter(({ task }) => task === FIRST_TASK.task);
  expect(own.map(({ evaluation, words, reply }) => [evaluation, words, reply]).sort()).toEqual([
    ['recorded-after', FIRST_WORDS, 'asked'],
    ['recorded-before', FIRST_WORDS, 'wrote'],
  ]);
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
