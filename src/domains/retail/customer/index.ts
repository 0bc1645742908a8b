/** @file The scripted customers of the shop. They also play every other customer whose scenario is only a text. */
import type { CustomerScripts } from '../../../users/types.ts';
import { scriptedCustomer } from './customer.ts';
import { readInstruction } from './instruction.ts';
import { PLAIN, suggestions } from './speech.ts';
import { VARIED } from './varied-speech.ts';

export const shopCustomers: CustomerScripts = {
  customer(scenario, seed, { varied = false } = {}) {
    const customer = scriptedCustomer(scenario, seed, varied ? VARIED : PLAIN);
    return { open: () => customer.open(), hear: (text) => ({ say: customer.reply(text) }) };
  },
  read: readInstruction,
  // Level `full` has no suggestions, because a suggestion would not contain everything that its tools need.
  suggestions: ({ level, scenario }) => (level === 'full' ? [] : suggestions(scenario)),
};
