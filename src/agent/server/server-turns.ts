/** @file The turns of an agent whose model is behind a server. The conversation has no tokens: the server makes them. */
import type { ToolSchema } from '../../records/task.ts';
import type { UserRequest } from '../../records/user.ts';
import { fieldsOf, type Turn, type TurnOptions, TurnSampler } from '../agent-turn.ts';
import { QWEN } from '../chat-template.ts';
import type { EpisodeLog } from '../episode-log.ts';
import { heardBy } from '../players.ts';
import type { Transcript } from '../transcript.ts';
import type { Tokenizer } from '../types.ts';
import { checkAbort, Unscored } from '../unscored.ts';
import type { AgentSession, StartAgent } from './agents.ts';
import type { ReadRules } from './read-answer.ts';

/** A tokenizer without tokens: another engine makes the tokens, and limits their number. */
export const NO_TOKENS: Tokenizer = { encode: () => [], decode: () => '', id: () => -1, has: () => true, vocabSize: 0, format: QWEN };

export class ServerTurns extends TurnSampler {
  readonly #agent: AgentSession;
  readonly #options: TurnOptions;

  constructor(start: StartAgent, options: TurnOptions, tools: readonly ToolSchema[], toolNames: string[] | null, rules: ReadRules) {
    super(options, toolNames, rules);
    this.#options = options;
    const { task, seed, stream, sampling } = options;
    this.#agent = start({ task, tools, toolNames, rules, temperature: sampling.temperature, seed, stream });
  }

  override get requests(): readonly UserRequest[] {
    return this.#agent.requests;
  }

  /** @throws Unscored if the server fails */
  override async sample(transcript: Transcript, log: EpisodeLog): Promise<Turn> {
    const { player, signal } = this.#options;
    const made = await log
      .time('generate', () => this.#agent.turn(transcript.nodes, signal))
      .catch((cause: unknown) => {
        checkAbort(signal);
        throw Unscored.after(cause, 'agent_error');
      });
    const { turn, thoughts, callIds } = made;
    const instead = player?.instead?.(turn.calls, heardBy(transcript.nodes));
    if (instead) return this.give(instead, transcript, 'guard');
    transcript.agent(turn.text, turn.text, {
      ...fieldsOf(turn),
      ...(callIds.length > 0 && { callIds }),
      ...(thoughts !== '' && { thoughts }),
    });
    return turn;
  }
}
