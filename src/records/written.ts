/** @file A conversation in which a language model played the agent or the customer, and the way to those that are kept. */
import type { AgentUsage } from './agent-server.ts';
import type { SynthesizedConversation } from './dataset.ts';

/** The language model that wrote the agent's side of a row. */
export interface WriterFacts {
  model: string;
  temperature: number;
  /** Whether the model was shown the calls that reach the goal. They are not in the row. */
  hint: boolean;
  /** SHA-256 of the system message that the model got. */
  prompt: string;
}

export interface WrittenConversation
  extends Omit<SynthesizedConversation, 'demonstrator'>, Partial<Pick<SynthesizedConversation, 'demonstrator'>> {
  writer?: WriterFacts;
  /** The language model that played the customer. Absent: a script. */
  customer?: { model: string; temperature: number };
}

/** The steps after which a conversation may be refused, in order. */
export const STEPS = ['failed', 'not_ended', 'reward', 'leak', 'audit', 'duplicate'] as const;
export type RefusalStep = (typeof STEPS)[number];

/** What the requests of one attempt used. Null: none was made. */
export interface Spent {
  agent: AgentUsage | null;
  customer: AgentUsage | null;
}

/** One task that was played. */
export interface Attempt {
  /** Null: a server failed, so nothing can be scored. */
  conversation: WrittenConversation | null;
  /** Null: nothing is wrong, as far as the conversation alone shows. */
  refused: { step: RefusalStep; why: string } | null;
  spent: Spent;
}
