/** A demonstrator that makes mistakes, so that tests meet conversations that fail. */
import type { Expert } from '../../src/agent/acts.ts';
import { createExpert } from '../../src/domains/retail/expert.ts';
import { hash32 } from '../../src/base/random.ts';
import type { Domain } from '../../src/environments/types.ts';

/**
 * An expert that makes a mistake with probability `often` where a mistake is possible: it transfers a customer that it could
 * serve, writes without a yes, or says that it is done although it did nothing.
 */
export function createCarelessExpert(domain: Domain, seed: number, often: number): Expert {
  const [careful, brisk] = [createExpert(domain, seed), createExpert(domain, seed, { style: 'brisk' })];
  return {
    act(messages) {
      const act = careful.act(messages);
      if (hash32(seed, messages.length, 1) >= often * 2 ** 32) return act;
      if ('say' in act) return brisk.act(messages);
      if (/^(find|get)_/.test(act.call.name))
        return hash32(seed, messages.length, 2) % 3
          ? act
          : { call: { name: 'transfer_to_human_agents', arguments: { summary: 'The customer wants something.' } } };
      return { say: 'Done. Anything else?' };
    },
  };
}
