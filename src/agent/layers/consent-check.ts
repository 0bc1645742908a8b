/** @file Writes without the customer's yes, as a rule of a layer. */
import type { AuditRules } from '../audit-rules.ts';
import type { LayeredConversation } from '../layers.ts';
import { auditEpisode } from '../violations.ts';
import { isWrite, type ToolEvent } from './readings.ts';
import type { RuleLog, RuleTexts } from './rule-log.ts';

export const CONFIRMED: RuleTexts = {
  unconfirmed_write: {
    must: [
      /\b(yes|confirm\w*|consent|approv\w*|agree\w*|permission)\b/,
      /\b(chang|updat|modif|action|write|databas|cancel|database|proceed|consequential|price)\w*/,
    ],
    may: [/\bbefore\b/, /\bexplicit/, /\b(must|have to|obtain|ask|get|without)\b/, /\b(list|state|say|detail)/, /\b(any|every|each|all)\b/],
    never: /\b(api|order status will|after user confirmation|remind|proactively|certificate)\b/,
  },
};

/**
 * Checks that the customer agreed to each write.
 * @param asked whether the customer's own request is enough for a write, where the policy wants no yes
 */
export function checkConsent(
  { events, tools }: LayeredConversation,
  log: RuleLog,
  rules: AuditRules,
  asked: (event: ToolEvent, place: number) => boolean = () => false,
): void {
  const unconfirmed = new Set(
    auditEpisode(events, rules, tools).violations.flatMap(({ rule, call }) => (rule === 'unconfirmed_write' ? [call] : [])),
  );
  for (const [place, event] of events.entries()) {
    if (event.kind !== 'tool' || !isWrite(event)) continue;
    const bad = unconfirmed.has(event.result.index) && !asked(event, place);
    log.check('unconfirmed_write', place, bad ? `${event.call.name} without the customer's yes to it` : null);
  }
}
