/** @file The checks of a conversation that need no model. They run first, and the model does not see what they found. */
import type { AuditRules } from '../agent/audit-rules.ts';
import { type DomainLayers, layersOf } from '../agent/layers.ts';
import { type RecordedEvents, recordedEvents } from '../agent/recorded-events.ts';
import { auditEpisode } from '../agent/violations.ts';
import { isObject } from '../base/json.ts';
import { domainOf, transfersOf } from '../domains/registry.ts';
import type { RuleGrade, RuleName } from '../records/grades.ts';
import type { Layer } from '../records/layers.ts';
import type { ToolSchema } from '../records/task.ts';
import { STOP_WORDS } from '../users/types.ts';
import { callProblems } from './calls.ts';
import { leak } from './leak.ts';
import { recordedMessage } from './recorded-message.ts';
import { bad, GOOD, unknown } from './rule-grade.ts';
import type { GradedRow } from './types.ts';

/** The rules of a domain, as they are loaded once for a file. */
export interface DomainRules {
  name: string;
  audit: AuditRules | null;
  layers: DomainLayers;
}

/** Null if the domain is not known. */
export async function domainRules(name: string | undefined): Promise<DomainRules | null> {
  const module = name === undefined ? undefined : domainOf(name);
  if (!module) return null;
  const [audit, layers] = await Promise.all([(module.audit ?? module.unreported)?.() ?? null, module.layers?.() ?? {}]);
  return { name: name!, audit, layers };
}

/** @param rules null: the domain is not known, so the audit and the layers cannot be checked */
export function checkRules(row: GradedRow, rules: DomainRules | null): Record<RuleName, RuleGrade> {
  const recorded = row.messages.map(recordedMessage);
  const read = recordedEvents(recorded, (tool) => rules?.audit?.writes.includes(tool) ?? false);
  return {
    reward: row.reward === undefined ? unknown('the row has no reward') : row.reward === 1 ? GOOD : bad(`the reward is ${row.reward}`),
    schema: schema(row),
    results: results(row, read),
    ...audited(row, read, rules),
    end: end(row, read),
    length: length(row, read),
    leak: leak(row) ?? GOOD,
  };
}

function schema(row: GradedRow): RuleGrade {
  const { wrong, unread } = callProblems(row);
  if (wrong) return bad(wrong.why, wrong.message);
  return unread === null ? GOOD : unknown(unread);
}

const transfers = ({ domain }: GradedRow) => transfersOf(domain ?? '');

/** A transfer may end the conversation without a result. */
function results(row: GradedRow, { strays, unanswered }: RecordedEvents): RuleGrade {
  if (strays[0] !== undefined) return bad('a tool result answers no call', strays[0]);
  const open = unanswered.find(({ name }) => !transfers(row).includes(name));
  return open ? bad(`the call of ${open.name} has no result`, open.message) : GOOD;
}

function audited(
  row: GradedRow,
  { events, messages: places }: RecordedEvents,
  rules: DomainRules | null,
): Record<'audit' | (keyof DomainLayers & RuleName), RuleGrade> {
  const tools = row.tools ? (row.tools as unknown[]).filter(isSchema) : null;
  const audit = (): RuleGrade => {
    if (!rules?.audit) return unknown(rules ? `the domain ${rules.name} has no audit` : 'the domain is not known');
    const { violations } = auditEpisode(events, rules.audit, tools);
    const [first] = violations;
    if (!first) return GOOD;
    const at = events.findIndex((event) => event.kind === 'tool' && event.result.index === first.call);
    return { ...bad(`${first.rule}: ${first.detail}`, places[at]), found: namesOf(violations) };
  };
  const policy = row.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const found = rules && layersOf({ events, messages: places, tools, policy: policy.length > 0 ? policy.join('\n\n') : null }, rules);
  const layer = (one: Layer | undefined): RuleGrade => {
    if (!one) return unknown('the domain is not known');
    if ('na' in one) return unknown(one.na);
    const [first] = one.findings;
    return first ? { ...bad(`${first.rule}: ${first.detail}`, places[first.message]), found: namesOf(one.findings) } : GOOD;
  };
  return {
    audit: audit(),
    policy: layer(found?.policy),
    communication: layer(found?.communication),
    safety: layer(found?.safety),
    recovery: layer(found?.recovery),
  };
}

const namesOf = (found: readonly { rule: string }[]): string[] => [...new Set(found.map(({ rule }) => rule))].sort();

/** The agent has the last word, the customer ends the conversation with a stop word, or a transfer ends it. */
function end(row: GradedRow, { unanswered }: RecordedEvents): RuleGrade {
  const at = row.messages.findLastIndex(({ role }) => role !== 'system');
  const last = row.messages[at];
  if (!last) return bad('the conversation has no message');
  if (!row.messages.some(({ role }) => role === 'assistant')) return bad('the conversation has no message of the agent');
  if (last.role === 'user')
    return STOP_WORDS.some((word) => last.content.includes(word)) ? GOOD : bad('the agent does not answer the last message', at);
  const open = last.role === 'tool' ? row.messages.slice(0, at).findLast(({ role }) => role === 'assistant') : last;
  const called = (open?.tool_calls ?? []).map((call) => call.function.name);
  if (called.length === 0 && last.role === 'assistant') return GOOD;
  if (called.some((name) => transfers(row).includes(name))) return GOOD;
  return bad(unanswered.length > 0 ? 'the conversation ends with a call' : 'the conversation ends with a tool result', at);
}

const MOST_MESSAGES = 200;
const MOST_CHARACTERS = 20_000;
/** The agent says the same so often in a row only if it does not listen. */
const REPEATED = 3;
const FAILED_AGAIN = 6;

function length({ messages }: GradedRow, { events, messages: places }: RecordedEvents): RuleGrade {
  if (messages.length > MOST_MESSAGES) return bad(`the conversation has ${messages.length} messages: expected at most ${MOST_MESSAGES}`);
  const long = messages.findIndex(({ content }) => content.length > MOST_CHARACTERS);
  if (long >= 0) return bad(`the message has ${messages[long]!.content.length} characters: expected at most ${MOST_CHARACTERS}`, long);
  const empty = messages.findIndex(
    (one) => ['user', 'assistant'].includes(one.role) && one.content.trim() === '' && !one.tool_calls?.length,
  );
  if (empty >= 0) return bad('the message is empty', empty);
  const acts = messages.flatMap((one, message) =>
    one.role === 'assistant' ? [{ message, act: JSON.stringify([one.content.trim(), one.tool_calls?.map((call) => call.function)]) }] : [],
  );
  const failed = new Set(events.flatMap((event, i) => (event.kind === 'tool' && event.result.error ? [places[i]] : [])));
  const mostAt = (i: number) => (failed.has(acts[i - 1]?.message) ? FAILED_AGAIN : REPEATED);
  const stuck = acts.findIndex(({ act }, i) => i + 1 >= mostAt(i) && acts.slice(i + 1 - mostAt(i), i).every((other) => other.act === act));
  return stuck >= 0 ? bad(`the agent does the same ${mostAt(stuck)} times in a row`, acts[stuck]!.message) : GOOD;
}

const isSchema = (tool: unknown): tool is ToolSchema => isObject(tool) && isObject(tool.function) && typeof tool.function.name === 'string';
