/** @file The scripted customers of the shop. They also play any other customer that has a text only. */
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
  // At `full` the words of a suggestion do not name all that the tools want to know.
  suggestions: ({ level, scenario }) => (level === 'full' ? [] : suggestions(scenario)),
};
