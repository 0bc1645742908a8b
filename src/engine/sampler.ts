/**
 * Continuous batching: one loop over the GPU serves many `generate` calls at once. A round of the loop computes the known
 * tokens that are not yet in the KV cache (packed, from any slot), runs a block of decode steps for each sequence that is
 * generating, and reads all samples once. A sequence that waits for its caller costs no time. Instead of single steps, a round may
 * compute a draft for each sequence (drafts.ts), if that was faster before.
 *
 * The cache may have fewer pages than all slots could fill. If pages run out, sequences lose theirs (preemption): first those that
 * wait for their caller, then the youngest calls. A preempted call computes its tokens again when there is space. Its samples
 * stay the same, as they depend only on seed, stream and position.
 */
import type { DecodeProgram, Sampled } from './decode-program.ts';
import { draft, DraftLength, Pace } from './drafts.ts';
import { KvPages, NOTHING } from './kv-pages.ts';
import { NO_TOKEN, type SampleRow } from './kernels/sample.ts';
import type { Part } from './part.ts';
import { checkParams, type Request, sampleRow, type Slot } from './requests.ts';
import type { Generation, Sampler, SamplingParams, Sequence } from './types.ts';

/** One sample of a round. */
interface Expected {
  request: Request;
  /** The sample follows this token of a draft: it counts if the sequence got the token. */
  drafted?: { position: number; token: number };
}

export class BatchSampler implements Sampler {
  tokensPrefilled = 0;
  /** Tokens of drafts, and those that the samples confirmed. */
  readonly drafts = { drafted: 0, accepted: 0 };
  readonly #pace = new Pace();
  readonly #pages: KvPages;
  readonly #freeSlots: number[];
  readonly #waiting: (() => void)[] = [];
  readonly #open = new Set<Slot>();
  readonly #requests = new Set<Request>();
  /** Whose cache `#pages` describes. */
  #program: DecodeProgram | undefined;
  #serving = false;
  #stale = false;
  #lastId = 0;

  constructor(
    readonly maxModelLen: number,
    readonly vocabSize: number,
    slots: number,
    /** Of the KV cache. One sequence of `maxModelLen` tokens must fit. */
    pages: { count: number; pageSize: number },
    /** The GPU side. Each round asks for it in its turn: `get` rejects after the engine was closed. */
    readonly program: Pick<Part<DecodeProgram>, 'get' | 'check'> & { turn(work: () => Promise<void>): Promise<void> },
    readonly speculate = true,
  ) {
    this.#pages = new KvPages(pages.count, pages.pageSize);
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
      draftLength: new DraftLength(),
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
      this.#requests.add(slot.request);
      void this.#serve();
    });
  }

  close(sequence: Sequence): void {
    const slot = sequence as Slot;
    if (slot.closed) return;
    slot.closed = true;
    if (slot.request) this.#fail(slot.request, new Error(`sequence ${slot.id} was closed while it generated`));
    this.#drop(slot);
    this.#open.delete(slot);
    this.#freeSlots.push(slot.slot);
    this.#waiting.shift()?.();
  }

  /** Forgets the cache: the weights have changed. */
  invalidate(): void {
    if (this.#serving) this.#stale = true;
    else this.#forget();
  }

  #forget(): void {
    this.#stale = false;
    for (const sequence of this.#open) this.#drop(sequence);
    this.#pages.invalidate();
  }

  #drop(sequence: Slot): void {
    for (const page of sequence.pages) this.#pages.release(page);
    sequence.pages.length = 0;
    sequence.contents.length = 0;
    sequence.cached = 0;
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
        // Callers that resume in the same task share a round.
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

  /** One round of the loop: prefill, decode, read back. */
  async #round(program: DecodeProgram): Promise<void> {
    program.discard();
    const ready: Request[] = [];
    const fresh: Request[] = [];
    for (const request of this.#requests) (request.sequence.length - request.sequence.cached === 1 ? ready : fresh).push(request);
    const start = performance.now();
    const drafts = fresh.length === 0 ? this.#draft(program, ready) : null;
    const expected = this.#queue(program, ready, fresh, drafts);
    const accepted = this.#deliver(expected, await program.collect());
    if (fresh.length === 0) this.#pace.learn(drafts ? 'drafts' : 'steps', ready.length, performance.now() - start, accepted);
    for (const request of new Set(expected.map((sample) => sample.request))) {
      const { sequence } = request;
      const drafted = drafts?.get(request)?.length ?? 0;
      // The last sample follows the last token that was right.
      if (drafted > 0) sequence.draftLength.learn(drafted, sequence.length - sequence.cached - 2);
      // The cache holds all tokens except the last one. A request that failed after its prefill computes its last token again.
      if (sequence.closed) continue;
      sequence.cached = sequence.length - 1;
      this.#register(sequence);
    }
  }

  /** Queues the work of a round. Returns its samples in the order in which `collect` returns them. */
  #queue(
    program: DecodeProgram,
    ready: readonly Request[],
    fresh: readonly Request[],
    drafts: ReadonlyMap<Request, readonly number[]> | null,
  ): Expected[] {
    const steps = drafts ? 0 : Math.min(program.sizes.steps, Math.max(0, ...ready.map((request) => this.#room(request))));
    // The oldest calls come first. A call without pages waits for a later round.
    const decoding = ready.filter((request, i) => {
      const { sequence } = request;
      const victims = [...ready.slice(i + 1).reverse(), ...fresh];
      const preempted = sequence.length - sequence.cached > 1;
      const more = drafts?.get(request)!.length ?? steps;
      return !preempted && this.#reserve(program, sequence, Math.min(sequence.length + more, this.maxModelLen), victims);
    });
    const expected = this.#prefill(program, fresh);
    if (drafts) return [...expected, ...this.#tryDrafts(program, decoding, drafts)];
    if (decoding.length === 0) return expected;
    program.decode(
      decoding.map((request) => {
        const { sequence } = request;
        const position = sequence.length - 1;
        return { token: sequence.tokens[position]!, position, slot: sequence.slot, params: sampleRow(request) };
      }),
      steps,
    );
    for (let step = 0; step < steps; step++) expected.push(...decoding.map((request) => ({ request })));
    return expected;
  }

  /** Gives each sample to its call. Returns the number of samples that counted. */
  #deliver(expected: readonly Expected[], samples: readonly Sampled[]): number {
    let accepted = 0;
    expected.forEach(({ request, drafted }, i) => {
      if (!this.#requests.has(request)) return;
      if (drafted) {
        const { tokens, length } = request.sequence;
        if (length !== drafted.position + 1 || tokens[drafted.position] !== drafted.token) return;
        this.drafts.accepted++;
      }
      accepted++;
      this.#accept(request, samples[i]!);
    });
    return accepted;
  }

  /** A draft for each call; null if no call has one, or if single steps were faster. */
  #draft(program: DecodeProgram, ready: readonly Request[]): Map<Request, number[]> | null {
    const most = Math.floor(program.sizes.sampledRows / ready.length) - 1;
    if (!this.speculate || !(most >= 1)) return null;
    const drafts = new Map(
      ready.map((request) => {
        const { tokens, draftLength } = request.sequence;
        return [request, draft(tokens, Math.min(most, draftLength.tokens, this.#room(request) - 1))] as const;
      }),
    );
    const some = [...drafts.values()].some((tokens) => tokens.length > 0);
    return some && this.#pace.choose(ready.length) === 'drafts' ? drafts : null;
  }

  /** Computes the last token of each call and its draft in one run. */
  #tryDrafts(program: DecodeProgram, requests: readonly Request[], drafts: ReadonlyMap<Request, readonly number[]>): Expected[] {
    const tokens: Parameters<DecodeProgram['prefill']>[0] = [];
    const rows: Parameters<DecodeProgram['prefill']>[1] = [];
    const expected: Expected[] = [];
    for (const request of requests) {
      const { sequence } = request;
      const params = sampleRow(request);
      const add = (token: number, position: number, drafted: boolean): void => {
        rows.push({ index: tokens.length, params });
        tokens.push({ token, position, slot: sequence.slot });
        expected.push({ request, ...(drafted && { drafted: { position, token } }) });
      };
      add(sequence.tokens.at(-1)!, sequence.length - 1, false);
      drafts.get(request)!.forEach((token, i) => add(token, sequence.length + i, true));
    }
    if (tokens.length > 0) program.prefill(tokens, rows);
    this.drafts.drafted += expected.length - requests.length;
    return expected;
  }

  /** Number of tokens that this call may still sample. */
  #room({ sequence, params, tokens }: Request): number {
    return Math.min(params.maxNewTokens - tokens.length, this.maxModelLen - sequence.length);
  }

  /** Computes all known tokens of `requests`. Returns their first samples in the order in which `collect` returns them. */
  #prefill(program: DecodeProgram, requests: readonly Request[]): Expected[] {
    const sampled: Expected[] = [];
    let tokens: { token: number; position: number; slot: number }[] = [];
    let rows: { index: number; params: SampleRow }[] = [];
    const flush = (): void => {
      if (tokens.length > 0) program.prefill(tokens, rows);
      [tokens, rows] = [[], []];
    };
    for (const [i, request] of requests.entries()) {
      const { sequence } = request;
      this.#share(sequence);
      if (!this.#reserve(program, sequence, sequence.length, requests.slice(i + 1))) continue;
      for (let position = sequence.cached; position < sequence.length; position++) {
        tokens.push({ token: sequence.tokens[position]!, position, slot: sequence.slot });
        if (position === sequence.length - 1) {
          rows.push({ index: tokens.length - 1, params: sampleRow(request) });
          sampled.push({ request });
        }
        if (tokens.length === program.sizes.prefillTokens) flush();
      }
      this.tokensPrefilled += sequence.length - sequence.cached;
      // The queue runs in order: sequences further down may share these pages before the GPU has filled them.
      sequence.cached = sequence.length;
      this.#register(sequence);
    }
    flush();
    return sampled;
  }

  /** Adds pages of other sequences that hold the next tokens of `sequence`. At least one token is left to compute. */
  #share(sequence: Slot): void {
    const { pageSize } = this.#pages;
    while (
      sequence.cached % pageSize === 0 &&
      sequence.cached + pageSize < sequence.length &&
      sequence.pages.length * pageSize === sequence.cached
    ) {
      const found = this.#pages.find(
        sequence.contents.at(-1) ?? NOTHING,
        sequence.tokens.slice(sequence.cached, sequence.cached + pageSize),
      );
      if (!found) return;
      sequence.pages.push(found.page);
      sequence.contents.push(found.content);
      sequence.cached += pageSize;
    }
  }

  /**
   * Takes pages for the first `length` tokens. If there are too few, sequences without a call lose theirs, then those of `victims`.
   * Returns false if that is not enough.
   */
  #reserve(program: DecodeProgram, sequence: Slot, length: number, victims: readonly Request[]): boolean {
    const missing = (): number => Math.ceil(length / this.#pages.pageSize) - sequence.pages.length;
    if (missing() > this.#pages.available) {
      const holders = [...[...this.#open].filter(({ request }) => !request), ...victims.map((victim) => victim.sequence)];
      if (!holders.some((holder) => (this.#drop(holder), missing() <= this.#pages.available))) return false;
    }
    while (missing() > 0) sequence.pages.push(this.#pages.take());
    program.setPages(sequence.slot, sequence.pages);
    return true;
  }

  #register(sequence: Slot): void {
    const { pageSize } = this.#pages;
    for (let page = sequence.contents.length; (page + 1) * pageSize <= sequence.cached; page++) {
      const tokens = sequence.tokens.slice(page * pageSize, (page + 1) * pageSize);
      sequence.contents.push(this.#pages.register(sequence.pages[page]!, sequence.contents.at(-1) ?? NOTHING, tokens));
    }
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
    const finishReason = request.stops.has(token)
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

/** Waits for the next task. It uses a message because browsers delay nested timers by 4 ms. */
const macrotask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
