/**
 * @file OpenEnv's wire protocol (huggingface/OpenEnv, `core/env_server`, versions 0.2 and 0.3): text frames of a WebSocket, one
 * request and one answer at a time, and one session a connection.
 */
import type { Json } from '../records/json.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { ToolSchema } from '../records/task.ts';
import type { TerminationReason } from '../records/trajectory.ts';

export type ErrorCode = 'INVALID_JSON' | 'UNKNOWN_TYPE' | 'VALIDATION_ERROR' | 'EXECUTION_ERROR' | 'CAPACITY_REACHED' | 'SESSION_ERROR';

/** A request that is answered with an error frame. The connection stays open. */
export class ProtocolError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly more: Record<string, Json> = {},
  ) {
    super(message);
  }
}

/** What the agent sees after an act. `metadata` would not cross the wire, so everything is here. */
export interface Observation {
  /** Who speaks: the customer, a tool, or the environment where nobody does. */
  role: 'user' | 'tool' | 'system';
  content: string;
  tool_name?: string;
  /** Tool results and customer's replies so far. */
  turn: number;
  /** After reset: the conversation so far, with the policy as the system message, and the tools (OpenAI schemas). */
  messages?: ChatMessage[];
  tools?: ToolSchema[];
  task_id?: string;
  seed?: number;
  /** At the end. */
  termination?: TerminationReason;
  reward_info?: Json;
}

export interface StepResult {
  observation: Observation;
  /** Null before the end. */
  reward: number | null;
  done: boolean;
}

export interface EpisodeState {
  episode_id: string | null;
  step_count: number;
  task_id: string | null;
  /** SHA-256 of the rows that the episode changed. */
  db_hash: string;
  n_tool_calls: number;
  n_user_turns: number;
}

/**
 * JSON Schemas of `GET /schema`. The action has exactly one required field, so that verifiers turns a plain-text reply into an
 * action, and its title is not one of OpenEnv's own classes, so that verifiers does not list tools first.
 */
export const SCHEMAS = {
  action: {
    title: 'MuaAction',
    type: 'object',
    properties: {
      content: { type: 'string', description: 'Words to the customer, or a tool call in <tool_call> markup.' },
      name: { type: 'string', description: 'A tool to call instead; "respond" talks to the customer.' },
      arguments: { type: 'object', description: 'Arguments of the tool; of "respond": message.' },
    },
    required: ['content'],
  },
  observation: {
    title: 'MuaObservation',
    type: 'object',
    properties: {
      role: { type: 'string', enum: ['user', 'tool', 'system'] },
      content: { type: 'string' },
      tool_name: { type: 'string' },
      turn: { type: 'integer' },
      messages: { type: 'array', items: { type: 'object' } },
      tools: { type: 'array', items: { type: 'object' } },
      task_id: { type: 'string' },
      seed: { type: 'integer' },
      termination: { type: 'string' },
      reward_info: { type: 'object' },
    },
    required: ['role', 'content', 'turn'],
  },
  state: {
    title: 'MuaState',
    type: 'object',
    properties: {
      episode_id: { type: ['string', 'null'] },
      step_count: { type: 'integer' },
      task_id: { type: ['string', 'null'] },
      db_hash: { type: 'string' },
      n_tool_calls: { type: 'integer' },
      n_user_turns: { type: 'integer' },
    },
    required: ['episode_id', 'step_count'],
  },
} as const;
