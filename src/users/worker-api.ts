/** @file Sessions of simulated users for others than their owner: what the user worker answers. */
import type { UserScenario } from '../environments/types.ts';
import { createUsers } from './index.ts';
import { TAU2_STOPS, UserError, type UserConfig, type UserSession, type UserSimulator, type UserTools, type Utterance } from './types.ts';

/** Errors lose their class and fields between workers: a failure crosses as a value. */
export type Answer<T = { text: string }> = T | { failure: { kind: UserError['kind']; message: string } };

/** Sessions are named by the caller, so that an opening can be cancelled too. */
export interface UserWorkerApi {
  /** Later sessions are played by this; open ones go on as they are. @throws UserError's message */
  configure(config: UserConfig): void;
  open(session: string, scenario: UserScenario, seed: number, schemas?: UserTools['schemas'], call?: UserTools['call']): Promise<Answer>;
  reply(session: string, text: string): Promise<Answer>;
  /** Forgets the session. It is forgotten by itself when the customer stops or fails. */
  close(session: string): void;
  /** Ends a request under way with a failure of kind `aborted`, and closes the session. */
  cancel(session: string): void;
  /** See `UserSimulator.judge`. `cancel(name)` ends the request. */
  judge(name: string, statements: readonly string[], conversation: readonly Utterance[]): Promise<Answer<{ met: boolean[] | null }>>;
}

/** Episodes that end by the agent leave their session open: the oldest go when there are this many. */
const MAX_SESSIONS = 4096;

export class UserSessions implements UserWorkerApi {
  private users: UserSimulator = createUsers({ mode: 'scripted' });
  private readonly sessions = new Map<string, { user: UserSession; abort: AbortController }>();
  private readonly judging = new Map<string, AbortController>();

  configure(config: UserConfig): void {
    this.users = createUsers(config);
  }

  open(session: string, scenario: UserScenario, seed: number, schemas: UserTools['schemas'] = [], call?: UserTools['call']): Promise<Answer> {
    this.sessions.set(session, { user: this.users.session(scenario, seed, call && { schemas, call }), abort: new AbortController() });
    if (this.sessions.size > MAX_SESSIONS) this.cancel(this.sessions.keys().next().value!);
    return this.answer(session, (user, signal) => user.open(signal));
  }

  reply(session: string, text: string): Promise<Answer> {
    return this.answer(session, (user, signal) => user.reply(text, signal));
  }

  close(session: string): void {
    this.sessions.delete(session);
  }

  cancel(session: string): void {
    (this.sessions.get(session)?.abort ?? this.judging.get(session))?.abort();
    this.sessions.delete(session);
  }

  async judge(name: string, statements: readonly string[], conversation: readonly Utterance[]): Promise<Answer<{ met: boolean[] | null }>> {
    const abort = new AbortController();
    this.judging.set(name, abort);
    try {
      return { met: (await this.users.judge?.(statements, conversation, abort.signal)) ?? null };
    } catch (error) {
      return failure(error);
    } finally {
      this.judging.delete(name);
    }
  }

  private async answer(session: string, ask: (user: UserSession, signal: AbortSignal) => Promise<string>): Promise<Answer> {
    const open = this.sessions.get(session);
    if (!open) return { failure: { kind: 'bad_response', message: `session: '${session}' is not open` } };
    try {
      const text = await ask(open.user, open.abort.signal);
      if (TAU2_STOPS.some((word) => text.includes(word))) this.sessions.delete(session);
      return { text };
    } catch (error) {
      return failure(error);
    }
  }
}

const failure = (error: unknown) => ({ failure: { kind: error instanceof UserError ? error.kind : 'bad_response' as const, message: (error as Error).message } });
