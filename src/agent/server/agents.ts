/** @file Agents that a language model behind a server or in the tab plays. Each episode has a conversation of its own with the model. */
import type { AgentFormat } from '../../records/agent-server.ts';
import type { ToolSchema } from '../../records/task.ts';
import type { MessageNode } from '../../records/trajectory.ts';
import type { UserRequest } from '../../records/user.ts';
import { hash32 } from '../../base/random.ts';
import type { AgentModel } from '../../users/agent-model.ts';
import { withIds } from '../../users/endpoint/answer.ts';
import type { Turn } from '../agent-turn.ts';
import { ServerConversation } from './conversation.ts';
import { readAnswer, type Reading, readWritten } from './read-answer.ts';

export interface AgentStart extends Reading {
  /** The tools from the start. */
  tools: readonly ToolSchema[];
  temperature: number;
  /** Together they seed the requests of an episode. */
  seed: number;
  stream: number;
}

/** A turn of the agent, with what the conversation stores of it beside the turn. */
export interface ServerTurn {
  turn: Turn;
  thoughts: string;
  callIds: string[];
}

export interface AgentSession {
  /** The next turn after these messages. @throws UserError if the model fails */
  turn(nodes: readonly MessageNode[], signal?: AbortSignal): Promise<ServerTurn>;
  /** The requests so far. */
  readonly requests: readonly UserRequest[];
}

/** Begins the agent's side of an episode. */
export type StartAgent = (start: AgentStart) => AgentSession;

export const serverAgents =
  (model: AgentModel, asked: AgentFormat = 'native'): StartAgent =>
  ({ tools, temperature, seed, stream, ...reading }) => {
    // Without tools in the request, the calls can only be in the text.
    const format = tools.length === 0 ? 'text' : asked;
    const conversation = new ServerConversation(format, tools);
    const id = crypto.randomUUID();
    const requests: UserRequest[] = [];
    // Some servers take no seed above 2^31 − 1.
    const ownSeed = hash32(seed, stream) >>> 1;
    return {
      requests,
      async turn(nodes, signal) {
        conversation.hear(nodes);
        const { messages, tools: shown } = conversation;
        const question = { conversation: id, messages: [...messages], tools: shown, temperature, seed: ownSeed };
        const { answer, read } = await model.ask(
          question,
          (given) => ({
            answer: given,
            read: format === 'native' && model.callsInText ? readWritten(given.text, shown, reading) : readAnswer(given, format, reading),
          }),
          signal,
          requests,
        );
        const calls = withIds(read.calls, conversation.ids);
        conversation.said({
          role: 'assistant',
          content: read.text || (calls.length > 0 ? null : ''),
          ...(calls.length > 0 && { ...answer.fields, tool_calls: calls }),
        });
        return { turn: read.turn, thoughts: answer.thoughts, callIds: calls.map(({ id }) => id) };
      },
    };
  };
