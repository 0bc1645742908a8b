/** @file The layers of a scenario's conversations: what its tools and the words of its writes tell without code of its own. */
import { checkClaims, COMMUNICATION, type CommunicationRules } from '../agent/layers/communication.ts';
import { RuleLog } from '../agent/layers/rule-log.ts';
import { Talk } from '../agent/layers/talk.ts';
import type { DomainLayers } from '../agent/layers.ts';
import type { Scenario } from '../records/scenario.ts';
import { checkAgreed, checkNamed, type WriteVerbs } from './agreed.ts';
import { verbsOf, writesOf } from './audit.ts';
import { idsIn, plain } from './people/values.ts';
import { actPattern } from './people/verbs.ts';
import { checkRecords } from './right-record.ts';

export function layersOf(scenario: Pick<Scenario, 'tools'>): DomainLayers {
  const writes: WriteVerbs[] = writesOf(scenario).map((tool) => ({ tool: tool.name, verbs: verbsOf(tool) }));
  const transfers = scenario.tools.filter(({ kind }) => kind === 'transfer').map(({ name }) => name);
  const rules: CommunicationRules = {
    acts: writes.map(({ tool, verbs }) => ({ says: tool, tools: [tool], named: actPattern(verbs), thing: 'id' })),
    transfers,
    things: (text) => idsIn(plain(text)),
    shows: () => false,
  };
  return {
    communication: (conversation) => {
      const talk = new Talk(conversation);
      const log = new RuleLog(conversation.policy, { rules: COMMUNICATION, own: '' });
      checkClaims(talk, log, rules);
      checkAgreed(talk, log, writes);
      checkNamed(talk, log, writes);
      return log.layer();
    },
    policy: (conversation) => {
      const log = new RuleLog(conversation.policy, { rules: {}, own: '' });
      checkRecords(new Talk(conversation), log);
      return log.layer();
    },
  };
}
