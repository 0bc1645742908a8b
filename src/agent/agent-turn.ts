/**
 * @file One turn of the agent. The model samples it, or a person or an expert makes it. `server/` has the turns of a model behind a server.
 *
 * Sampled token ids are kept unchanged. Sampling stops at the token that ends a turn, such as `<|im_end|>`. If a turn may have only
 * one call, it also stops at the first `</tool_call>`, which is a token or a text (stop-text.ts). The template adds the tokens that
 * are missing to close the turn.
 */
import type { Generation, Sampler } from '../engine/types.ts';
import type { EpisodeLimits, Sampling } from '../records/episode.ts';
import { callFields } from '../base/message-path.ts';
import type { Task, ToolSchema } from '../records/task.ts';
import type { UserRequest } from '../records/user.ts';
import { END_OF_TEXT, generationPrompt, TOOL_CALL_END } from './chat-template.ts';
import type { EpisodeLog } from './episode-log.ts';
import type { Act } from './acts.ts';
import { heardBy, type Player } from './players.ts';
import type { BegunTurn } from './prefix.ts';
import type { EpisodeRules } from './rules.ts';
import { type ParsedTurn, parseTurn, spoken, unknownTool } from './tool-call.ts';
import { endsWithText } from './stop-text.ts';
import type { Transcript } from './transcript.ts';
import type { Tokenizer } from './types.ts';

export interface Turn extends ParsedTurn {
  /** The decoded turn, with markup. */
  text: string;
}

export interface TurnOptions {
  /** Not needed if the hook `agent` makes every turn. */
  sampler?: Sampler;
  task: Task;
  tokenizer: Tokenizer;
  limits: EpisodeLimits;
  sampling: Sampling;
  /** The seed and the stream of the sampler. Together with the weights, they determine every sample. */
  seed: number;
  stream: number;
  /** Plays beside the model. */
  player?: Player | undefined;
  signal?: AbortSignal;
}

/** Between the random streams of an episode's sequences. A guard that replaces a turn makes the sampler begin a new sequence. */
const NEXT_STREAM = 0x100000;

/** Samples the turns of one episode. Opens the sampler's sequence at the first turn. */
export class TurnSampler {
  readonly #stopTokenIds: number[];
  /** Set if a text ends the turn: says whether these tokens contain it. */
  readonly #stopText: ((tokens: readonly number[]) => boolean) | undefined;
  #sequence: Awaited<ReturnType<Sampler['open']>> | null = null;
  /** How many sampled turns a guard has replaced. */
  #replaced = 0;

  constructor(
    private readonly options: TurnOptions,
    /** The names of the tools that the agent may call. Null accepts any name. */
    private readonly toolNames: string[] | null,
    private readonly rules: Pick<EpisodeRules, 'callsPerTurn' | 'readTurn'>,
  ) {
    const { callsPerTurn } = rules;
    const { tokenizer } = options;
    const ends = [tokenizer.format.end, END_OF_TEXT];
    const stops = callsPerTurn === 1 ? [TOOL_CALL_END, ...ends] : ends;
    this.#stopTokenIds = stops.filter((token) => tokenizer.has(token)).map((token) => tokenizer.id(token));
    if (callsPerTurn === 1 && !tokenizer.has(TOOL_CALL_END)) this.#stopText = endsWithText(tokenizer, TOOL_CALL_END);
  }

  /** From now on, the agent may also call these tools. */
  learn(tools: readonly ToolSchema[]): void {
    this.toolNames?.push(...tools.map((tool) => tool.function.name));
  }

  /**
   * Samples one turn and appends it to the transcript. Returns the termination reason if the episode ends with this turn.
   * `begun` has the first tokens of the turn, which are given. If its last token ends the turn, nothing is sampled.
   */
  async sample(transcript: Transcript, log: EpisodeLog, begun?: BegunTurn): Promise<Turn | 'context_full' | 'turn_length'> {
    const { limits, sampler, sampling, seed, signal, stream, tokenizer } = this.options;
    if (!sampler) throw new Error('no model is loaded to play the agent');
    this.#sequence ??= await sampler.open({ seed, stream: stream + this.#replaced * NEXT_STREAM });
    const first = begun?.tokens ?? [];
    const prompt = tokenizer.encode(generationPrompt(tokenizer.format, limits.enable_thinking)).length;
    if (transcript.length + prompt + first.length + 1 >= transcript.capacity) return 'context_full';
    transcript.beginTurn();
    sampler.append(this.#sequence, [...transcript.takePending(), ...first]);
    const maxNewTokens = Math.min(limits.response_length_one_turn, transcript.capacity - transcript.length) - first.length;
    const { temperature, top_p: topP, top_k: topK } = sampling;
    const stopText = this.#stopText;
    const params = {
      maxNewTokens,
      temperature,
      topP,
      topK,
      stopTokenIds: this.#stopTokenIds,
      ...(stopText && { stop: (sampled: readonly number[]) => stopText([...first, ...sampled]) }),
    };
    const generation: Generation =
      this.#stopTokenIds.includes(first.at(-1)!) || stopText?.(first)
        ? { tokens: [], logprobs: [], finishReason: 'stop' }
        : maxNewTokens < 1
          ? { tokens: [], logprobs: [], finishReason: 'length' }
          : await log.time('generate', () => sampler.generate(this.#sequence!, params, signal));
    const tokens = [...first, ...generation.tokens];
    const text = tokenizer.decode(tokens);
    const isLong = generation.finishReason === 'length' && this.options.player?.teaches !== true;
    if (isLong || generation.finishReason === 'context_full') {
      transcript.sampled(generation, text, { content: spoken(text) }, begun);
      if (!isLong || transcript.full) return 'context_full';
      transcript.closeTurn();
      return 'turn_length';
    }
    const turn = this.#parsed(text);
    const instead = this.options.player?.instead?.(turn.calls, heardBy(transcript.nodes));
    if (instead) return this.#replace(instead, transcript);
    transcript.sampled(generation, text, fieldsOf(turn), begun);
    transcript.closeTurn(tokens.at(-1));
    return turn;
  }

  /** Appends `act` in the place of the sampled turn. The sampler begins a new sequence, which has the new text. */
  #replace(act: Act, transcript: Transcript): Turn {
    this.options.sampler!.close(this.#sequence!);
    this.#sequence = null;
    this.#replaced += 1;
    const turn = writtenTurn(act, transcript);
    transcript.written(turn.text, turn.text, { content: turn.content, by: 'guard', ...callFields(turn.calls) });
    transcript.requeue();
    return turn;
  }

  /** Appends a turn that was not sampled here: a person, an expert or another engine made it. */
  give(act: Act | WrittenTurn, transcript: Transcript, by: 'person' | 'guard' = 'person'): Turn {
    if ('text' in act) {
      const turn = this.#parsed(act.text);
      transcript.agent(turn.text, turn.text, fieldsOf(turn));
      return turn;
    }
    if ('made' in act) {
      const turn = this.#known(writtenTurn(act.made, transcript));
      transcript.agent(turn.text, turn.text, fieldsOf(turn));
      return turn;
    }
    const turn = writtenTurn(act, transcript);
    transcript.agent(turn.text, turn.text, { content: turn.content, by, ...callFields(turn.calls) });
    return turn;
  }

  /** The turn, or one with an error if it calls an unknown tool. */
  #known(turn: Turn): Turn {
    const unknown = turn.calls.find(({ name }) => this.toolNames?.includes(name) === false);
    return unknown ? { ...turn, calls: [], error: unknownTool(unknown.name) } : turn;
  }

  #parsed(text: string): Turn {
    return { text, ...(this.rules.readTurn?.(text, this.options.task) ?? parseTurn(text, this.toolNames, this.rules.callsPerTurn)) };
  }

  /** The requests to a model behind a server. */
  get requests(): readonly UserRequest[] {
    return [];
  }

  /** The tokens of the current turn that are sampled so far. Empty between turns. */
  get sampling(): readonly number[] {
    return this.#sequence?.sampling ?? [];
  }

  /** Frees the sampler's slot. */
  close(): void {
    if (this.#sequence) this.options.sampler!.close(this.#sequence);
  }
}

/** A turn of another engine's model: a text with markup, or an act whose texts are no markup. */
export type WrittenTurn = { text: string } | { made: Act };

function writtenTurn(act: Act, transcript: Transcript): Turn {
  const [content, calls] = 'call' in act ? [act.note ?? '', [act.call]] : [act.say.trim(), []];
  return { text: transcript.rendered(content, calls), content, calls };
}

/** What the conversation stores of a turn. */
export const fieldsOf = ({ content, calls, error }: Turn) => ({
  content,
  ...callFields(calls),
  ...(error !== undefined && { parseError: error }),
});
