/** @file What rules, a model and persons say about conversations that shall be trained on. */

/** What a conversation must be, in the order of lists. All but the last one decide whether it is kept. */
export const CRITERIA = [
  'goal_done',
  'nothing_else_changed',
  'asked_before_each_write',
  'arguments_told_or_found',
  'told_the_truth',
  'communicated',
  'policy_kept',
  'customer_stayed_in_role',
  'tools_consistent',
  'natural',
] as const;
export type Criterion = (typeof CRITERIA)[number];
/** A conversation that fails one of these is not kept. A reviewer names them with the keys 1 to 9. */
export const HARD: readonly Criterion[] = CRITERIA.filter((name) => name !== 'natural');

/** The checks of the rules, in the order of lists. */
export const RULES = [
  'reward',
  'schema',
  'results',
  'audit',
  'policy',
  'communication',
  'safety',
  'recovery',
  'end',
  'length',
  'leak',
] as const;
export type RuleName = (typeof RULES)[number];

/** `ok` null: the row does not say enough for this check. */
export interface RuleGrade {
  ok: boolean | null;
  /** What was found first, or why nothing was checked. */
  why?: string;
  /** The index of the message in `messages`. */
  message?: number;
  /** The names of all broken rules, if the check has several. */
  found?: string[];
}

/** `met` null: not graded. The message and the quote are the evidence; without evidence nothing is graded. */
export interface CriterionGrade {
  met: boolean | null;
  message?: number;
  quote?: string;
  /** Why it is not graded. */
  why?: string;
}

/** The verdict of a model. */
export interface JudgeGrade {
  model: string;
  /** SHA-256 of the instruction and the rubric. */
  prompt: string;
  seed: number;
  votes: number;
  criteria: Record<Criterion, CriterionGrade>;
  /** False: a hard criterion fails. Null: none fails, and at least one is not graded. */
  keep: boolean | null;
  /** The tokens that the answers report. Absent: they report none. */
  tokens?: { prompt: number; completion: number };
}

export interface Grades {
  rules: Record<RuleName, RuleGrade>;
  judge?: JudgeGrade;
  /** A text that speaks to the grader, and where it stands. `message` null: in a tool's description. Then a person decides. */
  addressed?: { message: number | null; text: string };
}

export const KEEPS = ['yes', 'no', 'person'] as const;
export type Keep = (typeof KEEPS)[number];

/** What `mua grade` adds to a row. */
export interface Graded {
  grades: Grades;
  keep: Keep;
  /** Why the row is not kept, or why a person decides. Empty if it is kept. */
  keep_reasons: string[];
}

/** The version of the rubric that reviewers see. */
export const RUBRIC_VERSION = 1;
export const DECISIONS = ['keep', 'reject', 'unsure'] as const;
export type Decision = (typeof DECISIONS)[number];

/** What a person decided about one conversation. */
export interface Review {
  /** The id of the conversation in its file. */
  conversation: string;
  /** SHA-256 of what was said and called, so that a review is never taken for that of another conversation. */
  sha256: string;
  reviewer: string;
  decision: Decision;
  /** The criteria that fail. */
  reasons: Criterion[];
  note?: string;
  rubric: number;
  /** How long the reviewer looked at the conversation. */
  seconds: number;
  /** When the decision was made, in milliseconds since 1970. */
  at: number;
}

/** The reviews of one data set. */
export interface ReviewingRow {
  /** The id of the data set. */
  dataset: string;
  /** Whose decisions are asked for. */
  reviewer: string;
  /** The seed of the draw. */
  seed: number;
  createdAt: number;
  /** The places of the conversations to review in the data set, in their order. */
  drawn: number[];
  /** In the order in which they were made; of the reviewer, and of others by files. Each reviewer has at most one of a conversation. */
  reviews: Review[];
}
