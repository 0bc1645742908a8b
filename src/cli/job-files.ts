/** @file The files of one job, by name: those that the work may read, and receivers for those that it writes. */
import { readBytes } from './read.ts';

/** A file on disk, or its content. */
export type Offer = { file: string } | { data: string | Uint8Array };
export const contentOf = async (offer: Offer): Promise<Uint8Array<ArrayBuffer>> =>
  'file' in offer ? readBytes(offer.file) : new Uint8Array(Buffer.from(offer.data));

export type Receive = (body: Buffer, name: string) => void | Promise<void>;

export class JobFiles {
  readonly #offers = new Map<string, Offer>();
  readonly #receivers = new Map<string, Receive>();

  offer(name: string, source: Offer): void {
    this.#offers.set(name, source);
  }

  /** @param name a `*` at its end matches any text without a slash */
  accept(name: string, receive: Receive): void {
    this.#receivers.set(name, receive);
  }

  offered(name: string): Offer | undefined {
    return this.#offers.get(name);
  }

  receiver(name: string): Receive | undefined {
    return this.#receivers.get(name) ?? this.#receivers.get(name.replace(/[^/]*$/, '*'));
  }
}
