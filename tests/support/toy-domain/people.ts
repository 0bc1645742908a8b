/** The toy's customer and its demonstrator. */
import type { CreateExpert } from '../../../src/agent/acts.ts';
import { type CustomerScripts, STOP } from '../../../src/users/types.ts';

export const customers: CustomerScripts = {
  customer: ({ facts }) => ({
    open: () => `Please switch the lamp ${String(facts?.state)}.`,
    hear: (message) => ({ say: message.endsWith('?') ? 'Yes.' : `Thanks. ${STOP}` }),
  }),
  read: (instruction) => ({ persona: 'upfront', identity: {}, wishes: [], instruction }),
};

/** A careful expert asks first. A brisk expert switches at once. */
export const createExpert: CreateExpert = (_domain, _seed, { style = 'careful' } = {}) => ({
  act(messages) {
    const state = /lamp (on|off)/.exec(messages.find(({ role }) => role === 'user')!.content)![1]!;
    const last = messages.at(-1)!;
    if (last.role === 'tool') return { say: 'Done.' };
    if (style === 'careful' && messages.length === 1) return { say: `Switch the lamp ${state}?` };
    return { call: { name: 'switch_lamp', arguments: { state } } };
  },
});
