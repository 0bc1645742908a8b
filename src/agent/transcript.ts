/** @file A growing conversation: message nodes, their tokens, and what the sampler has yet to be given. */
import type { Generation } from '../engine/types.ts';
import type { MessageNode, Tokenizer } from './types.ts';

type NodeFields = Partial<Pick<MessageNode, 'content' | 'toolCall' | 'parseError' | 'toolResult' | 'by'>>;

export class Transcript {
  readonly nodes: MessageNode[] = [];
  /** Tokens so far. */
  length = 0;
  #pending: number[] = [];

  constructor(
    private readonly tokenizer: Tokenizer,
    /** Tokens the whole sequence may have. */
    readonly capacity: number,
  ) {}

  get leaf(): number {
    return this.nodes.length - 1;
  }

  /** Appends what was not sampled. A piece that does not fit is cut: the model never reads on from there. */
  given(role: MessageNode['role'], text: string, rendered: string, fields: NodeFields = {}): void {
    const tokens = this.tokenizer.encode(rendered).slice(0, this.capacity - this.length);
    this.#pending.push(...tokens);
    this.#push(role, text, { tokens, mask: tokens.map(() => 0), logprobs: tokens.map(() => null) }, fields);
  }

  /** Appends a sampled turn, token ids verbatim. */
  sampled({ tokens, logprobs }: Generation, text: string, fields: NodeFields): void {
    this.#push('assistant', text, { tokens: [...tokens], mask: tokens.map(() => 1), logprobs: [...logprobs] }, fields);
  }

  /** Takes over the messages of another conversation, token ids verbatim, as the beginning of this one. */
  adopt(nodes: readonly MessageNode[]): void {
    for (const { id: _, parent: __, role, text, tokens, mask, logprobs, ...fields } of nodes) {
      this.#pending.push(...tokens);
      this.#push(role, text, { tokens: [...tokens], mask: [...mask], logprobs: [...logprobs] }, fields);
    }
  }

  /** The tokens that the sampler has not been given yet; afterwards it has. */
  takePending(): number[] {
    const pending = this.#pending;
    this.#pending = [];
    return pending;
  }

  #push(role: MessageNode['role'], text: string, arrays: Pick<MessageNode, 'tokens' | 'mask' | 'logprobs'>, fields: NodeFields): void {
    this.length += arrays.tokens.length;
    this.nodes.push({ id: this.nodes.length, parent: this.nodes.length > 0 ? this.nodes.length - 1 : null, role, text, ...fields, ...arrays });
  }
}
