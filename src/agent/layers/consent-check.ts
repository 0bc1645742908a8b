/** @file Writes without the customer's yes, as a rule of a layer. */
import type { AuditRules } from '../audit-rules.ts';
import type { LayeredConversation } from '../layers.ts';
import { NOT_YES } from '../consent.ts';
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
 * @param asked whether the customer's own request is enough for a write, where the policy wants no yes. It is never enough after a no
 */
export function checkConsent(
  { events, tools }: LayeredConversation,
  log: RuleLog,
  rules: AuditRules,
  asked: (event: ToolEvent, place: number) => boolean = () => false,
): void {
  const { writes } = auditEpisode(events, rules, tools);
  const changes = events.flatMap((event, place) => (event.kind === 'tool' && isWrite(event) ? [{ event, place }] : []));
  for (const [i, { event, place }] of changes.entries()) {
    const consent = writes[i]!;
    const bad = !consent.asked && (consent.why === NOT_YES.no || !asked(event, place));
    log.check('unconfirmed_write', place, bad ? `${event.call.name} without the customer's yes to it` : null);
  }
}
