/** @file One session: answers the frames of a connection one after another, and plays at most one episode at a time. */
import { shown } from '../base/input-error.ts';
import { isObject } from '../base/json.ts';
import type { WrittenTurn } from '../agent/agent-turn.ts';
import { spoken } from '../agent/tool-call.ts';
import type { Json } from '../records/json.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { answerMcp } from './mcp.ts';
import { RESPOND } from '../formats/python-tools.ts';
import { asProtocolError, type EpisodeState, ProtocolError, type StepResult } from './protocol.ts';
import { ServedEpisode, type ServedStage } from './served-episode.ts';
import { readReset, type TaskSource } from './task-source.ts';

/** The events that a session reports to its server. */
export interface SessionEvents {
  /** An episode begins. @throws ProtocolError if the server begins none at present */
  started(id: string, task: string): void;
  stepped(seconds: number): void;
  ended(termination: string, reward: number | null): void;
  failed(code: string): void;
  /** A conversation has ended, in whatever way: null if with an error. */
  recorded(id: string, trajectory: Trajectory | null): void;
}

export class Session {
  #episode: ServedEpisode | null = null;
  #closed = false;

  constructor(
    readonly id: string,
    private readonly stage: ServedStage,
    private readonly tasks: TaskSource,
    private readonly events: SessionEvents,
  ) {}

  /** Whether the session has an episode that has not ended. */
  get playing(): boolean {
    return this.#episode !== null && !this.#episode.done;
  }

  /** Answers a frame with the text of another frame, or with null for `close`. It never rejects. */
  async answer(frame: string): Promise<string | null> {
    try {
      const data = await this.#answer(frame);
      return data && JSON.stringify(data);
    } catch (error) {
      const { code, message, more } = asProtocolError(error);
      this.events.failed(code);
      return JSON.stringify({ type: 'error', data: { message, code, ...more } });
    }
  }

  async #answer(frame: string): Promise<object | null> {
    let message: unknown;
    try {
      message = JSON.parse(frame);
    } catch {
      throw new ProtocolError('INVALID_JSON', 'the frame is not JSON');
    }
    if (!isObject(message)) throw new ProtocolError('VALIDATION_ERROR', `the frame is ${shown(message)}: expected an object with "type"`);
    const { type, data = {} } = message;
    switch (type) {
      case 'reset':
        return observation(await this.reset(fields('reset', data)));
      case 'step':
        return observation(await this.#act(fields('step', data)));
      case 'state':
        return { type: 'state', data: this.#state() };
      case 'mcp':
        return { type: 'mcp', data: await answerMcp(fields('mcp', data), this.tools, (name, args) => this.call(name, args)) };
      case 'close':
        return null;
      default:
        throw new ProtocolError('UNKNOWN_TYPE', `type is ${shown(type)}: expected reset, step, state, mcp or close`);
    }
  }

  /** Begins an episode, and ends the one before it. @throws ProtocolError */
  async reset(data: Record<string, unknown>): Promise<StepResult> {
    const asked = readReset(data);
    await this.#drop();
    const { task, seed } = await this.tasks.choose(asked);
    const id = asked.episode_id ?? crypto.randomUUID();
    this.events.started(id, task.id);
    let begun;
    try {
      begun = await ServedEpisode.begin(this.stage, { id, task, seed }, (trajectory) => this.events.recorded(id, trajectory));
    } catch (error) {
      this.events.ended('user_error', null);
      throw error;
    }
    this.#episode = begun.episode;
    if (begun.first.done) this.#tellEnd();
    // The client may have left while the customer was writing.
    if (this.#closed) await this.#drop();
    return begun.first;
  }

  /** Plays an action: `list_tools` or `call_tool` of OpenEnv, or this server's own form, `content` or a `name` with `arguments`. */
  async #act(data: Record<string, unknown>): Promise<{ observation: object; reward: number | null; done: boolean }> {
    const { type, tool_name, name, content, arguments: args } = data;
    if (type === 'list_tools') return { observation: { tools: this.tools.map(listed) }, reward: null, done: false };
    if (type === 'call_tool') {
      const { observation: seen, ...rest } = await this.call(tool_name, args);
      return { observation: { ...seen, tool_name: tool_name as string, result: seen.content, error: null }, ...rest };
    }
    if (name !== undefined && name !== null) return this.call(name, args);
    if (typeof content !== 'string')
      throw new ProtocolError('VALIDATION_ERROR', `step.content is ${shown(content)}: expected a text, or name with arguments`);
    return this.#step({ text: content });
  }

  /** Plays a tool call. The tool `respond` talks to the customer. @throws ProtocolError */
  call(name: unknown, args: unknown = {}): Promise<StepResult> {
    if (typeof name !== 'string' || name === '')
      throw new ProtocolError('VALIDATION_ERROR', `the tool's name is ${shown(name)}: expected the name of a tool`);
    const values = fields(`arguments of ${name.slice(0, 80)}`, args);
    if (name !== RESPOND.function.name) return this.#step({ made: { call: { name, arguments: values } } });
    const words = values.message ?? values.content;
    if (typeof words !== 'string') throw new ProtocolError('VALIDATION_ERROR', `respond.message is ${shown(words)}: expected a text`);
    return this.#step({ made: { say: spoken(words) } });
  }

  async #step(turn: WrittenTurn): Promise<StepResult> {
    if (!this.#episode) throw new ProtocolError('EXECUTION_ERROR', 'there is no episode: expected a reset first');
    const start = performance.now();
    const playing = this.playing;
    try {
      const result = await this.#episode.step(turn);
      this.events.stepped((performance.now() - start) / 1000);
      return result;
    } finally {
      if (playing && this.#episode?.done) this.#tellEnd();
    }
  }

  #state(): EpisodeState | { episode_id: null; step_count: 0 } {
    return this.#episode?.state() ?? { episode_id: null, step_count: 0 };
  }

  /** The tools of the episode. Before the first reset, those of the domain. */
  get tools(): ToolSchema[] {
    return [...(this.#episode ?? this.stage.domain).tools, RESPOND];
  }

  #tellEnd(): void {
    const { trajectory } = this.#episode!;
    this.events.ended(trajectory?.termination ?? 'error', trajectory?.reward ?? null);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#drop();
  }

  async #drop(): Promise<void> {
    const playing = this.playing;
    const episode = this.#episode;
    this.#episode = null;
    if (playing) this.events.ended('dropped', null);
    await episode?.close();
  }
}

const observation = (data: object) => ({ type: 'observation', data });

const listed = ({ function: { name, description, parameters } }: ToolSchema) => ({ name, description, input_schema: parameters });

function fields(what: string, value: unknown): Record<string, Json> {
  if (isObject(value)) return value as Record<string, Json>;
  throw new ProtocolError('VALIDATION_ERROR', `${what} is ${shown(value)}: expected an object`);
}
