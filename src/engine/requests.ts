/** The sampler's data about an open sequence, and about one call of `generate`. */
import type { Content } from './kv-pages.ts';
import type { SampleRow } from './kernels/sample.ts';
import type { Generation, SamplingParams, Sequence } from './types.ts';

/** An open sequence. */
export interface Slot extends Sequence {
  length: number;
  readonly slot: number;
  readonly seed: number;
  readonly stream: number;
  readonly tokens: number[];
  /** Number of tokens whose keys and values are in the cache. */
  cached: number;
  readonly pages: number[];
  /** Number of tokens at its first request. */
  prompt?: number;
  /** The `Content` of each full page that is registered so far. */
  readonly contents: Content[];
  request?: Request;
  sampling?: readonly number[] | undefined;
  closed: boolean;
}

/** A call of `generate` that has not ended. */
export interface Request {
  sequence: Slot;
  params: SamplingParams;
  stops: ReadonlySet<number>;
  signal: AbortSignal | undefined;
  tokens: number[];
  logprobs: number[];
  resolve: (generation: Generation) => void;
  reject: (reason: unknown) => void;
}

/** The sampling parameters of a request as the kernels read them. */
export function sampleRow({ sequence: { seed, stream }, params }: Request): SampleRow {
  const greedy = params.temperature === 0;
  return { temperature: params.temperature, topP: greedy ? 1 : (params.topP ?? 1), topK: greedy ? 0 : (params.topK ?? 0), seed, stream };
}

/** @throws RangeError that names the parameter, its value and what is expected */
export function checkParams({ maxNewTokens, temperature, topP = 1, topK = 0 }: SamplingParams): void {
  const fail = (name: string, value: number, expected: string): never => {
    throw new RangeError(`${name} is ${value}: expected ${expected}`);
  };
  if (!Number.isInteger(maxNewTokens) || maxNewTokens < 0) fail('maxNewTokens', maxNewTokens, 'an integer of at least 0');
  if (!Number.isFinite(temperature) || temperature < 0) fail('temperature', temperature, 'a number of at least 0');
  if (!(topP > 0 && topP <= 1)) fail('topP', topP, 'a number above 0 and at most 1');
  if (!Number.isInteger(topK) || topK < 0) fail('topK', topK, 'an integer of at least 0');
}
