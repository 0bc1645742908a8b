/** @file Simulated users by their configuration. */
import { EndpointUsers } from './endpoint.ts';
import { ScriptedUsers } from './scripted.ts';
import type { UserConfig, UserSimulator } from './types.ts';

/** @throws UserError when the configuration cannot work, e.g. a base URL that is none. */
export function createUsers(config: UserConfig): UserSimulator {
  return config.mode === 'endpoint' ? new EndpointUsers(config) : new ScriptedUsers();
}
