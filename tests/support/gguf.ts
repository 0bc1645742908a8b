/** Writes GGUF files for tests, also files with faults. The layout is that of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. */

export type Field = [key: string, type: number, write: (bytes: Bytes) => void];
export interface Tensor {
  name: string;
  /** The row's length comes first. */
  shape: number[];
  type: number;
  offset: number;
}

export class Bytes {
  readonly #parts: number[] = [];

  get length(): number {
    return this.#parts.length;
  }

  #add(length: number, set: (view: DataView) => void): this {
    const view = new DataView(new ArrayBuffer(length));
    set(view);
    this.#parts.push(...new Uint8Array(view.buffer));
    return this;
  }

  u32 = (value: number): this => this.#add(4, (view) => view.setUint32(0, value, true));
  u64 = (value: number | bigint): this => this.#add(8, (view) => view.setBigUint64(0, BigInt(value), true));
  f32 = (value: number): this => this.#add(4, (view) => view.setFloat32(0, value, true));
  raw = (bytes: ArrayLike<number>): this => {
    for (const byte of Array.from(bytes)) this.#parts.push(byte);
    return this;
  };
  text = (value: string): this => {
    const bytes = new TextEncoder().encode(value);
    return this.u64(bytes.length).raw(bytes);
  };

  bytes(): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(this.#parts);
  }
}

export const number = (key: string, value: number): Field => [key, 4, (bytes) => bytes.u32(value)];
export const float = (key: string, value: number): Field => [key, 6, (bytes) => bytes.f32(value)];
export const text = (key: string, value: string): Field => [key, 8, (bytes) => bytes.text(value)];
export const texts = (key: string, values: readonly string[]): Field => [
  key,
  9,
  (bytes) => values.reduce((all, value) => all.text(value), bytes.u32(8).u64(values.length)),
];
export const numbers = (key: string, values: readonly number[]): Field => [
  key,
  9,
  (bytes) => values.reduce((all, value) => all.u32(value), bytes.u32(5).u64(values.length)),
];

/** A file whose tensors have `data` bytes together. */
export function ggufBytes(fields: readonly Field[], tensors: readonly Tensor[] = [], data = 0, version = 3): Uint8Array<ArrayBuffer> {
  const bytes = new Bytes().raw(new TextEncoder().encode('GGUF')).u32(version).u64(tensors.length).u64(fields.length);
  for (const [key, type, write] of fields) write(bytes.text(key).u32(type));
  for (const { name, shape, type, offset } of tensors) {
    bytes.text(name).u32(shape.length);
    for (const size of shape) bytes.u64(size);
    bytes.u32(type).u64(offset);
  }
  const start = Math.ceil(bytes.length / 32) * 32;
  return bytes.raw(new Uint8Array(start - bytes.length + data)).bytes();
}
