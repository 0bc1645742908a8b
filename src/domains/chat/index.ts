/**
 * @file A chat of one turn: the customer asks something, and the agent's answer ends the conversation. There are no tools. A
 * rule, or a judge who compares answers, decides how good an answer is.
 */
import type { DomainModule } from '../types.ts';

export const chat: DomainModule = {
  name: 'chat',
  title: 'Chat of one turn',
  levels: [{ name: 'question', wish: 'The answer ends with a question that fits the conversation.' }],
  transfers: [],
  world: async () => (await import('./world.ts')).world,
  customers: async () => (await import('./people.ts')).customers,
  demonstrator: async () => (await import('./people.ts')).createExpert,
};
