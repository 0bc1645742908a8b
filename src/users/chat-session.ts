/** @file A customer's conversation with a chat model. The roles are mirrored: for the model, the agent is `user`. */
import { historyFor } from '../environments/history.ts';
import type { UserScenario } from '../records/task.ts';
import { type Answer, callTools, type Message, type RawCall, withIds } from './endpoint/answer.ts';
import { customerPrompt, GREETING } from './prompt.ts';
import type { ToldScenario, UserSession, UserTools } from './types.ts';

/** `ask` gets the whole conversation and returns the answer to its last message. */
export function chatSession(
  scenario: ToldScenario,
  tools: UserTools | undefined,
  ask: (messages: Message[], signal?: AbortSignal) => Promise<Answer>,
): UserSession {
  const messages: Message[] = [{ role: 'system', content: scenario.prompt ?? customerPrompt(scenario.instruction) }];
  // A message is added to the history only together with its answer, so that a failed request can be repeated.
  const hear = async (content: string, signal?: AbortSignal): Promise<string> => {
    for (let heard: Message[] = [{ role: 'user', content }]; ;) {
      const { text, calls: made, thoughts } = await ask([...messages, ...heard], signal);
      const calls = withIds(made, ids);
      messages.push(...heard, { role: 'assistant', content: text || null, ...(calls.length > 0 && { ...thoughts, tool_calls: calls }) });
      if (!calls.length) return text;
      const results = await callTools(tools!, calls);
      heard = results.map((result, i) => ({ role: 'tool', tool_call_id: calls[i]!.id, content: result.text }));
    }
  };
  const [past, last] = begun(scenario);
  messages.push(...past);
  const ids = new Set(past.flatMap((message) => (message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [])));
  return { open: (signal) => hear(last, signal), reply: hear };
}

/** The messages before the customer's first answer, with mirrored roles, and the message that it must answer. */
function begun({ history, greeting = GREETING }: UserScenario): [Message[], string] {
  const past = historyFor('user', history ?? [{ role: 'assistant', content: greeting }]);
  const last = past.pop()!.content;
  return [
    past.map(({ role, id, content, calls }): Message => {
      if (role === 'tool') return { role, tool_call_id: id ?? '', content };
      const raw = calls.map((call): RawCall => ({
        id: call.id,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.arguments) },
      }));
      return { role: role === 'user' ? 'assistant' : 'user', content, ...(raw.length > 0 && { tool_calls: raw }) };
    }),
    last,
  ];
}
