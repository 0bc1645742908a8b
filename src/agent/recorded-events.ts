/** @file Recorded messages of any agent as the events that the audit and the layers read. */
import type { ToolCall } from '../records/task.ts';
import type { AuditEvent } from './violations.ts';

export interface RecordedMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  text: string;
  /** Only of an assistant. */
  calls?: readonly RecordedCall[];
  /** Only of a result: what it says about its call. */
  answers?: { id?: unknown; name?: unknown };
}

export interface RecordedCall {
  id?: string | undefined;
  call: ToolCall;
}

export interface RecordedEvents {
  events: AuditEvent[];
  /** The index of each event's message. */
  messages: number[];
  /** The indices of results that answer no call. */
  strays: number[];
  /** The calls without a result, and the indices of their messages. */
  unanswered: { name: string; message: number }[];
}

/** A result of a call that failed: `Error: …`, `{"error": …}`, `Request timed out`. In `{"error": null}`, nothing failed. */
const FAILED =
  /^[\s{["']*(?:the )?(?:(?:tool|api|request|call|server|internal|network|connection|gateway) )*(?:error|exception|time-?out|timed out|failed)\b(?!["']\s*:\s*(?:null|none|false|0|""|''|\[\s*\]|\{\s*\})\s*[,}])/i;

/** @param isWrite the tools that change data: where no database is known, a call of such a tool without an error is a write */
export function recordedEvents(recorded: readonly RecordedMessage[], isWrite: (tool: string) => boolean): RecordedEvents {
  const entries: { event: AuditEvent; message: number }[] = [];
  const strays: number[] = [];
  const unanswered: RecordedEvents['unanswered'] = [];
  let open: (RecordedCall & { message: number; text?: string })[] = [];
  let calls = 0;
  /** What the agent wrote beside its calls. It follows them, because it is no answer to what they need. */
  let beside: { event: AuditEvent; message: number } | null = null;
  const close = () => {
    for (const { call, message, text } of open) {
      if (text === undefined) unanswered.push({ name: call.name, message });
      const error = FAILED.test(text ?? '');
      const write = !error && isWrite(call.name);
      const changes = write ? [{ table: '', key: '', before: null, after: null, call: calls }] : [];
      entries.push({
        event: { kind: 'tool', call, result: { index: calls++, text: text ?? '', error, changes, terminal: false } },
        message,
      });
    }
    if (beside) entries.push(beside);
    open = [];
    beside = null;
  };
  recorded.forEach(({ role, text, calls: made = [], answers: { id, name } = {} }, message) => {
    if (role === 'tool') {
      const waiting = open.filter((call) => call.text === undefined);
      const answered =
        waiting.find((call) => id !== undefined && call.id === id) ?? waiting.find(({ call }) => call.name === name) ?? waiting[0];
      if (answered) answered.text = text;
      else strays.push(message);
      return;
    }
    close();
    if (role === 'user') entries.push({ event: { kind: 'user', text }, message });
    if (role !== 'assistant') return;
    open = made.map((call) => ({ ...call, message }));
    const said: typeof beside = text.trim() === '' ? null : { event: { kind: 'agent', text }, message };
    if (open.length > 0) beside = said;
    else if (said) entries.push(said);
  });
  close();
  return { events: entries.map(({ event }) => event), messages: entries.map(({ message }) => message), strays, unanswered };
}
