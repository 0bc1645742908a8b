/** @file All sessions of a server: counts and logs them, and keeps the conversations of their episodes. */
import type { Trajectory } from '../records/trajectory.ts';
import { Kept } from './kept.ts';
import { Metrics } from './metrics.ts';
import { ProtocolError } from './protocol.ts';
import type { ServedStage } from './served-episode.ts';
import { Session } from './session.ts';
import type { TaskSource } from './task-source.ts';

export interface SessionsOptions {
  maxSessions: number;
  /** Gets each event, for a line of JSON in the log. An event never has words of a conversation or the token. */
  log: (event: Record<string, string | number | null>) => void;
  /**
   * Gets each conversation that has ended, also if its client left, with its audit log. If it throws, the conversation is given to it
   * again later, and until then the server is unhealthy and begins no episode.
   */
  record?: ((trajectory: Trajectory) => void) | undefined;
  /** Told when an episode begins, and when it ends with an error. If `began` throws, the episode does not begin. */
  audit?: { began(id: string, task: string): void; failed(id: string): void } | undefined;
}

export class Sessions {
  readonly metrics = new Metrics();
  /** Whether the server stops, and opens no more sessions. */
  stopping = false;
  readonly #kept = new Kept();
  readonly #open = new Set<Session>();
  /** The sessions that are closed, and whose conversations are not recorded yet. */
  readonly #ending = new Set<Session>();
  #number = 0;

  constructor(
    readonly stage: ServedStage,
    private readonly tasks: TaskSource,
    private readonly options: SessionsOptions,
  ) {}

  /** @param began told when an episode of the session begins @throws ProtocolError if all sessions are open, or the server stops */
  open(began: () => void): Session {
    const { maxSessions, log, record, audit } = this.options;
    const { metrics } = this;
    if (this.#open.size >= maxSessions || this.stopping) {
      metrics.counts.sessions_refused += 1;
      const message = this.stopping ? 'the server is stopping' : `all ${maxSessions} sessions are open`;
      throw new ProtocolError('CAPACITY_REACHED', message, { active_sessions: this.#open.size, max_sessions: maxSessions });
    }
    const id = `s${++this.#number}`;
    const session = new Session(id, this.stage, this.tasks, {
      started: (episode, task) => {
        this.#kept.check(() => audit?.began(episode, task));
        began();
        log({ event: 'episode_started', session: id, task });
      },
      stepped: (seconds) => metrics.stepped(seconds),
      ended: (termination, reward) => {
        metrics.ended(termination, reward);
        log({ event: 'episode_ended', session: id, termination, reward });
      },
      recorded: (episode, trajectory) => {
        const fault = this.#kept.keep(() => (trajectory ? record?.(trajectory) : audit?.failed(episode)));
        if (fault) log({ event: 'audit_failed', session: id, reason: fault });
      },
      failed: (code) => {
        metrics.failed(code);
        log({ event: 'error', session: id, code });
      },
    });
    this.#open.add(session);
    metrics.counts.sessions_open += 1;
    metrics.counts.sessions_total += 1;
    log({ event: 'session_opened', session: id });
    return session;
  }

  /** @param code why, as WebSockets say it */
  close(session: Session, code: number): void {
    if (!this.#open.delete(session)) return;
    this.metrics.counts.sessions_open -= 1;
    this.options.log({ event: 'session_closed', session: session.id, code });
    this.#ending.add(session);
    void session.close().finally(() => this.#ending.delete(session));
  }

  /** Why the conversations cannot be kept at present, or ''. */
  fault(): string {
    return this.#kept.fault();
  }

  get playing(): boolean {
    return [...this.#open].some((session) => session.playing);
  }

  /** The number of sessions that are open, or whose conversations are not recorded yet. */
  get unfinished(): number {
    return this.#open.size + this.#ending.size;
  }
}
