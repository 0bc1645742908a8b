/** @file The layer `policy`: the rules of a domain as conditions on what the agent says and calls. */
import type { AuditRules } from '../audit-rules.ts';
import type { LayerCheck, LayeredConversation } from '../layers.ts';
import { checkConsent } from './consent-check.ts';
import { checkTransfers, checkTurns, type TransferRules } from './manners.ts';
import type { ToolEvent } from './readings.ts';
import { type RuleBook, RuleLog } from './rule-log.ts';

/** The rules that the layers `policy` and `safety` of a domain share. */
export interface SharedRules {
  book: RuleBook;
  audit: AuditRules;
  /** Checks that calls touch only the customer's own data and money. */
  checkAccess(conversation: LayeredConversation, log: RuleLog): void;
  /** As in `checkConsent`. */
  asked?(conversation: LayeredConversation, event: ToolEvent, place: number): boolean;
}

export interface PolicyRules extends SharedRules {
  /** Checks the calls and the words by the rules that only this domain has. */
  checkActs(conversation: LayeredConversation, log: RuleLog): void;
  transfers(conversation: LayeredConversation): TransferRules;
  /** As in `checkTransfers`. */
  servable?(conversation: LayeredConversation, place: number): string | null;
}

/** As `checkConsent`, with the rules of a domain. */
export const checkConsentBy = (conversation: LayeredConversation, log: RuleLog, { audit, asked }: SharedRules): void =>
  checkConsent(conversation, log, audit, asked && ((event, place) => asked(conversation, event, place)));

export const policyCheck =
  (rules: PolicyRules): LayerCheck =>
  (conversation) => {
    const { book, checkAccess, checkActs, transfers, servable } = rules;
    const log = new RuleLog(conversation.policy, book);
    checkTurns(conversation, log);
    checkAccess(conversation, log);
    checkConsentBy(conversation, log, rules);
    checkActs(conversation, log);
    checkTransfers(conversation, log, transfers(conversation), servable && ((place) => servable(conversation, place)));
    return log.layer();
  };
