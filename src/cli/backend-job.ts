/** @file What a backend gets to do, and how it reaches the servers of simulated customers. */
import type { UserConfig } from '../records/user.ts';
import type { JobFiles } from './job-files.ts';
import type { ProgressBar } from './progress.ts';
import type { WorkRequest } from './work.ts';

/** The server of a simulated customer. */
export interface UserEndpoint {
  baseUrl: string;
  apiKey?: string | undefined;
}

/** What a backend gets. It answers with JSON. @throws CommandError or UsageError */
export type Backend = (job: {
  request: WorkRequest;
  files: JobFiles;
  userEndpoint: UserEndpoint | undefined;
  progress: ProgressBar;
}) => Promise<unknown>;

/** The customer with the key of its server, for a process that may hold it. */
export const withKey = (user: UserConfig, endpoint: UserEndpoint | undefined): UserConfig =>
  user.mode === 'endpoint' && endpoint?.apiKey !== undefined ? { ...user, apiKey: endpoint.apiKey } : user;

/** The request with every endpoint changed. */
export function withEndpoints(request: WorkRequest, change: (user: UserConfig & { mode: 'endpoint' }) => UserConfig): WorkRequest {
  const changed = (user: UserConfig) => (user.mode === 'endpoint' ? change(user) : user);
  if (request.command === 'train') return { ...request, user: changed(request.user) };
  if (request.command !== 'evaluate') return request;
  return { ...request, customers: request.customers.map((customer) => ({ ...customer, user: changed(customer.user) })) };
}
