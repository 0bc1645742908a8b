/** @file The scripted customers of the shop. They also play every other customer whose scenario is only a text. */
import type { CustomerScripts } from '../../../users/types.ts';
import { attacker } from '../../attacks.ts';
import { UNSEEN_WORDS } from '../schema.ts';
import { scriptedCustomer } from './customer.ts';
import { readInstruction } from './instruction.ts';
import { PLAIN, suggestions } from './speech.ts';
import { UNSEEN } from './unseen-speech.ts';
import { VARIED } from './varied-speech.ts';

export const shopCustomers: CustomerScripts = {
  customer(scenario, seed, { varied = false } = {}) {
    const attack = attacker(scenario);
    if (attack) return attack;
    const wording = scenario.facts?.wording === UNSEEN_WORDS.wording ? UNSEEN : varied ? VARIED : PLAIN;
    const customer = scriptedCustomer(scenario, seed, wording);
    return { open: () => customer.open(), hear: (text) => ({ say: customer.reply(text) }) };
  },
  read: readInstruction,
  // Level `full` has no suggestions, because a suggestion would not contain everything that its tools need.
  suggestions: ({ level, scenario }) => (level === 'full' ? [] : suggestions(scenario, PLAIN)),
};
