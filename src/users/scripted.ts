/** @file The scripted customers. They are played by the rules of the task's domain. */
import {
  type CustomerScripts,
  type Move,
  UserError,
  type UserSession,
  type UserSimulator,
  type UserTools,
  type ToldScenario,
} from './types.ts';

/** Finds the scripted customers of a domain. Without a domain: those that play any text, or any customer with tools. */
export type FindScripts = (domain: string | undefined, hasTools: boolean) => Promise<CustomerScripts>;

export class ScriptedUsers implements UserSimulator {
  /** @param varied whether the customers use many wordings for the same facts, if the domain has such wordings */
  constructor(
    private readonly scripts: FindScripts,
    private readonly varied = false,
  ) {}

  session(scenario: ToldScenario, seed: number, tools?: UserTools): UserSession {
    const schemas = tools?.schemas ?? [];
    const begin = async () =>
      (await this.scripts(scenario.domain, schemas.length > 0)).customer(scenario, seed, { tools: schemas, varied: this.varied });
    const begun = begin();
    begun.catch(() => {}); // the first message reports this error
    const speak = async (signal: AbortSignal | undefined, move: Move): Promise<string> => {
      const customer = await begun;
      for (let next = move; ;) {
        stopIfAborted(signal);
        if ('say' in next) return next.say;
        const [result] = await tools!.call([next.call]);
        next = customer.result!(result!.text);
      }
    };
    return {
      async open(signal) {
        stopIfAborted(signal);
        return speak(signal, { say: (await begun).open() });
      },
      async reply(text, signal) {
        stopIfAborted(signal);
        return speak(signal, (await begun).hear(text));
      },
    };
  }
}

/** @throws UserError (`aborted`) */
function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new UserError('the scripted user was cancelled', 'aborted');
}
