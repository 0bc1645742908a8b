/**
 * @file One turn of the agent: sampled from the model, or made by a person or an expert.
 *
 * Sampled token ids are kept unchanged. Sampling stops at the first `</tool_call>` (one call a turn) or at `<|im_end|>`. The
 * template adds the tokens that are missing to close the turn.
 */
import type { Generation, Sampler } from '../engine/types.ts';
import type { EpisodeLimits, Sampling } from '../records/episode.ts';
import type { ToolCall } from '../records/task.ts';
import { END_OF_TEXT, generationPrompt, IM_END, TOOL_CALL_END, renderAssistant } from './chat-template.ts';
import type { EpisodeLog } from './episode-log.ts';
import type { Act } from './acts.ts';
import type { BegunTurn } from './prefix.ts';
import { parseTurn, spoken } from './tool-call.ts';
import type { Transcript } from './transcript.ts';
import type { Tokenizer } from './types.ts';

export interface Turn {
  /** The decoded turn, with markup. */
  text: string;
  /** The text that the user may hear. */
  content: string;
  call?: ToolCall;
  /** Why the turn's markup is not a tool call. */
  error?: string;
}

export interface TurnOptions {
  /** Not needed if `agent` makes every turn. */
  sampler?: Sampler;
  tokenizer: Tokenizer;
  limits: EpisodeLimits;
  sampling: Sampling;
  /** Seed and stream of the sampler. Together with the weights they determine every sample. */
  seed: number;
  stream: number;
  signal?: AbortSignal;
}

/** Samples the turns of one episode. Opens the sampler's sequence at the first turn. */
export class TurnSampler {
  readonly #stopTokenIds: number[];
  #sequence: Awaited<ReturnType<Sampler['open']>> | null = null;

  constructor(
    private readonly options: TurnOptions,
    /** The tools that the agent may call. Null accepts any name. */
    readonly toolNames: readonly string[] | null,
  ) {
    this.#stopTokenIds = [TOOL_CALL_END, IM_END, END_OF_TEXT].map((token) => options.tokenizer.id(token));
  }

  /**
   * Samples one turn and appends it to the transcript. Returns the reason if the episode ends with this turn.
   * `begun`: the first tokens of the turn. If the last of them ends the turn, nothing is sampled.
   */
  async sample(transcript: Transcript, log: EpisodeLog, begun?: BegunTurn): Promise<Turn | 'context_full' | 'turn_length'> {
    const { limits, sampler, sampling, seed, signal, stream, tokenizer } = this.options;
    if (!sampler) throw new Error('no model is loaded to play the agent');
    this.#sequence ??= await sampler.open({ seed, stream });
    const first = begun?.tokens ?? [];
    const prompt = tokenizer.encode(generationPrompt(limits.enable_thinking)).length;
    if (transcript.length + prompt + first.length + 1 >= transcript.capacity) return 'context_full';
    transcript.beginTurn();
    sampler.append(this.#sequence, [...transcript.takePending(), ...first]);
    const maxNewTokens = Math.min(limits.response_length_one_turn, transcript.capacity - transcript.length) - first.length;
    const { temperature, top_p: topP, top_k: topK } = sampling;
    const params = { maxNewTokens, temperature, topP, topK, stopTokenIds: this.#stopTokenIds };
    const generation: Generation = this.#stopTokenIds.includes(first.at(-1)!)
      ? { tokens: [], logprobs: [], finishReason: 'stop' }
      : maxNewTokens < 1
        ? { tokens: [], logprobs: [], finishReason: 'length' }
        : await log.time('generate', () => sampler.generate(this.#sequence!, params, signal));
    const tokens = [...first, ...generation.tokens];
    const text = tokenizer.decode(tokens);
    if (generation.finishReason !== 'stop') {
      transcript.sampled(generation, text, { content: spoken(text) }, begun);
      if (generation.finishReason === 'context_full' || transcript.full) return 'context_full';
      transcript.closeTurn();
      return 'turn_length';
    }
    const turn = { text, ...parseTurn(text, this.toolNames) };
    const { content, call, error } = turn;
    const fields = { content, ...(call && { toolCall: call }), ...(error !== undefined && { parseError: error }) };
    transcript.sampled(generation, text, fields, begun);
    transcript.closeTurn(tokens.at(-1));
    return turn;
  }

  /** The tokens of the turn under way that are sampled so far; empty between turns. */
  get sampling(): readonly number[] {
    return this.#sequence?.sampling ?? [];
  }

  /** Frees the sampler's slot. */
  close(): void {
    if (this.#sequence) this.options.sampler!.close(this.#sequence);
  }
}

/** A turn as another engine's model wrote it, with markup. */
export interface WrittenTurn {
  text: string;
}

/** Appends a turn that a person, an expert or another engine made. @param toolNames as of `TurnSampler` */
export function giveTurn(act: Act | WrittenTurn, transcript: Transcript, toolNames: readonly string[] | null): Turn {
  if ('text' in act) {
    const { text } = act;
    const { content, call, error } = parseTurn(text, toolNames);
    transcript.agent(text, text, { content, ...(call && { toolCall: call }), ...(error !== undefined && { parseError: error }) });
    return { text, content, call, error };
  }
  const [content, call] = 'call' in act ? [act.note ?? '', act.call] : [act.say.trim(), undefined];
  const text = renderAssistant(content, call ? [call] : []);
  transcript.agent(text, text, { content, by: 'person', ...(call && { toolCall: call }) });
  return { text, content, call };
}
