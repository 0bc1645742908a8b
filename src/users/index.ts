/** @file Makes the simulated user that a configuration names. */
import { EndpointUsers } from './endpoint.ts';
import { LocalUsers } from './local.ts';
import { LocalHosts, type LocalModels } from './local-hosts.ts';
import { type FindScripts, ScriptedUsers } from './scripted.ts';
import type { UserConfig } from '../records/user.ts';
import type { UserSimulator } from './types.ts';

/**
 * @param scripts finds the scripted customers of a domain
 * @param models runs the models in the tab (default: in workers of this page)
 * @throws UserError if the configuration is invalid, for example if the base URL is not a URL
 */
export function createUsers(config: UserConfig, scripts: FindScripts, models: LocalModels = new LocalHosts()): UserSimulator {
  const script = new ScriptedUsers(scripts);
  if (config.mode === 'scripted') return script;
  const model = config.mode === 'endpoint' ? new EndpointUsers(config) : new LocalUsers(config, models);
  const session = model.session.bind(model);
  model.session = (scenario, ...given) => (scenario.scripted ? script.session(scenario, ...given) : session(scenario, ...given));
  return model;
}
