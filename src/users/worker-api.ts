/** @file The interface of the user worker, in which sessions of simulated users run for other workers. */
import type { EndpointConfig, UserConfig, UserRequest } from '../records/user.ts';
import { type EndpointReport, listModels, testEndpoint } from './endpoint/test.ts';
import { createUsers } from './index.ts';
import { type Generated, type Generation, type HostedModel, LocalHosts } from './local-hosts.ts';
import type { FindScripts } from './scripted.ts';
import { serverWaits } from './waits.ts';
import { type ToldScenario, UserError, type UserSession, type UserSimulator, type UserTools, type Utterance } from './types.ts';

/** The answer of the worker. A failure is sent as a value, because errors lose their class and their fields between workers. */
export type Answer<T = { text: string }> = (T | { failure: { kind: UserError['kind']; message: string } }) & {
  /** The requests to a language model that were needed for the answer. */
  requests?: UserRequest[];
};

/** The caller chooses the names of the sessions, so that it can also cancel a session that is still opening. */
export interface UserWorkerApi {
  /**
   * Returns the number of the simulator with this configuration, and the model that judges its customers. All callers with the
   * same configuration share one simulator, so that its limit on requests holds for all of them together. A model in the tab is
   * loaded first.
   * @throws Error with UserError's message
   */
  configure(config: UserConfig): Promise<{ simulator: number; customerJudge: string | undefined }>;
  open(
    simulator: number,
    session: string,
    scenario: ToldScenario,
    seed: number,
    schemas?: UserTools['schemas'],
    call?: UserTools['call'],
  ): Promise<Answer>;
  reply(session: string, text: string): Promise<Answer>;
  /** Closes the session. The caller that opened it must do this, because nobody else knows when the session is over. */
  close(session: string): void;
  /** Ends the current request with a failure of kind `aborted`, and closes the session. */
  cancel(session: string): void;
  /** Like `UserSimulator.judge`. `cancel(name)` ends the request. */
  judge(
    simulator: number,
    name: string,
    statements: readonly string[],
    conversation: readonly Utterance[],
  ): Promise<Answer<{ met: boolean[] | null }>>;
  /** As `LocalModels.load`. `cancel(name)` ends it. */
  loadModel(name: string, model: HostedModel): Promise<Answer<object>>;
  /** As `LocalModels.generate`. `cancel(name)` ends it. */
  generate(name: string, model: HostedModel, request: Generation, timeoutMs?: number): Promise<Answer<{ generated: Generated }>>;
  /** Calls `listener` with what the customers of this worker wait for; '' for nothing. */
  listenToWaits(listener: (text: string) => void): void;
  /** Tries the settings of an endpoint (`test`), or asks the server for its models (`list`). */
  askEndpoint(what: 'test' | 'list', config: EndpointConfig): Promise<EndpointReport>;
}

export class UserSessions implements UserWorkerApi {
  constructor(private readonly scripts: FindScripts) {}

  private readonly simulators: { config: string; users: UserSimulator }[] = [];
  private readonly sessions = new Map<string, { user: UserSession; abort: AbortController }>();
  /** The other work that can be cancelled, by its name. */
  private readonly working = new Map<string, AbortController>();
  private readonly models = new LocalHosts();

  async configure(config: UserConfig): Promise<{ simulator: number; customerJudge: string | undefined }> {
    const key = JSON.stringify(config);
    let simulator = this.simulators.findIndex((known) => known.config === key);
    if (simulator < 0) simulator = this.simulators.push({ config: key, users: createUsers(config, this.scripts, this.models) }) - 1;
    const { users } = this.simulators[simulator]!;
    await users.ready?.();
    return { simulator, customerJudge: users.customerJudge };
  }

  open(
    simulator: number,
    session: string,
    scenario: ToldScenario,
    seed: number,
    schemas: UserTools['schemas'] = [],
    call?: UserTools['call'],
  ): Promise<Answer> {
    const { users } = this.simulators[simulator]!;
    this.sessions.set(session, { user: users.session(scenario, seed, call && { schemas, call }), abort: new AbortController() });
    return this.answer(session, (user, signal) => user.open(signal));
  }

  reply(session: string, text: string): Promise<Answer> {
    return this.answer(session, (user, signal) => user.reply(text, signal));
  }

  close(session: string): void {
    this.sessions.delete(session);
  }

  cancel(session: string): void {
    (this.sessions.get(session)?.abort ?? this.working.get(session))?.abort();
    this.sessions.delete(session);
  }

  async judge(
    simulator: number,
    name: string,
    statements: readonly string[],
    conversation: readonly Utterance[],
  ): Promise<Answer<{ met: boolean[] | null }>> {
    const requests: UserRequest[] = [];
    const { users } = this.simulators[simulator]!;
    const answer = await this.work(name, async (signal) => ({
      met: (await users.judge?.(statements, conversation, signal, requests)) ?? null,
    }));
    return { ...answer, requests };
  }

  loadModel(name: string, model: HostedModel): Promise<Answer<object>> {
    return this.work(name, async (signal) => {
      await this.models.load(model, signal);
      return {};
    });
  }

  generate(name: string, model: HostedModel, request: Generation, timeoutMs?: number): Promise<Answer<{ generated: Generated }>> {
    return this.work(name, async (signal) => ({ generated: await this.models.generate(model, request, signal, timeoutMs) }));
  }

  listenToWaits(listener: (text: string) => void): void {
    serverWaits.listen(listener);
  }

  askEndpoint(what: 'test' | 'list', config: EndpointConfig): Promise<EndpointReport> {
    return what === 'test' ? testEndpoint(config) : listModels(config);
  }

  private async work<T extends object>(name: string, ask: (signal: AbortSignal) => Promise<T>): Promise<Answer<T>> {
    const abort = new AbortController();
    this.working.set(name, abort);
    try {
      return await ask(abort.signal);
    } catch (error) {
      return failure(error);
    } finally {
      this.working.delete(name);
    }
  }

  private async answer(session: string, ask: (user: UserSession, signal: AbortSignal) => Promise<string>): Promise<Answer> {
    const open = this.sessions.get(session);
    if (!open) return { failure: { kind: 'bad_response', message: `session: '${session}' is not open` } };
    const { requests } = open.user;
    const before = requests?.length ?? 0;
    const made = () => requests && { requests: requests.slice(before) };
    try {
      return { text: await ask(open.user, open.abort.signal), ...made() };
    } catch (error) {
      return { ...failure(error), ...made() };
    }
  }
}

const failure = (error: unknown) => ({
  failure: { kind: error instanceof UserError ? error.kind : ('bad_response' as const), message: (error as Error).message },
});
