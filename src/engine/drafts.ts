/**
 * Prompt-lookup speculation (Saxena 2023; `prompt_lookup_num_tokens` in transformers): what a sequence said before often comes
 * again, as ids and JSON in tool calls do. The tokens that followed last time are a draft. One run computes the whole draft and
 * samples after each of its tokens; samples count as long as they equal the draft.
 *
 * Nothing else changes: a sample depends only on the logits, the seed, the stream and the position, so the tokens are those that
 * single steps would give.
 */

/** Tokens at the end of a sequence that must have occurred before: the longest match first. */
const MATCHES = [4, 3, 2] as const;
const MOST_DRAFTED = 7;

/** A draft of at most `most` tokens after `tokens`; empty if its last tokens did not occur before. */
export function draft(tokens: readonly number[], most: number): number[] {
  if (most < 1) return [];
  for (const match of MATCHES) {
    const end = tokens.length - match;
    for (let at = end - 1; at >= 0; at--) {
      let same = 0;
      while (same < match && tokens[at + same] === tokens[end + same]) same++;
      if (same === match) return tokens.slice(at + match, at + match + most);
    }
  }
  return [];
}

/** How many tokens to draft for a sequence: two more after a draft that was right, one fewer after another (transformers' heuristic). */
export class DraftLength {
  #tokens = 3;

  get tokens(): number {
    return this.#tokens;
  }

  learn(drafted: number, accepted: number): void {
    this.#tokens = accepted === drafted ? Math.min(MOST_DRAFTED, this.#tokens + 2) : Math.max(1, this.#tokens - 1);
  }
}

type Way = 'steps' | 'drafts';

/**
 * Chooses between rounds of single steps and rounds with drafts by the time that a token took in each. The choice depends on how
 * many sequences generate at once: a batch that keeps the GPU busy gains nothing from drafts.
 */
export class Pace {
  /** Milliseconds a token by the binary logarithm of the number of sequences; recent rounds count most. */
  readonly #ms = new Map<string, number>();
  #rounds = 0;

  /** Every sixteenth choice tries the other way again. */
  choose(sequences: number): Way {
    const [steps, drafts] = [this.#ms.get(key('steps', sequences)), this.#ms.get(key('drafts', sequences))];
    if (drafts === undefined) return 'drafts';
    if (steps === undefined) return 'steps';
    const [faster, other]: Way[] = drafts < steps ? ['drafts', 'steps'] : ['steps', 'drafts'];
    return ++this.#rounds % 16 === 0 ? other! : faster!;
  }

  learn(way: Way, sequences: number, ms: number, tokens: number): void {
    if (tokens === 0) return;
    const known = this.#ms.get(key(way, sequences));
    const now = ms / tokens;
    this.#ms.set(key(way, sequences), known === undefined ? now : known + (now - known) / 4);
  }
}

const key = (way: Way, sequences: number): string => `${way} ${Math.floor(Math.log2(sequences))}`;
