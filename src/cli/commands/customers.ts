/** @file The customers that `mua evaluate` compares. */
import type { UserConfig } from '../../records/user.ts';
import type { UserEndpoint } from '../backend-job.ts';
import type { CustomerFolder } from '../customer-folder.ts';
import { UsageError } from '../errors.ts';
import { readUser, type UserValues } from './shared.ts';

type Asked = Omit<UserValues, 'user'> & { user: readonly string[] };

export async function readUsers({
  user: names,
  userDevice,
  userModel,
  userTemperature,
  userMaxTokens,
  userBody,
  judgeModel,
  judgeCustomer,
}: Asked): Promise<{ users: UserConfig[]; userEndpoint: UserEndpoint | undefined; folders: CustomerFolder[] }> {
  const ofServer = { userModel, userTemperature, userMaxTokens, userBody, judgeModel, judgeCustomer };
  const read: Awaited<ReturnType<typeof readUser>>[] = [];
  for (const user of names) {
    const isServer = /^https?:/.test(user);
    read.push(await readUser({ user, userDevice, ...((isServer || names.length === 1) && ofServer) }));
  }
  const endpoints = read.flatMap(({ userEndpoint }) => userEndpoint ?? []);
  if (endpoints.length > 1) throw new UsageError(`--user names ${endpoints.length} servers: expected one at most`);
  const folders = read.flatMap(({ folder }) => folder ?? []);
  const places = new Map(folders.map(({ model, directory }) => [model, directory]));
  const twice = folders.find(({ model, directory }) => places.get(model) !== directory);
  if (twice) throw new UsageError(`--user names two folders "${twice.model}": expected folders with different names`);
  return { users: read.map(({ user }) => user), userEndpoint: endpoints[0], folders };
}
