/** @file A customer whose messages are written in advance, and who does not listen. After the last one, it repeats `rest` or stops. */
import { type CustomerScripts, STOP } from '../../users/types.ts';

export const spokenTurns: CustomerScripts = {
  customer({ facts, instruction }) {
    const turns = Array.isArray(facts?.turns) ? facts.turns.map(String) : [instruction];
    let said = 0;
    const rest = typeof facts?.rest === 'string' ? facts.rest : STOP;
    const next = () => turns[said++] ?? rest;
    return { open: next, hear: () => ({ say: next() }) };
  },
  read: (prompt) => ({ persona: 'upfront', identity: {}, wishes: [], instruction: prompt }),
};
