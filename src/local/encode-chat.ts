/** @file The token ids of a chat for a model of transformers.js. Control tokens in its messages and tools are text. */
import { type AddedToken, asText, piecesOf, splitAdded } from '../base/text-pieces.ts';
import type { Generation } from './api.ts';

/** The parts of transformers.js's tokenizer that are used. */
export interface ChatTokenizer {
  apply_chat_template(messages: never, options: { tokenize: false; [name: string]: unknown }): unknown;
  encode(text: string, options: { add_special_tokens: false }): number[];
}

export class ChatEncoder {
  readonly #control: string[];
  readonly #others: AddedToken[];
  #textOnly: ChatTokenizer | undefined;
  /** Whether the template has written tools. */
  #showsTools = false;

  /**
   * @param json the content of the model's `tokenizer.json`
   * @param make makes a tokenizer from such a content
   */
  constructor(
    private readonly tokenizer: ChatTokenizer,
    private readonly json: { added_tokens?: AddedToken[] },
    private readonly make: (json: object) => ChatTokenizer,
  ) {
    const { control, others } = splitAdded(json.added_tokens ?? []);
    this.#control = control;
    this.#others = others;
  }

  /** @throws if the chat template fails, or if it leaves the tools out */
  encode({ messages, tools, thinks = false }: Pick<Generation, 'messages' | 'tools' | 'thinks'>): number[] {
    const rendered = (more: object) =>
      this.tokenizer.apply_chat_template(this.#marked(messages) as never, {
        tokenize: false,
        add_generation_prompt: true,
        // Without this, Qwen3 and other models would think first.
        enable_thinking: thinks,
        ...more,
      }) as string;
    const text = rendered(tools.length > 0 ? { tools: this.#marked(tools) } : {});
    if (tools.length > 0 && !this.#showsTools) {
      if (text === rendered({})) throw new Error('it leaves the tools out, so the model would not know them');
      this.#showsTools = true;
    }
    const ids = (by: ChatTokenizer, part: string) => by.encode(part, { add_special_tokens: false });
    const pieces = piecesOf(text, this.#control);
    if (!pieces) return ids(this.tokenizer, text);
    this.#textOnly ??= this.make({ ...this.json, added_tokens: this.#others });
    return pieces.flatMap((piece) => ids(piece.isMarkup ? this.tokenizer : this.#textOnly!, piece.text));
  }

  /** A copy in which control tokens in all texts are marked as text. */
  #marked(value: unknown): unknown {
    if (typeof value === 'string') return asText(value, this.#control);
    if (Array.isArray(value)) return value.map((item) => this.#marked(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, this.#marked(own)]));
  }
}
