/** @file What files of other tools say of a conversation, and what the visitor says of a run that was imported from them. */

/** What a file of another tool says of a conversation, beside its messages. */
export interface ForeignFacts {
  /** The reward on the file's own scale. Null: the file has none, or the conversation failed when it was recorded. */
  reward: number | null;
  /** Other columns of the file: name → value. */
  columns?: Record<string, ForeignValue>;
  /** The tools that change data, as the visitor says. Absent: not known. */
  writes?: string[];
}

export type ForeignValue = string | number | boolean;

/** What the visitor says of an imported run. */
export interface ForeignRun {
  /** The rule that says which conversations succeeded, such as `outcome_reward>=1`. Absent: not known. */
  success?: string;
  /** The tools that change data. Absent: not known. */
  writes?: string[];
}
