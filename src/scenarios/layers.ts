/** @file The layers of a scenario's conversations: what its tools and the words of its writes tell without code of its own. */
import { checkClaims, COMMUNICATION, type CommunicationRules } from '../agent/layers/communication.ts';
import { RuleLog } from '../agent/layers/rule-log.ts';
import { Talk } from '../agent/layers/talk.ts';
import type { DomainLayers } from '../agent/layers.ts';
import { checkAgreed, checkNamed, type WriteVerbs } from './agreed.ts';
import { verbsOf, writesOf } from './audit.ts';
import { brokenSentences } from './forbidden.ts';
import { idsIn, plain } from './people/values.ts';
import { actPattern } from './people/verbs.ts';
import type { ReadScenario } from './read.ts';
import { checkRecords } from './right-record.ts';

export function layersOf(own: Pick<ReadScenario, 'scenario' | 'cel'>): DomainLayers {
  const { scenario } = own;
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
      const talk = new Talk(conversation);
      checkRecords(talk, log);
      checkForbidden(talk, log, own);
      return log.layer();
    },
  };
}

function checkForbidden({ calls }: Talk, log: RuleLog, own: Pick<ReadScenario, 'scenario' | 'cel'>): void {
  const answered = calls.map(({ name, args, value, failed }) => ({ call: { name, arguments: args }, value, failed }));
  for (const [i, says] of brokenSentences(own, answered).entries()) {
    const { name, place, write } = calls[i]!;
    if (write && says !== undefined) log.check('forbidden_write', place, says && `${name}, but the policy says “${says}”`);
  }
}
