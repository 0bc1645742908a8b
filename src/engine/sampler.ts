/**
 * Continuous batching: one loop serves many `generate` calls at once. Each round of the loop prefills the known tokens that are not yet
 * in the KV cache (packed, from any slot). Then it runs a block of decode steps for all sequences that are generating. It reads all
 * samples of a part with one read. A sequence that waits for its caller costs no time.
 *
 * If the cache is too small for all sequences, the oldest ones come first, and a new one begins only if the cache will have room for its
 * growth (slot-pages.ts). Samples do not depend on this, because their random numbers depend only on seed, stream and position.
 */
import { macrotask } from '../base/macrotask.ts';
import type { DecodeProgram, Sampled } from './decode-program.ts';
import { NO_TOKEN, type SampleRow } from './kernels/sample.ts';
import type { Allocation } from './allocation.ts';
import { checkParams, type Request, sampleRow, type Slot } from './requests.ts';
import { comparePages, SlotPages } from './slot-pages.ts';
import type { Generation, Sampler, SamplingParams, Sequence } from './types.ts';

/** If all requests wait for pages: milliseconds until the next round, and until an idle sequence loses its pages. */
const POLL_MS = 4;
const PATIENCE_MS = 60_000;

/** Whether the cache holds all tokens of the request's sequence except the last one. */
const isReady = ({ sequence: { cached, length, pages } }: Request): boolean => pages.length > 0 && length - cached === 1;

export class BatchSampler implements Sampler {
  tokensPrefilled = 0;
  readonly #pages: SlotPages;
  readonly #freeSlots: number[];
  readonly #waiting: (() => void)[] = [];
  readonly #open = new Set<Slot>();
  readonly #requests = new Set<Request>();
  /** The program whose KV cache `#pages` describes. */
  #program: DecodeProgram | undefined;
  #serving = false;
  #stale = false;
  #stalledMs = 0;
  #lastId = 0;

  constructor(
    readonly maxModelLen: number,
    readonly vocabSize: number,
    slots: number,
    /** The size of the KV cache. One sequence of `maxModelLen` tokens must fit. */
    pages: { count: number; pageSize: number },
    /** The GPU side. Each round runs inside `turn` and asks for the program with `get`, which rejects after the engine was closed. */
    readonly program: Pick<Allocation<DecodeProgram>, 'get' | 'check'> & { turn(work: () => Promise<void>): Promise<void> },
  ) {
    this.#pages = new SlotPages(pages.count, pages.pageSize, this.#open, maxModelLen);
    this.#freeSlots = Array.from({ length: slots }, (_, slot) => slots - 1 - slot);
  }

  async open({ seed, stream }: { seed: number; stream: number }): Promise<Sequence> {
    while (this.#freeSlots.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const sequence: Slot = {
      id: ++this.#lastId,
      slot: this.#freeSlots.pop()!,
      seed: seed >>> 0,
      stream: stream >>> 0,
      length: 0,
      tokens: [],
      cached: 0,
      pages: [],
      contents: [],
      closed: false,
    };
    this.#open.add(sequence);
    return sequence;
  }

  append(sequence: Sequence, tokens: ArrayLike<number>): void {
    const slot = this.#slot(sequence);
    if (slot.request) throw new Error(`sequence ${slot.id} is generating: append when it is done`);
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i]!;
      if (!Number.isInteger(token) || token < 0 || token >= this.vocabSize) {
        throw new RangeError(`token ${i} to append is ${token}: expected an id from 0 to ${this.vocabSize - 1}`);
      }
    }
    for (let i = 0; i < tokens.length; i++) slot.tokens.push(tokens[i]!);
    slot.length = slot.tokens.length;
  }

  async generate(sequence: Sequence, params: SamplingParams, signal?: AbortSignal): Promise<Generation> {
    const slot = this.#slot(sequence);
    signal?.throwIfAborted();
    if (slot.request) throw new Error(`sequence ${slot.id} is generating already`);
    if (slot.length === 0) throw new Error(`sequence ${slot.id} is empty: append at least one token`);
    checkParams(params);
    if (slot.length >= this.maxModelLen) return { tokens: [], logprobs: [], finishReason: 'context_full' };
    if (params.maxNewTokens === 0) return { tokens: [], logprobs: [], finishReason: 'length' };
    return new Promise((resolve, reject) => {
      slot.request = { sequence: slot, params, stops: new Set(params.stopTokenIds), signal, tokens: [], logprobs: [], resolve, reject };
      slot.sampling = slot.request.tokens;
      slot.prompt ??= slot.length;
      this.#requests.add(slot.request);
      void this.#serve();
    });
  }

  close(sequence: Sequence): void {
    const slot = sequence as Slot;
    if (slot.closed) return;
    slot.closed = true;
    if (slot.request) this.#fail(slot.request, new Error(`sequence ${slot.id} was closed while it generated`));
    this.#pages.end(slot);
    this.#open.delete(slot);
    this.#freeSlots.push(slot.slot);
    this.#waiting.shift()?.();
  }

  /** Forgets the content of the KV cache, because the weights have changed. */
  invalidate(): void {
    if (this.#serving) this.#stale = true;
    else this.#forget();
  }

  #forget(): void {
    this.#stale = false;
    this.#pages.forget();
  }

  #slot(sequence: Sequence): Slot {
    const slot = sequence as Slot;
    if (!this.#open.has(slot)) throw new Error(`sequence ${sequence.id} is not open`);
    return slot;
  }

  async #serve(): Promise<void> {
    if (this.#serving) return;
    this.#serving = true;
    try {
      for (;;) {
        // Waits, so that all callers of the current task take part in one round.
        await macrotask();
        if (this.#requests.size === 0) break;
        await this.program.turn(async () => {
          const program = await this.program.get();
          this.program.check(program);
          if (this.#stale || program !== this.#program) this.#forget();
          this.#program = program;
          for (const request of this.#requests) {
            if (request.signal?.aborted) this.#fail(request, request.signal.reason);
          }
          if (this.#requests.size > 0) await this.#round(program);
        });
      }
    } catch (error) {
      // The round may have registered pages that the GPU never filled.
      this.#stale = true;
      for (const request of [...this.#requests]) this.#fail(request, error);
    } finally {
      this.#serving = false;
      if (this.#stale) this.#forget();
      if (this.#requests.size > 0) void this.#serve();
    }
  }

  /** One round of the loop: prefill, then decode. Each part reads its samples back, so sequences decode in the round of their prefill. */
  async #round(program: DecodeProgram): Promise<void> {
    program.discard();
    const prefilled = this.#prefill(program);
    if (prefilled.length > 0) await this.#collect(program, prefilled);
    const decoded = this.#decode(program);
    if (prefilled.length + decoded.length > 0) this.#stalledMs = 0;
    else await this.#stall();
    if (decoded.length > 0 || prefilled.length === 0) await this.#collect(program, decoded);
  }

  /** All pages are held by sequences that wait for their callers. They keep their pages, unless no caller comes back for a long time. */
  async #stall(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    this.#stalledMs += POLL_MS;
    if (this.#stalledMs >= PATIENCE_MS) this.#pages.dropIdle();
  }

  /** Reads the samples of `requests`. A request occurs once for each of its samples. */
  async #collect(program: DecodeProgram, requests: readonly Request[]): Promise<void> {
    const samples = await program.collect();
    requests.forEach((request, i) => {
      if (this.#requests.has(request)) this.#accept(request, samples[i]!);
    });
    for (const { sequence } of new Set(requests)) {
      if (sequence.closed) continue;
      // The cache holds all tokens except the last one. If a request failed after its prefill, a later call computes its last token again.
      sequence.cached = sequence.length - 1;
      this.#pages.register(sequence);
    }
  }

  /** The requests, those of the oldest sequences first. A sequence that comes back from a tool keeps its place. */
  #byAge(): Request[] {
    return [...this.#requests].sort((a, b) => a.sequence.id - b.sequence.id);
  }

  /** Queues the prefill of all known tokens of sequences that have pages or get some. Returns their requests, in the order of the samples. */
  #prefill(program: DecodeProgram): Request[] {
    const prefilled: Request[] = [];
    let tokens: { token: number; position: number; slot: number }[] = [];
    let rows: { index: number; params: SampleRow }[] = [];
    const flush = (): void => {
      if (tokens.length > 0) program.prefill(tokens, rows);
      [tokens, rows] = [[], []];
    };
    let admits = true;
    for (const request of this.#byAge()) {
      const { sequence } = request;
      if (isReady(request)) continue;
      if (sequence.pages.length === 0 && !(admits &&= this.#pages.admit(sequence))) continue;
      this.#pages.share(sequence);
      if (!this.#reserve(program, sequence, sequence.length)) continue;
      for (let position = sequence.cached; position < sequence.length; position++) {
        tokens.push({ token: sequence.tokens[position]!, position, slot: sequence.slot });
        if (position === sequence.length - 1) rows.push({ index: tokens.length - 1, params: sampleRow(request) });
        if (tokens.length === program.sizes.prefillTokens) flush();
      }
      this.tokensPrefilled += sequence.length - sequence.cached;
      // The GPU runs its queue in order. So later sequences of this loop may share these pages, although the GPU has not filled them yet.
      sequence.cached = sequence.length;
      this.#pages.register(sequence);
      prefilled.push(request);
    }
    flush();
    return prefilled;
  }

  /** Queues a block of decode steps. Returns the request of each sample. */
  #decode(program: DecodeProgram): Request[] {
    const ready = this.#byAge().filter(isReady);
    const steps = Math.min(program.sizes.steps, Math.max(0, ...ready.map((request) => this.#room(request))));
    // A request loses its pages in this loop if an older one needs them.
    const grown = ({ length }: Slot): number => Math.min(length + steps, this.maxModelLen);
    const decoding = ready.filter((one) => isReady(one) && this.#reserve(program, one.sequence, grown(one.sequence)));
    if (decoding.length === 0) return [];
    // Sequences with the same first pages become neighbours, because neighbours can share the loads of these pages.
    decoding.sort((a, b) => comparePages(a.sequence.pages, b.sequence.pages));
    program.decode(
      decoding.map((request) => {
        const { tokens, length, slot } = request.sequence;
        return { token: tokens[length - 1]!, position: length - 1, slot, params: sampleRow(request) };
      }),
      steps,
    );
    return Array.from({ length: steps }, () => decoding).flat();
  }

  #reserve(program: DecodeProgram, sequence: Slot, length: number): boolean {
    const reserved = this.#pages.reserve(sequence, length);
    if (reserved) program.setPages(sequence.slot, sequence.pages);
    return reserved;
  }

  /** Number of tokens that this request may still sample. */
  #room({ sequence, params, tokens }: Request): number {
    return Math.min(params.maxNewTokens - tokens.length, this.maxModelLen - sequence.length);
  }

  #accept(request: Request, { token, logprob }: Sampled): void {
    const { sequence, params, tokens, logprobs } = request;
    if (token === NO_TOKEN) {
      const message = `sequence ${sequence.id}: the logits after ${sequence.length} tokens are NaN or infinite, so no token can be sampled`;
      this.#fail(request, new Error(message));
      return;
    }
    tokens.push(token);
    logprobs.push(logprob);
    sequence.tokens.push(token);
    sequence.length = sequence.tokens.length;
    const finishReason =
      request.stops.has(token) || params.stop?.(tokens)
        ? 'stop'
        : tokens.length === params.maxNewTokens
          ? 'length'
          : sequence.length === this.maxModelLen
            ? 'context_full'
            : undefined;
    if (!finishReason) return;
    this.#end(request);
    request.resolve({ tokens, logprobs, finishReason });
  }

  #end(request: Request): void {
    this.#requests.delete(request);
    request.sequence.request = undefined;
    request.sequence.sampling = undefined;
  }

  #fail(request: Request, reason: unknown): void {
    this.#end(request);
    request.reject(reason);
  }
}
