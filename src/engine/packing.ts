/**
 * Packing of training sequences into micro-batches without padding. Neighbouring sequences with the same beginning (rollouts
 * of one task) share this prefix: it is stored and computed once, and all of them attend to it.
 */
import type { TrainSequence } from './types.ts';

/** The tokens of one run, and its rows: the predictions that have a loss. */
export interface MicroBatch {
  tokens: Uint32Array<ArrayBuffer>;
  positions: Uint32Array<ArrayBuffer>;
  /** Four words per token: prefixStart, prefixEnd, start, queryEnd (see docs/architecture.md). */
  spans: Uint32Array<ArrayBuffer>;
  /** Of each row: the packed index of the token whose hidden state predicts the target. Ascending, without repeats. */
  rowTokens: Uint32Array<ArrayBuffer>;
  targets: Uint32Array<ArrayBuffer>;
  /** Four floats per row: the three inputs of the loss, and the weight. */
  rowInputs: Float32Array<ArrayBuffer>;
  /** Of each row: the index of its sequence, and of the target token in this sequence. */
  rowSequences: Uint32Array;
  rowPositions: Uint32Array;
}

const valueAt = (values: number | ArrayLike<number>, t: number): number => (typeof values === 'number' ? values : values[t]!);

interface Item {
  index: number;
  sequence: TrainSequence;
  /** Masked tokens, ascending. */
  losses: number[];
  /** Number of tokens to compute: all that come before the last masked token. */
  length: number;
}

/** The cost of a second segment is higher than the gain of sharing a shorter prefix. */
const SHORTEST_PREFIX = 8;

/**
 * Fills micro-batches of at most `capacity` tokens, in order. Skips sequences without a masked token.
 * @throws RangeError for a sequence longer than `capacity`, or for an array whose length is not the number of tokens
 */
export function pack(sequences: readonly TrainSequence[], capacity: number, share = true): MicroBatch[] {
  const items = sequences.map(itemOf).filter(({ losses }) => losses.length > 0);
  const batches: MicroBatch[] = [];
  for (let from = 0; from < items.length;) {
    const first = items[from]!;
    if (first.length > capacity) {
      throw new RangeError(`sequence ${first.index} has ${first.length + 1} tokens: this engine trains on at most ${capacity + 1}`);
    }
    const groups = new Groups(share);
    let to = from;
    while (to < items.length && groups.tokensWith(items[to]!) <= capacity) groups.add(items[to++]!);
    batches.push(layOut(groups.best()));
    from = to;
  }
  return batches;
}

function itemOf(sequence: TrainSequence, index: number): Item {
  const { tokens, lossMask, weight, inputs = [] } = sequence;
  const arrays: [string, number | ArrayLike<number>][] = [
    ['lossMask', lossMask],
    ['weight', weight],
    ...inputs.map((input, i): [string, number | ArrayLike<number>] => [`inputs[${i}]`, input]),
  ];
  for (const [name, values] of arrays) {
    if (typeof values !== 'number' && values.length !== tokens.length) {
      throw new RangeError(`sequence ${index}: ${name} has ${values.length} entries: expected ${tokens.length}, one a token`);
    }
  }
  if (inputs.length > 3) throw new RangeError(`sequence ${index}: ${inputs.length} inputs: expected at most 3`);
  const losses: number[] = [];
  for (let t = 1; t < tokens.length; t++) if (lossMask[t]) losses.push(t);
  return { index, sequence, losses, length: losses.at(-1) ?? 0 };
}

interface Group {
  items: Item[];
  prefix: number;
}

/**
 * The sequences of one micro-batch, cut into groups that share a prefix. Dynamic programming over the cuts finds the fewest
 * tokens. The prefix of a group is the shortest prefix that two neighbours in the group share.
 */
class Groups {
  readonly #items: Item[] = [];
  /** Length of the prefix that item i shares with item i − 1. */
  readonly #common: number[] = [];
  /** Entry i: the fewest tokens of the first i items. */
  readonly #fewest: number[] = [0];
  /** Entry i: the start of the last group of the first i items. */
  readonly #cut: number[] = [0];

  constructor(readonly share: boolean) {}

  tokensWith(item: Item): number {
    return this.#extend(item).tokens;
  }

  add(item: Item): void {
    const { tokens, start, common } = this.#extend(item);
    this.#items.push(item);
    this.#common.push(common);
    this.#fewest.push(tokens);
    this.#cut.push(start);
  }

  #extend(item: Item): { tokens: number; start: number; common: number } {
    const before = this.#items.at(-1);
    const common = before && this.share ? commonPrefix(before, item) : 0;
    let tokens = this.#fewest.at(-1)! + item.length;
    let start = this.#items.length;
    let prefix = common;
    let total = item.length;
    for (let i = this.#items.length - 1; i >= 0 && prefix >= SHORTEST_PREFIX; i--) {
      total += this.#items[i]!.length;
      const sharing = this.#fewest[i]! + total - (this.#items.length - i) * prefix;
      if (sharing < tokens) [tokens, start] = [sharing, i];
      prefix = Math.min(prefix, this.#common[i]!);
    }
    return { tokens, start, common };
  }

  best(): Group[] {
    const groups: Group[] = [];
    for (let end = this.#items.length; end > 0;) {
      const start = this.#cut[end]!;
      groups.unshift({
        items: this.#items.slice(start, end),
        prefix: end - start > 1 ? Math.min(...this.#common.slice(start + 1, end)) : 0,
      });
      end = start;
    }
    return groups;
  }
}

/** Number of first tokens that two sequences share and that predict no masked token: sharing these tokens is exact. */
function commonPrefix(a: Item, b: Item): number {
  const end = Math.min(a.losses[0]! - 1, b.losses[0]! - 1);
  let t = 0;
  while (t < end && a.sequence.tokens[t] === b.sequence.tokens[t]) t++;
  return t;
}

function layOut(groups: readonly Group[]): MicroBatch {
  const count = groups.reduce((sum, { items, prefix }) => sum + prefix + items.reduce((own, { length }) => own + length - prefix, 0), 0);
  const rows = groups.reduce((sum, { items }) => sum + items.reduce((own, { losses }) => own + losses.length, 0), 0);
  const batch: MicroBatch = {
    tokens: new Uint32Array(count),
    positions: new Uint32Array(count),
    spans: new Uint32Array(4 * count),
    rowTokens: new Uint32Array(rows),
    targets: new Uint32Array(rows),
    rowInputs: new Float32Array(4 * rows),
    rowSequences: new Uint32Array(rows),
    rowPositions: new Uint32Array(rows),
  };
  let at = 0;
  let row = 0;
  const segment = ({ sequence }: Item, from: number, to: number, prefix: readonly [number, number], queryEnd: number): void => {
    const start = at;
    for (let t = from; t < to; t++, at++) {
      batch.tokens[at] = sequence.tokens[t]!;
      batch.positions[at] = t;
      batch.spans.set([prefix[0], prefix[1], start, queryEnd], 4 * at);
    }
  };
  for (const { items, prefix } of groups) {
    const begin = at;
    const end = begin + prefix + items.reduce((own, { length }) => own + length - prefix, 0);
    if (prefix > 0) segment(items[0]!, 0, prefix, [0, 0], end);
    for (const item of items) {
      const start = at;
      segment(item, prefix, item.length, prefix > 0 ? [begin, begin + prefix] : [0, 0], start + item.length - prefix);
      for (const t of item.losses) {
        const { weight, inputs = [] } = item.sequence;
        batch.rowTokens[row] = start + t - 1 - prefix;
        batch.targets[row] = item.sequence.tokens[t]!;
        inputs.forEach((values, i) => (batch.rowInputs[4 * row + i] = valueAt(values, t)));
        batch.rowInputs[4 * row + 3] = valueAt(weight, t);
        batch.rowSequences[row] = item.index;
        batch.rowPositions[row++] = t;
      }
    }
  }
  return batch;
}
