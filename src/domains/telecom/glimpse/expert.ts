/**
 * @file The expert of level `glimpse`. It reads the whole conversation again before each act. Its questions have other words than
 * those of the shop's expert.
 */
import type { Act, Expert } from '../../../agent/acts.ts';
import { isConfirmation } from '../../../agent/answers.ts';
import { hash32 } from '../../../base/random.ts';
import { OUTAGE } from '../../../environments/faults.ts';
import type { ChatMessage } from '../../../records/conversation.ts';
import type { Style } from '../../../records/dataset.ts';
import { goldCall, type LineIntent, requestText } from './requests.ts';

const ELSE = 'Can I do anything else?';
const DONE = [`It is done. ${ELSE}`, `All set. ${ELSE}`];
const REFUSED = `Sorry, that is not possible. ${ELSE}`;

interface Notes {
  /** The customer's current request, with all messages about it. */
  request: { intent: LineIntent; said: string[] } | null;
  /** How the last request ended. */
  outcome: 'done' | 'refused' | null;
  lastSaid: string;
  lastHeard: string;
}

export const createGlimpseExpert = (seed: number, style: Style): Expert => ({
  act(messages) {
    const { request, outcome, lastSaid, lastHeard } = read(messages);
    if (!request) {
      if (outcome === 'refused') return { say: REFUSED };
      return { say: outcome === 'done' ? DONE[hash32(seed, messages.length) % DONE.length]! : 'How can I help you?' };
    }
    const line_id = lastFound(request.said, /\bL\d{4}\b/);
    const gb_amount = request.intent === 'add_data' ? lastFound(request.said, /\d+(?= GB\b)/) : null;
    const lacksAmount = request.intent === 'add_data' && gb_amount === null;
    if (line_id === null || lacksAmount) return ask(line_id === null, lacksAmount);
    const wanted = { intent: request.intent, slots: { line_id, ...(gb_amount !== null && { gb_amount }) }, words: {} };
    const question = `May I ${requestText(wanted)}?`;
    const agreed = lastSaid === question && isConfirmation(lastHeard);
    return style === 'careful' && !agreed ? { say: question } : { call: goldCall(wanted) };
  },
});

const ask = (line: boolean, amount: boolean): Act => ({
  say: line && amount ? 'Which line, and how many GB?' : line ? 'Which line?' : 'How many GB?',
});

const lastFound = (said: readonly string[], pattern: RegExp): string | null => {
  for (const text of said.toReversed()) {
    const found = pattern.exec(text);
    if (found) return found[0];
  }
  return null;
};

/** Words with which a customer replaces a request by another one. */
const CHANGES = /^\W*(no|actually|wait|sorry)\b|\binstead\b/i;

function read(messages: readonly ChatMessage[]): Notes {
  const notes: Notes = { request: null, outcome: null, lastSaid: '', lastHeard: '' };
  for (const { role, content, tool_calls } of messages) {
    if (role === 'user') hear(notes, content);
    else if (role === 'assistant' && !tool_calls) notes.lastSaid = content;
    // After an outage the expert makes the call again.
    else if (role === 'tool' && content !== OUTAGE)
      Object.assign(notes, { request: null, outcome: content.startsWith('Error') ? 'refused' : 'done' });
  }
  return notes;
}

function hear(notes: Notes, text: string): void {
  notes.lastHeard = text;
  const intent = /\broaming\b|\babroad\b/i.test(text) ? 'enable_roaming' : /\badd\b/i.test(text) ? 'add_data' : null;
  if (intent && (!notes.request || intent !== notes.request.intent || CHANGES.test(text))) {
    notes.request = { intent, said: [text] };
    notes.outcome = null;
  } else notes.request?.said.push(text);
}
