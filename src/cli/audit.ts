/** @file The work of `mua audit`: audits conversations that anyone recorded, from their texts and calls alone. */
import type { AuditRules } from '../agent/audit-rules.ts';
import { layersOf, movedLayers } from '../agent/layers.ts';
import { auditEpisode } from '../agent/violations.ts';
import { domainOf } from '../domains/registry.ts';
import type { Layers } from '../records/layers.ts';
import { readConversations } from './conversations.ts';

/** `question`, `answer` and each `message` are indices of messages in the file. */
export interface AuditReport {
  conversations: {
    id: string | number;
    writes: { name: string; asked: boolean; question: number | null; answer: number | null; why: string | null }[];
    violations: { rule: string; message: number; detail: string }[];
    layers: Layers;
  }[];
}

/** The rules of a domain whose writes are not known. */
const UNKNOWN: AuditRules = { authenticate: [], details: [], owner: '', thing: '', writes: [] };

/** @throws UsageError if the file is wrong */
export async function auditFile(
  file: string,
  text: string,
  domain: string,
  onProgress: (done: number, total: number, label: string) => void,
): Promise<AuditReport> {
  const module = domainOf(domain)!;
  const [rules, layers] = await Promise.all([(module.audit ?? module.unreported)?.() ?? UNKNOWN, module.layers?.() ?? {}]);
  const read = readConversations(file, text, domain, (tool) => rules.writes.includes(tool));
  const conversations = read.map(({ id, events, messages, tools, policy }, i) => {
    onProgress(i, read.length, 'conversations');
    const { writes, violations } = auditEpisode(events, rules, tools);
    const place = (event: number | null) => (event === null ? null : messages[event]!);
    const calls = new Map(events.flatMap((event, i) => (event.kind === 'tool' ? [[event.result.index, messages[i]!]] : [])));
    return {
      id,
      writes: writes.map(({ name, asked, question, answer, why }) => ({
        name,
        asked,
        question: place(question),
        answer: place(answer),
        why,
      })),
      violations: violations.map(({ rule, call, detail }) => ({ rule, message: calls.get(call)!, detail })),
      layers: movedLayers(layersOf({ events, messages, tools, policy }, { name: domain, layers }), (event) => messages[event]!),
    };
  });
  return { conversations };
}
