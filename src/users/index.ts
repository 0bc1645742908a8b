/** @file Makes the simulated user that a configuration names. */
import { EndpointUsers } from './endpoint.ts';
import { LocalUsers } from './local.ts';
import { type FindScripts, ScriptedUsers } from './scripted.ts';
import type { ModelWorker } from '../local/spawn.ts';
import type { UserConfig } from '../records/user.ts';
import type { UserSimulator } from './types.ts';

/**
 * @param scripts finds the scripted customers of a domain
 * @param spawn starts a model that plays customers (default: in a worker of this page)
 * @throws UserError if the configuration is invalid, for example if the base URL is not a URL
 */
export function createUsers(config: UserConfig, scripts: FindScripts, spawn?: () => ModelWorker): UserSimulator {
  const script = new ScriptedUsers(scripts);
  if (config.mode === 'scripted') return script;
  const model = config.mode === 'endpoint' ? new EndpointUsers(config) : new LocalUsers(config, spawn);
  const session = model.session.bind(model);
  model.session = (scenario, ...given) => (scenario.scripted ? script.session(scenario, ...given) : session(scenario, ...given));
  return model;
}
