/** @file Simulated users and models in the tab that run in another worker. */
import { proxy, type Remote } from 'comlink';
import type { UserConfig, UserRequest } from '../records/user.ts';
import type { LocalModels } from './local-hosts.ts';
import { type ToldScenario, UserError, type UserSession, type UserSimulator, type UserTools, type Utterance } from './types.ts';
import type { Answer, UserWorkerApi } from './worker-api.ts';

export type { UserWorkerApi } from './worker-api.ts';

export class RemoteUsers implements UserSimulator {
  private constructor(
    private readonly worker: Remote<UserWorkerApi>,
    private readonly simulator: number,
    readonly customerJudge: string | undefined,
  ) {}

  /** @throws Error with UserError's message if the configuration is invalid */
  static async create(worker: Remote<UserWorkerApi>, config: UserConfig): Promise<RemoteUsers> {
    const { simulator, customerJudge } = await worker.configure(config);
    return new RemoteUsers(worker, simulator, customerJudge);
  }

  session(scenario: ToldScenario, seed: number, tools?: UserTools): UserSession {
    const { worker, simulator } = this;
    const session = crypto.randomUUID();
    const requests: UserRequest[] = [];
    const told = async (ask: () => Promise<Answer>, signal?: AbortSignal) =>
      (await cancellable(worker, session, signal, ask, requests)).text;
    return {
      open: (signal) =>
        told(
          () =>
            tools
              ? worker.open(simulator, session, scenario, seed, [...tools.schemas], proxy(tools.call))
              : worker.open(simulator, session, scenario, seed),
          signal,
        ),
      reply: (text, signal) => told(() => worker.reply(session, text), signal),
      close: () => void worker.close(session),
      requests,
    };
  }

  async judge(
    statements: readonly string[],
    conversation: readonly Utterance[],
    signal?: AbortSignal,
    requests?: UserRequest[],
  ): Promise<boolean[] | null> {
    const name = crypto.randomUUID();
    const ask = () => this.worker.judge(this.simulator, name, statements, conversation);
    return (await cancellable(this.worker, name, signal, ask, requests)).met;
  }
}

/** The models in the tab. @param worker finds the worker that runs them */
export function remoteModels(worker: () => Remote<UserWorkerApi>): LocalModels {
  const asked = <T extends object>(signal: AbortSignal | undefined, ask: (name: string) => Promise<Answer<T>>) => {
    const name = crypto.randomUUID();
    return cancellable(worker(), name, signal, () => ask(name));
  };
  return {
    load: async (model, signal) => void (await asked(signal, (name) => worker().loadModel(name, model))),
    generate: async (model, request, signal, timeoutMs) =>
      (await asked(signal, (name) => worker().generate(name, model, request, timeoutMs))).generated,
  };
}

async function cancellable<T extends object>(
  worker: Remote<UserWorkerApi>,
  name: string,
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer<T>>,
  requests?: UserRequest[],
): Promise<T> {
  const cancel = () => void worker.cancel(name);
  if (signal?.aborted) {
    cancel();
    throw new UserError('the conversation with the user was cancelled', 'aborted');
  }
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const answer = await ask();
    requests?.push(...(answer.requests ?? []));
    if ('failure' in answer) throw new UserError(answer.failure.message, answer.failure.kind);
    return answer;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}
