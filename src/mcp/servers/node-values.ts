/** @file The parts of Node's `Buffer` and `StringDecoder` that MCP servers use. */

/** Keeps the mark of the byte order, as Node does. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();
const PIECE = 0x8000;

/** Node's `Buffer`. */
export class Bytes extends Uint8Array {
  static alloc(size: number): Bytes {
    return new Bytes(size);
  }

  static override from(value: string | Iterable<number> | ArrayLike<number>): Bytes {
    const source = typeof value === 'string' ? encoder.encode(value) : Uint8Array.from(value as ArrayLike<number>);
    const bytes = new Bytes(source.length);
    bytes.set(source);
    return bytes;
  }

  static concat(list: readonly Uint8Array[]): Bytes {
    const bytes = new Bytes(list.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of list) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  override toString(encoding = 'utf-8'): string {
    if (encoding === 'hex') return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('');
    if (encoding !== 'base64') return decoder.decode(this);
    let text = '';
    for (let at = 0; at < this.length; at += PIECE) text += String.fromCharCode(...this.subarray(at, at + PIECE));
    return btoa(text);
  }
}

/** Node's `StringDecoder` for UTF-8. */
export class StringDecoder {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  write(bytes: Uint8Array): string {
    return this.#decoder.decode(bytes, { stream: true });
  }

  end(): string {
    return this.#decoder.decode();
  }
}
