/** @file A growing conversation: its message nodes, their tokens, and the tokens that were not yet passed to the sampler. */
import { asText } from '../base/text-pieces.ts';
import type { Generation } from '../engine/types.ts';
import type { ToolCall, ToolSchema } from '../records/task.ts';
import type { MessageNode } from '../records/trajectory.ts';
import {
  generationPrompt,
  renderAssistant,
  renderClosing,
  renderOpening,
  renderSystem,
  renderToolResponse,
  renderUser,
  toolsText,
  withThinkBlock,
} from './chat-template.ts';
import type { ChatFormat } from './types.ts';
import type { BegunTurn } from './prefix.ts';
import type { Tokenizer } from './types.ts';

const NOTHING_BEGUN: BegunTurn = { tokens: [], mask: [], logprobs: [] };

type NodeFields = Partial<
  Pick<MessageNode, 'content' | 'toolCall' | 'toolCalls' | 'callIds' | 'thoughts' | 'tools' | 'parseError' | 'toolResult' | 'by'>
>;

export class Transcript {
  readonly nodes: MessageNode[] = [];
  /** The number of tokens of all nodes. */
  length = 0;
  #pending: number[] = [];

  constructor(
    private readonly tokenizer: Tokenizer,
    /** The largest number of tokens in the whole sequence. */
    readonly capacity: number,
    /** Whether the agent's turns begin with thoughts. */
    private readonly thinking = false,
  ) {}

  get #format(): ChatFormat {
    return this.tokenizer.format;
  }

  /** Appends the system message at the start, with the tools of the agent. */
  open(policy: string, tools: readonly ToolSchema[]): void {
    this.given('system', policy, renderOpening(this.#format, policy === '' ? null : policy, tools));
  }

  get leaf(): number {
    return this.nodes.length - 1;
  }

  get full(): boolean {
    return this.length >= this.capacity;
  }

  /** The tools that the agent got after the start. */
  get laterTools(): ToolSchema[] {
    return this.nodes.flatMap(({ tools = [] }) => tools);
  }

  /** Appends a text that was not sampled. The text is cut at the capacity, because the model never reads beyond it. */
  given(role: MessageNode['role'], text: string, rendered: string, fields: NodeFields = {}): void {
    const tokens = this.tokenizer.encode(rendered).slice(0, this.capacity - this.length);
    this.#pending.push(...tokens);
    this.#push(role, text, { tokens, mask: tokens.map(() => 0), logprobs: tokens.map(() => null) }, fields);
  }

  user(text: string): void {
    this.given('user', text, renderUser(this.#format, text));
  }

  /**
   * Appends a tool's result, or the error of a malformed call. `first` and `last` say whether it is the first and the last
   * result of its turn.
   */
  tool(text: string, toolResult?: MessageNode['toolResult'], { first, last } = { first: true, last: true }): void {
    this.given('tool', text, renderToolResponse(this.#format, text, first, last), toolResult && { toolResult });
  }

  /** Appends a system message about tools that the agent has from now on. */
  tools(tools: ToolSchema[]): void {
    const text = toolsText(this.#format, tools);
    this.given('system', text, renderSystem(this.#format, text), { tools });
  }

  /** The text of a turn of the agent that was not sampled, with its calls. */
  rendered(content: string, calls: readonly Pick<ToolCall, 'name' | 'arguments' | 'exact'>[]): string {
    return renderAssistant(
      this.#format,
      content,
      calls.map(({ name, arguments: args, exact }) => ({ name, arguments: exact ?? args })),
    );
  }

  /** Appends a turn of the agent that was not sampled. */
  agent(text: string, rendered: string, fields: NodeFields): void {
    this.beginTurn();
    this.written(text, rendered, fields);
  }

  /** The same for a turn that has begun. */
  written(text: string, rendered: string, fields: NodeFields): void {
    this.given('assistant', text, asText(withThinkBlock(rendered, this.thinking), this.#format.control), fields);
    this.closeTurn();
  }

  /** The sampler has no tokens yet: it begins a new sequence. */
  requeue(): void {
    this.#pending = this.nodes.flatMap(({ tokens }) => tokens);
  }

  beginTurn(): void {
    this.given('template', '', generationPrompt(this.#format, this.thinking));
  }

  /** Appends the template's tokens after a turn of the agent. `last` is the last token of the turn, if the turn was sampled. */
  closeTurn(last?: number): void {
    this.given('template', '', renderClosing(this.#format, last !== undefined && last === this.tokenizer.id(this.#format.end)));
  }

  /** Appends a sampled turn with its sampled token ids. They follow the given tokens with which the turn began. */
  sampled({ tokens, logprobs }: Pick<Generation, 'tokens' | 'logprobs'>, text: string, fields: NodeFields, begun = NOTHING_BEGUN): void {
    const arrays = {
      tokens: [...begun.tokens, ...tokens],
      mask: [...begun.mask, ...tokens.map(() => 1)],
      logprobs: [...begun.logprobs, ...logprobs],
    };
    this.#push('assistant', text, arrays, fields);
  }

  /** Puts the messages of a stored conversation at the start of this conversation. Token ids are not changed. */
  adopt(nodes: readonly MessageNode[]): void {
    for (const { id: _, parent: __, role, text, tokens, mask, logprobs, ...fields } of nodes) {
      this.#pending.push(...tokens);
      this.#push(role, text, { tokens: [...tokens], mask: [...mask], logprobs: [...logprobs] }, fields);
    }
  }

  /** Returns the tokens that were not yet passed to the sampler, and marks them as passed. */
  takePending(): number[] {
    const pending = this.#pending;
    this.#pending = [];
    return pending;
  }

  #push(role: MessageNode['role'], text: string, arrays: Pick<MessageNode, 'tokens' | 'mask' | 'logprobs'>, fields: NodeFields): void {
    this.length += arrays.tokens.length;
    this.nodes.push({
      id: this.nodes.length,
      parent: this.nodes.length > 0 ? this.nodes.length - 1 : null,
      role,
      text,
      ...fields,
      ...arrays,
    });
  }
}
