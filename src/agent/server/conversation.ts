/**
 * @file The conversation as the model of a server's agent gets it. Each message is sent as the model wrote it: with its ids and the text of
 * its arguments. Thoughts are not sent back, except in their own fields beside calls, because some servers refuse calls without them.
 */
import type { AgentFormat } from '../../records/agent-server.ts';
import { callsOf } from '../../base/message-path.ts';
import type { ToolSchema } from '../../records/task.ts';
import type { MessageNode } from '../../records/trajectory.ts';
import type { Message } from '../../users/agent-model.ts';
import { withIds } from '../../users/endpoint/answer.ts';
import { QWEN, toolsText } from '../chat-template.ts';

type Written = Extract<Message, { role: 'assistant' }>;

const NOT_READ = 'Error: the call was not read';

export class ServerConversation {
  readonly messages: Message[] = [];
  /** The tools of the requests. */
  readonly tools: ToolSchema[] = [];
  /** All ids of calls. */
  readonly ids = new Set<string>();
  /** The number of nodes that were heard. */
  #heard = 0;
  /** The ids of calls without a result. */
  #open: string[] = [];
  /** The model's last message, until its node is heard. */
  #said: Written | undefined;

  /** @param start the tools from the start */
  constructor(
    private readonly format: AgentFormat,
    private readonly start: readonly ToolSchema[],
  ) {
    if (format === 'native') this.tools.push(...start);
  }

  /** The model has written this message. */
  said(message: Written): void {
    this.#said = message;
  }

  /** Adds the messages since the last call. */
  hear(nodes: readonly MessageNode[]): void {
    const news = nodes.slice(this.#heard);
    this.#heard = nodes.length;
    for (const node of news) {
      if (node.role === 'system') this.#system(node);
      else if (node.role === 'user') this.#user(node.text);
      else if (node.role === 'tool') this.#result(node);
      else if (node.role === 'assistant') this.#assistant(node);
    }
  }

  #system({ text, tools }: MessageNode): void {
    if (this.format === 'native') {
      if (tools) this.tools.push(...tools);
      else if (text !== '') this.messages.push({ role: 'system', content: text });
      return;
    }
    if (tools) return this.#add(toolsText(QWEN, tools), '\n\n');
    const parts = [text, this.start.length > 0 ? toolsText(QWEN, this.start) : ''].filter((part) => part !== '');
    if (parts.length > 0) this.messages.push({ role: 'system', content: parts.join('\n\n') });
  }

  #user(text: string): void {
    this.#close();
    this.messages.push({ role: 'user', content: text });
  }

  /** The result of a call, or the error of a turn whose calls could not be read. */
  #result({ text, toolResult }: MessageNode): void {
    if (this.format === 'text') return this.#add(`<tool_response>\n${text}\n</tool_response>`, '\n');
    const ids = this.#open.splice(0, toolResult ? 1 : Infinity);
    for (const id of ids) this.messages.push({ role: 'tool', tool_call_id: id, content: text });
    if (ids.length === 0) this.#add(text, '\n');
  }

  /** Adds a text to the message of the role `user` that the model has not answered. Templates refuse two such messages in a row. */
  #add(text: string, between: string): void {
    const last = this.messages.at(-1);
    if (last?.role === 'user') last.content += between + text;
    else this.messages.push({ role: 'user', content: text });
  }

  #assistant(node: MessageNode): void {
    const message = node.by === undefined && this.#said ? this.#said : this.#written(node);
    this.#said = undefined;
    this.messages.push(message);
    this.#open = (message.tool_calls ?? []).map(({ id }) => id);
  }

  /** A message that the model did not write: the greeting, a message from before the episode, or that of a guard. */
  #written(node: MessageNode): Written {
    const { text, content = text } = node;
    if (this.format === 'text') return { role: 'assistant', content: text };
    const calls = callsOf(node).map(({ name, arguments: args, exact = JSON.stringify(args) }) => ({
      id: '',
      type: 'function' as const,
      function: { name, arguments: exact },
    }));
    return { role: 'assistant', content: content || null, ...(calls.length > 0 && { tool_calls: withIds(calls, this.ids) }) };
  }

  /** A call that could not be read has no result, but servers expect one. */
  #close(): void {
    for (const id of this.#open.splice(0)) this.messages.push({ role: 'tool', tool_call_id: id, content: NOT_READ });
  }
}
