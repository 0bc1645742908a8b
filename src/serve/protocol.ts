/**
 * @file OpenEnv's wire protocol (huggingface/OpenEnv, `core/env_server`, versions 0.2 and 0.3). It uses text frames of a WebSocket, with
 * one request and one answer at a time. Each connection is one session.
 */
import type { Json } from '../records/json.ts';
import type { ChatMessage } from '../records/conversation.ts';
import type { ToolSchema } from '../records/task.ts';
import type { TerminationReason } from '../records/trajectory.ts';

export type ErrorCode = 'INVALID_JSON' | 'UNKNOWN_TYPE' | 'VALIDATION_ERROR' | 'EXECUTION_ERROR' | 'CAPACITY_REACHED' | 'SESSION_ERROR';

/** The error for a request that is answered with an error frame. The connection stays open. */
export class ProtocolError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly more: Record<string, Json> = {},
  ) {
    super(message);
  }
}

/** The error as a client gets it. */
export const asProtocolError = (error: unknown): ProtocolError =>
  error instanceof ProtocolError ? error : new ProtocolError('EXECUTION_ERROR', (error as Error).message || 'the request failed');

/** What the agent sees after an action. OpenEnv does not send its field `metadata`, so all facts are fields here. */
export interface Observation {
  /** The speaker of `content`: the customer, a tool, or `system` if neither has said anything. */
  role: 'user' | 'tool' | 'system';
  content: string;
  tool_name?: string;
  /** Number of tool results and customer's replies so far. */
  turn: number;
  /** Only after a reset: the messages so far (the system message has the policy), and the tools as OpenAI schemas. */
  messages?: ChatMessage[];
  tools?: ToolSchema[];
  task_id?: string;
  seed?: number;
  /** Present only at the end of the episode. */
  termination?: TerminationReason;
  reward_info?: Json;
}

export interface StepResult {
  observation: Observation;
  /** Null before the end of the episode. */
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
 * The JSON Schemas that `GET /schema` returns. The action has exactly one required field, so that verifiers can turn a plain-text reply
 * into an action. The action's title is not the name of a class of OpenEnv, because verifiers would then list tools first.
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
