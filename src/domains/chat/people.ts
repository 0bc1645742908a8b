/** @file The customer of the chat, and its demonstrator. */
import type { CreateExpert } from '../../agent/acts.ts';
import { hash32 } from '../../base/random.ts';
import { type CustomerScripts, STOP } from '../../users/types.ts';
import { TRAIN_PROMPTS } from './train-prompts.ts';

export const customers: CustomerScripts = {
  customer: ({ instruction }) => ({ open: () => instruction, hear: () => ({ say: STOP }) }),
  read: (instruction) => ({ persona: 'upfront', identity: {}, wishes: [], instruction }),
};

const ANSWERS = new Map(TRAIN_PROMPTS);
const QUESTIONS = [
  'Would you like to know more?',
  'Does that help you?',
  'Have you tried this before?',
  'What would you like to do next?',
  'Shall I tell you more about it?',
  'What made you think of it?',
];

/** A careful demonstrator adds a question to its answer. A brisk one does not. */
export const createExpert: CreateExpert = (_domain, seed, { style = 'careful' } = {}) => ({
  act(messages) {
    const answer = ANSWERS.get(messages.at(-1)!.content) ?? 'I do not know much about that.';
    return { say: style === 'careful' ? `${answer} ${QUESTIONS[hash32(seed) % QUESTIONS.length]!}` : answer };
  },
});
