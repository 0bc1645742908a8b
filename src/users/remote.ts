/** @file Simulated users that live in another worker. */
import { proxy, type Remote } from 'comlink';
import type { UserScenario } from '../environments/types.ts';
import { UserError, type UserSession, type UserSimulator, type UserTools } from './types.ts';
import type { Answer, UserWorkerApi } from './worker-api.ts';

export type { UserWorkerApi } from './worker-api.ts';

export class RemoteUsers implements UserSimulator {
  constructor(private readonly worker: Remote<UserWorkerApi>) {}

  session(scenario: UserScenario, seed: number, tools?: UserTools): UserSession {
    const { worker } = this;
    const session = crypto.randomUUID();
    return {
      open: (signal) => cancellable(worker, session, signal, () => (tools ? worker.open(session, scenario, seed, [...tools.schemas], proxy(tools.call)) : worker.open(session, scenario, seed))),
      reply: (text, signal) => cancellable(worker, session, signal, () => worker.reply(session, text)),
    };
  }
}

async function cancellable(worker: Remote<UserWorkerApi>, session: string, signal: AbortSignal | undefined, ask: () => Promise<Answer>): Promise<string> {
  const cancel = () => void worker.cancel(session);
  if (signal?.aborted) {
    cancel();
    throw new UserError('the conversation with the user was cancelled', 'aborted');
  }
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const answer = await ask();
    if ('failure' in answer) throw new UserError(answer.failure.message, answer.failure.kind);
    return answer.text;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}
