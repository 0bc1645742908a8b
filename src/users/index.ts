/** @file Simulated users by their configuration. */
import { ScriptedUsers } from './scripted.ts';
import { UserError, type UserConfig, type UserSimulator } from './types.ts';

/** @throws UserError when the configuration cannot work, e.g. a base URL that is none. */
export function createUsers(config: UserConfig): UserSimulator {
  if (config.mode === 'endpoint') throw new UserError('endpoint users cannot be created yet', 'bad_response');
  return new ScriptedUsers();
}
