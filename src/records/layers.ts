/** @file What the layers of an evaluation say about one conversation, beside its outcome. */

/** The layers that are checked in the texts and calls of one conversation, in the order of lists. */
export const LAYERS = ['policy', 'communication', 'safety', 'recovery'] as const;
export type LayerName = (typeof LAYERS)[number];

/** One broken rule. `M` is a place in the conversation: an event, the index of a message in a file, or the id of a node. */
export interface Finding<M = number> {
  /** The rule's name, such as `not_authenticated`. */
  rule: string;
  /** The sentence of the policy that was violated, as the agent read it. Null if the policy has no such sentence. */
  sentence: string | null;
  /** The agent's message. */
  message: M;
  /** What happened, for people. */
  detail: string;
}

/** A layer of one conversation: what was found, or why the layer cannot be checked. */
export type Layer<M = number> =
  | {
      findings: Finding<M>[];
      /** How often each rule could have been broken: the denominators of the findings. A rule without an occasion is left out. */
      occasions: Record<string, number>;
    }
  | { na: string };

export type Layers<M = number> = Record<LayerName, Layer<M>>;
