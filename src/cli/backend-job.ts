/** @file What a backend gets for its work, and how it reaches the servers of simulated customers. */
import type { UserConfig } from '../records/user.ts';
import type { CustomerFolder } from './customer-folder.ts';
import type { JobFiles } from './job-files.ts';
import type { ProgressBar } from './progress.ts';
import type { WorkRequest } from './work.ts';

/** The server of a simulated customer. */
export interface UserEndpoint {
  baseUrl: string;
  apiKey?: string | undefined;
}

/** Runs the work of a command and returns its JSON result. @throws CommandError or UsageError */
export type Backend = (job: {
  request: WorkRequest;
  files: JobFiles;
  userEndpoint: UserEndpoint | undefined;
  /** The API key of the agent's server. */
  agentKey: string | undefined;
  /** The folders whose models play customers. */
  folders: readonly CustomerFolder[];
  progress: ProgressBar;
}) => Promise<unknown>;

/** Adds the API key of its server to the customer. Only for a process that may know the key. */
export const withKey = (user: UserConfig, endpoint: UserEndpoint | undefined): UserConfig =>
  user.mode === 'endpoint' && endpoint?.apiKey !== undefined ? { ...user, apiKey: endpoint.apiKey } : user;

/** Adds the API key of its server to the agent. Only for a process that may know the key. */
export const withServer = (request: WorkRequest, apiKey: string | undefined): WorkRequest =>
  request.command === 'evaluate' && request.options.server && apiKey !== undefined
    ? { ...request, options: { ...request.options, server: { ...request.options.server, apiKey } } }
    : request;

/** A copy of the request in which `change` was applied to every customer at an endpoint. */
export function withEndpoints(request: WorkRequest, change: (user: UserConfig & { mode: 'endpoint' }) => UserConfig): WorkRequest {
  const changed = (user: UserConfig) => (user.mode === 'endpoint' ? change(user) : user);
  if (request.command === 'train') return { ...request, user: changed(request.user) };
  if (request.command !== 'evaluate') return request;
  return { ...request, customers: request.customers.map((customer) => ({ ...customer, user: changed(customer.user) })) };
}

/** Whether a model behind a server plays the agent. */
export const hasServer = (request: WorkRequest): boolean => request.command === 'evaluate' && request.options.server !== undefined;

export const usesGpu = (request: WorkRequest): boolean => !hasServer(request);
