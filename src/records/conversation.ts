/** @file A line of chat JSONL: OpenAI-style messages with tools. */

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
  tool_calls?: {
    id?: string;
    type: 'function';
    function: { name: string; arguments: Record<string, unknown> | string };
    /** Inspect's reason why the agent's arguments could not be read. */
    parse_error?: string;
  }[];
  /** The thoughts of an assistant. vLLM and Qwen's template use this name. */
  reasoning_content?: string;
  name?: string;
  tool_call_id?: string;
}

export interface Conversation {
  messages: ChatMessage[];
  /** OpenAI function schemas. */
  tools?: object[];
}

/** A better and a worse answer after the same messages. Each begins with a message of the agent. */
export interface Preference {
  prompt: ChatMessage[];
  chosen: ChatMessage[];
  rejected: ChatMessage[];
  /** OpenAI function schemas. */
  tools?: object[];
}
