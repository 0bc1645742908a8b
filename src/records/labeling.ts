/** @file Labels that a person gives to conversations of an evaluation, to see how far a judge can be trusted. */

/** What a person can be asked about a conversation, in the order of lists. 1 means yes. */
export const QUESTIONS = ['outcome', 'policy', 'communication', 'safety', 'recovery', 'customer'] as const;
export type Question = (typeof QUESTIONS)[number];

/** One label of one conversation. */
export interface Label {
  /** The id of the conversation in its evaluation. */
  conversation: string;
  /** 1: yes. 0: no. Null: skipped. */
  label: 0 | 1 | null;
  /** When the label was given, in milliseconds since 1970. */
  at: number;
}

/** The labels of one evaluation for one question. */
export interface LabelingRow {
  /** `labelingId` of the evaluation and the question. */
  id: string;
  evaluation: string;
  question: Question;
  /** The seed of the draw. Absent: the conversations were named by a file of labels. */
  seed?: number;
  createdAt: number;
  /** The ids of the conversations to label, in their order. */
  drawn: string[];
  /** In the order in which they were given. Each conversation has at most one. */
  labels: Label[];
}

export const labelingId = (evaluation: string, question: Question): string => `${question} ${evaluation}`;

/** A line of a file of labels. */
export interface LabelLine extends Label {
  question: Question;
  task: string;
  /** The number of the trial of the task, from 0. */
  index: number;
  /** SHA-256 of what was said and called, so that a label is never taken for that of another conversation. */
  sha256: string;
}
