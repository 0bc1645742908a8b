/** @file The types of simulated tools: what is asked, what is proposed, and what the checks find. */
import type { Overlay } from '../../environments/overlay.ts';
import type { NoiseKind } from '../../records/answerer.ts';
import type { Json } from '../../records/json.ts';
import type { ScenarioTool } from '../../records/scenario.ts';
import type { Task, ToolCall } from '../../records/task.ts';
import type { ReadScenario } from '../read.ts';

/** The checks of a proposal, in their order, with a sentence for each. */
export const ANSWER_CHECKS = {
  schema: 'the answer has the form that the tool declares',
  read_writes: 'a tool that only reads writes nothing',
  read_agrees: 'every field of a returned row is that of the tables',
  repeat: 'the same call with the same rows gets the same answer',
  write_applied: 'a write changes exactly the rows and fields that the call names, and a failed one changes none',
  closed_world: 'all keys are those of rows or of the call, and new keys are the next ones',
  invariants: 'the rows keep the conditions of the tables',
  order: 'lists are sorted as the tool declares',
  leak: 'no text of the instruction, the prompt or the plan is in the answer',
  injection: 'no markup of tool calls, no role and no invisible character is in the answer',
} as const;
export type AnswerCheck = keyof typeof ANSWER_CHECKS;

export interface Finding {
  check: AnswerCheck;
  /** A sentence without a full stop, for the next attempt and for people. */
  text: string;
}

/** A change of a row. `set` has the changed fields; if no row has the key, it makes a row. */
export type ProposedWrite = { table: string; key: string } & ({ set: Readonly<Record<string, Json>> } | { delete: true });

/** What a call should answer, and what it should write. Nothing is written before the checks. */
export interface Proposal {
  /** Null beside an error. */
  result: Json;
  /** Null, or why the call is refused. */
  error: string | null;
  writes: readonly ProposedWrite[];
}

/** One call that code cannot answer by itself: the tool exists, and its arguments are of the right types. */
export interface Asked {
  own: ReadScenario;
  level: string;
  tool: ScenarioTool;
  /** Without arguments that are null. */
  call: ToolCall;
  task: Pick<Task, 'scenario'>;
  /** The rows before the call. Answerers must not change them. */
  rows: Overlay;
  /** SHA-256 of the scenario, the rows and the call. */
  key: string;
  /** The last calls of the episode with what the agent saw, oldest first. */
  history: readonly { call: ToolCall; text: string }[];
  /** The number of earlier proposals for this call, and what was wrong with the last one. */
  attempt: number;
  findings: readonly Finding[];
  /** The answer to the same call with the same rows, if it was given before. */
  earlier?: Proposal;
}

export type Question = Omit<Asked, 'attempt' | 'findings' | 'earlier'>;

export interface Answer {
  /** A proposal, or whatever a model wrote instead. It is not trusted. */
  value: unknown;
  /** The model, and the SHA-256 of its prompt. */
  model?: string;
  prompt?: string;
  /** What noise did. */
  injected?: NoiseKind;
}

/** Answers calls. */
export interface Answers {
  /** @throws SimulatorFault if no answer comes, or if the call is not in the cassette */
  answer(asked: Asked, signal?: AbortSignal): Promise<Answer>;
}

/** One proposal for a call. */
export interface Try {
  answer: Answer;
  /** Null if the answer has no readable proposal. */
  proposal: Proposal | null;
  findings: readonly Finding[];
}
