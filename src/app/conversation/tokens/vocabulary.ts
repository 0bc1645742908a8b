/**
 * @file The bytes of every token id, read from a model's tokenizer.json. Qwen's vocabularies are byte-level, so a token may be only a part
 * of a character. Such a token has no text. So the inspector works with bytes and never encodes text again.
 */
export interface TokenText {
  id: number;
  /** `control`: a token of the template or of tool calls; `bytes`: not UTF-8 by itself; `unknown`: not in the tokenizer. */
  kind: 'text' | 'control' | 'bytes' | 'unknown';
  bytes: Uint8Array;
  /** The text of this token alone; '' if it has none. */
  text: string;
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** The byte for each of the printable characters with which GPT-2, and these vocabularies, write bytes. */
const BYTE_OF = new Map<string, number>();
for (let byte = 0, other = 256; byte < 256; byte++) {
  const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  BYTE_OF.set(String.fromCharCode(printable ? byte : other++), byte);
}

export class Vocabulary {
  readonly #names: (string | undefined)[] = [];
  readonly #control = new Set<number>();
  readonly #known: (TokenText | undefined)[] = [];

  /** @param tokenizer the content of a tokenizer.json. @throws Error that names the missing part */
  constructor(tokenizer: unknown) {
    const { model, added_tokens = [] } = (tokenizer ?? {}) as { model?: { vocab?: unknown }; added_tokens?: unknown };
    const vocab = model?.vocab;
    if (typeof vocab !== 'object' || vocab === null || Array.isArray(vocab))
      throw new Error('tokenizer.json: "model.vocab" is missing: expected a byte-level vocabulary of tokens and ids');
    if (!Array.isArray(added_tokens)) throw new Error('tokenizer.json: "added_tokens" is not a list');
    for (const [name, id] of Object.entries(vocab as Record<string, unknown>)) if (Number.isInteger(id)) this.#names[id as number] = name;
    for (const { id, content } of added_tokens as { id?: unknown; content?: unknown }[]) {
      if (!Number.isInteger(id) || typeof content !== 'string')
        throw new Error('tokenizer.json: an entry of "added_tokens" has no id or no content');
      this.#names[id as number] = content;
      this.#control.add(id as number);
    }
  }

  token(id: number): TokenText {
    return (this.#known[id] ??= this.#read(id));
  }

  #read(id: number): TokenText {
    const name = this.#names[id];
    if (name === undefined) return { id, kind: 'unknown', bytes: new Uint8Array(), text: '' };
    if (this.#control.has(id)) return { id, kind: 'control', bytes: encoder.encode(name), text: name };
    const characters = [...name];
    const codes = characters.map((character) => BYTE_OF.get(character));
    // If a character is not in GPT-2's alphabet, the entry is plain text and not byte-level.
    const bytes = codes.every((code) => code !== undefined) ? Uint8Array.from(codes as number[]) : encoder.encode(name);
    try {
      return { id, kind: 'text', bytes, text: strict.decode(bytes) };
    } catch {
      return { id, kind: 'bytes', bytes, text: '' };
    }
  }

  /** The text of a sequence, one piece for each token. If several tokens form one character, it is in the piece of the last one. */
  pieces(ids: ArrayLike<number>): string[] {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const pieces = Array.from(ids, (id) => decoder.decode(this.token(id).bytes, { stream: true }));
    const rest = decoder.decode();
    if (rest !== '') pieces[pieces.length - 1] += rest;
    return pieces;
  }
}

export const hex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(' ');

const SEEN: Record<string, string> = { '\n': '⏎\n', '\t': '⇥', '\r': '␍' };
// These characters would hide text or change its direction: controls, soft hyphens, invisible characters and byte-order marks.
// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** The text to draw for a token: spaces as ▁, line ends as ⏎, and signs for invisible characters. */
export function drawn({ id, kind, bytes, text }: TokenText): string {
  if (kind === 'unknown') return `⟨${id}⟩`;
  if (kind === 'bytes') return `⟨${hex(bytes)}⟩`;
  const shown = text.replace(UNSEEN, (c) => SEEN[c] ?? `⟨U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`);
  // A zero-width space, so that a line can break before a drawn space as before a real one.
  return kind === 'control' ? shown : shown.replace(/ +/g, (spaces) => `\u200b${'▁'.repeat(spaces.length)}`);
}

/** `drawn` without line breaks. */
export const inLine = (token: TokenText): string => drawn(token).replaceAll('\u200b', '').replaceAll('\n', '');
