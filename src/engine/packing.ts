/**
 * Packs training sequences into micro-batches without padding. The sequences of a micro-batch form a prefix tree: a prefix that
 * several of them share (the prompt, or the first turns of rollouts of one task) is stored and computed once, forward and backward.
 * The gradients are exact, because a token's activations depend only on the tokens before it.
 */
import type { TrainSequence } from './types.ts';

/**
 * One run: its tokens in depth-first order, its rows and its terms. A row is a token whose hidden state predicts. A term is one
 * prediction of a row: the next token of one sequence.
 */
export interface MicroBatch {
  tokens: Uint32Array<ArrayBuffer>;
  positions: Uint32Array<ArrayBuffer>;
  /** For each token, the packed index after the last token of its subtree. Token t attends to the keys k ≤ t with t < ends[k]. */
  ends: Uint32Array<ArrayBuffer>;
  /** The packed index of each row's token. Ascending, without repeats. */
  rowTokens: Uint32Array<ArrayBuffer>;
  /** The terms of row r are firstTerms[r] … firstTerms[r + 1] - 1: one for each sequence with a loss at the row's next token. */
  firstTerms: Uint32Array<ArrayBuffer>;
  targets: Uint32Array<ArrayBuffer>;
  /** Four floats per term: the three inputs of the loss, and the weight. */
  inputs: Float32Array<ArrayBuffer>;
  /** The row of each term, the index of its sequence, and the target's position in this sequence. */
  termRows: Uint32Array;
  termSequences: Uint32Array;
  termPositions: Uint32Array;
}

/** A micro-batch has at most `TERMS_PER_TOKEN` · capacity terms. */
export const TERMS_PER_TOKEN = 8;

const valueAt = (values: number | ArrayLike<number>, t: number): number => (typeof values === 'number' ? values : values[t]!);

interface Item {
  index: number;
  sequence: TrainSequence;
  /** Positions of the tokens with a loss, ascending. */
  losses: number[];
  /** Number of tokens to compute: all tokens before the last token with a loss. */
  length: number;
}

/**
 * Fills micro-batches of at most `capacity` tokens, in order. It skips sequences in which no token has a loss.
 * @throws RangeError for a sequence longer than `capacity`, or for an array whose length is not the number of tokens
 */
export function pack(sequences: readonly TrainSequence[], capacity: number): MicroBatch[] {
  const batches: MicroBatch[] = [];
  let tree = new PrefixTree();
  for (const item of sequences.map(itemOf)) {
    if (item.losses.length === 0) continue;
    if (item.length > capacity) {
      throw new RangeError(`sequence ${item.index} has ${item.length + 1} tokens: this engine trains on at most ${capacity + 1}`);
    }
    if (tree.tokensWith(item) > capacity || tree.terms + item.losses.length > TERMS_PER_TOKEN * capacity) {
      batches.push(tree.layOut());
      tree = new PrefixTree();
    }
    tree.add(item);
  }
  if (tree.terms > 0) batches.push(tree.layOut());
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

/** A piece of a prefix: tokens `from` … `to` - 1 of every sequence that passes through this node. */
interface Node {
  tokens: ArrayLike<number>;
  from: number;
  to: number;
  children: Node[];
  /** Packed index of the node's first token. */
  at: number;
}

class PrefixTree {
  readonly #root: Node = { tokens: [], from: 0, to: 0, children: [], at: 0 };
  readonly #items: Item[] = [];
  #tokens = 0;
  terms = 0;

  tokensWith(item: Item): number {
    return this.#tokens + item.length - this.#shared(item).depth;
  }

  add(item: Item): void {
    const { node, depth } = this.#shared(item);
    if (depth < node.to) {
      node.children = [{ ...node, from: depth }];
      node.to = depth;
    }
    if (depth < item.length) node.children.push({ tokens: item.sequence.tokens, from: depth, to: item.length, children: [], at: 0 });
    this.#items.push(item);
    this.#tokens += item.length - depth;
    this.terms += item.losses.length;
  }

  /** `depth`: how many first tokens of the item the tree already has. `node`: the node that has the last of these tokens. */
  #shared({ sequence: { tokens }, length }: Item): { node: Node; depth: number } {
    let node = this.#root;
    for (let depth = 0; ; depth++) {
      if (depth === length) return { node, depth };
      if (depth === node.to) {
        const child = node.children.find((other) => other.tokens[depth] === tokens[depth]);
        if (!child) return { node, depth };
        node = child;
      } else if (node.tokens[depth] !== tokens[depth]) return { node, depth };
    }
  }

  layOut(): MicroBatch {
    const tokens = new Uint32Array(this.#tokens);
    const positions = new Uint32Array(this.#tokens);
    const ends = new Uint32Array(this.#tokens);
    let at = 0;
    const place = (node: Node): void => {
      node.at = at;
      for (let t = node.from; t < node.to; t++, at++) {
        tokens[at] = node.tokens[t]!;
        positions[at] = t;
      }
      node.children.forEach(place);
      ends.fill(at, node.at, node.at + node.to - node.from);
    };
    place(this.#root);
    return { tokens, positions, ends, ...this.#predictions() };
  }

  /** Makes the rows and terms of the batch, in the order of the packed tokens. */
  #predictions(): Omit<MicroBatch, 'tokens' | 'positions' | 'ends'> {
    const terms = this.#items.flatMap((item) => this.#predicting(item)).sort((a, b) => a.token - b.token);
    const batch = {
      rowTokens: Uint32Array.from(new Set(terms.map(({ token }) => token))),
      firstTerms: new Uint32Array(0),
      targets: Uint32Array.from(terms, ({ item, position }) => item.sequence.tokens[position]!),
      inputs: new Float32Array(4 * terms.length),
      termRows: new Uint32Array(terms.length),
      termSequences: Uint32Array.from(terms, ({ item }) => item.index),
      termPositions: Uint32Array.from(terms, ({ position }) => position),
    };
    batch.firstTerms = new Uint32Array(batch.rowTokens.length + 1).fill(terms.length);
    let row = -1;
    terms.forEach(({ token, item, position }, i) => {
      const { weight, inputs = [] } = item.sequence;
      if (token !== batch.rowTokens[row]) batch.firstTerms[++row] = i;
      batch.termRows[i] = row;
      inputs.forEach((values, n) => (batch.inputs[4 * i + n] = valueAt(values, position)));
      batch.inputs[4 * i + 3] = valueAt(weight, position);
    });
    return batch;
  }

  /** For each token with a loss in an item, the packed token that predicts it. */
  #predicting(item: Item): { token: number; item: Item; position: number }[] {
    let node = this.#root;
    return item.losses.map((position) => {
      const before = position - 1;
      while (before >= node.to) {
        const next = item.sequence.tokens[node.to];
        node = node.children.find(({ tokens, from }) => tokens[from] === next)!;
      }
      return { token: node.at + before - node.from, item, position };
    });
  }
}
