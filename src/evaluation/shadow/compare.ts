/** @file How a candidate's turn differs from the recorded one. */
import type { AuditRules } from '../../agent/audit-rules.ts';
import { auditEpisode, type AuditEvent } from '../../agent/violations.ts';
import { canonicalJson, equalJson } from '../../base/json.ts';
import type { OtherArgument, ShadowAct, ShadowKind, ShadowTurn } from '../../records/shadow.ts';
import type { ToolCall, ToolSchema } from '../../records/task.ts';

/** Calls in any order are the same turn, because nothing was heard between them. Numbers are compared as JSON has them: 5.0 is 5. */
export function compareActs(recorded: ShadowAct, candidate: ShadowAct): { kind: ShadowKind; arguments?: OtherArgument[] } {
  if (candidate.error !== undefined || (candidate.calls.length === 0 && candidate.content.trim() === '')) return { kind: 'unreadable' };
  if (candidate.calls.length === 0) return { kind: recorded.calls.length === 0 ? 'both_text' : 'asked_instead' };
  if (recorded.calls.length === 0) return { kind: 'called_instead' };
  const left = [...candidate.calls];
  const take = (matches: (call: ToolCall) => boolean): ToolCall | undefined => {
    const at = left.findIndex(matches);
    return at < 0 ? undefined : left.splice(at, 1)[0];
  };
  const missed = recorded.calls.filter((call) => !take((own) => own.name === call.name && equalJson(own.arguments, call.arguments)));
  if (missed.length === 0 && left.length === 0) return { kind: 'same_call' };
  const pairs = missed.map((call) => [call, take(({ name }) => name === call.name)] as const);
  const differences = pairs.flatMap(([call, own]) => (own ? otherArguments(call, own) : []));
  return left.length > 0 || pairs.some(([, own]) => !own) ? { kind: 'other_tool' } : { kind: 'other_arguments', arguments: differences };
}

function otherArguments({ name, arguments: recorded }: ToolCall, { arguments: candidate }: ToolCall): OtherArgument[] {
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(candidate)])];
  return names.flatMap((argument) => {
    const [was, is] = [recorded, candidate].map((args) => (Object.hasOwn(args, argument) ? args[argument] : undefined));
    if (equalJson(was, is)) return [];
    return [{ tool: name, argument, ...(was !== undefined && { recorded: was }), ...(is !== undefined && { candidate: is }) }];
  });
}

/**
 * The writes of the candidate's turn, each with the reason why the customer had not agreed to it (null: they had). The audit reads what
 * was heard before, and takes every write as one that succeeds.
 * @param before what was said and called before the turn
 */
export function writesOf(
  { calls }: ShadowAct,
  before: readonly AuditEvent[],
  rules: AuditRules,
  tools: readonly ToolSchema[] | null,
): ShadowTurn['writes'] {
  const writes = calls.filter(({ name }) => rules.writes.includes(name));
  if (writes.length === 0) return [];
  const made = writes.map((call, i): AuditEvent => {
    const index = before.length + i;
    const changes = [{ table: '', key: canonicalJson(call.arguments), before: null, after: null, call: index }];
    return { kind: 'tool', call, result: { index, text: '', error: false, changes, terminal: false } };
  });
  const audited = auditEpisode([...before, ...made], rules, tools).writes.slice(-writes.length);
  return audited.map(({ name, why }) => ({ tool: name, why }));
}
