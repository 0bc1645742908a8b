/** @file Tests the settings of an endpoint, for a form. */
import { type Reason, whyUnreachable } from '../../base/unreachable.ts';
import type { EndpointConfig } from '../../records/user.ts';
import { EndpointUsers } from '../endpoint.ts';
import type { UserError } from '../types.ts';
import { EndpointClient, type EndpointOptions } from './client.ts';
import type { ListedModel } from './models.ts';
import { providerOf } from './providers.ts';

export interface EndpointReport {
  ok: boolean;
  kind: 'ok' | 'bad_config' | Reason['kind'] | 'timeout' | 'auth' | 'model_missing' | 'rate_limit' | 'server' | 'bad_answer';
  message: string;
  /** The chat models that the server lists. Absent if they were not asked for, or if the server has no list. */
  models?: string[];
}

/** The largest number of model names in a sentence. */
const NAMED = 8;

/** Makes one small request. If it fails, a sentence says what is wrong and what helps. Never throws. */
export async function testEndpoint(config: EndpointConfig, options: EndpointOptions = {}): Promise<EndpointReport> {
  const quick = { timeoutMs: 20_000, ...config, maxRetries: 0 };
  try {
    const users = new EndpointUsers(quick, options);
    const answer = await users
      .session({ persona: 'upfront', identity: {}, wishes: [], instruction: 'You want to know the opening hours.' }, 0)
      .open();
    const changes = users.changes.length > 0 ? ` The server refuses some fields: ${users.changes.join(', ')}.` : '';
    return { ok: true, kind: 'ok', message: `The model answers: “${answer.slice(0, 80)}”${changes}` };
  } catch (error) {
    const { kind, message } = error as UserError;
    if (kind !== 'bad_response') return explain(error as UserError, config, options);
    const client = clientFor(quick, options);
    if (!client) return bad('bad_config', `${message}.`);
    const listed = await client.models().catch(() => null);
    const models = listed && chatModels(listed);
    if (models && !listed.some(({ name }) => name === config.model))
      return { ...bad('model_missing', `The server has no model “${config.model}”. ${sentence(listed)}`), models };
    const isMissing = message.includes('HTTP 404');
    if (models) return { ...bad(isMissing ? 'model_missing' : 'bad_answer', `${message}.`), models };
    const remedy = 'The server has no list of models at this address: check that it is OpenAI-compatible and that the path is right.';
    return bad(isMissing ? 'model_missing' : 'bad_answer', `${message}. ${remedy}`);
  }
}

/** Asks the server for its models. If this fails, a sentence says what is wrong. Never throws. */
export async function listModels(config: EndpointConfig, options: EndpointOptions = {}): Promise<EndpointReport> {
  try {
    // The list of models can be read without naming a model.
    const client = new EndpointClient({ timeoutMs: 20_000, ...config, model: config.model || 'any', maxRetries: 0 }, options);
    const listed = await client.models();
    const models = chatModels(listed);
    return { ok: models.length > 0, kind: models.length > 0 ? 'ok' : 'model_missing', message: sentence(listed), models };
  } catch (error) {
    return explain(error as UserError, config, options);
  }
}

const bad = (kind: EndpointReport['kind'], message: string): EndpointReport => ({ ok: false, kind, message });

/** Null if the configuration is invalid. */
function clientFor(config: EndpointConfig, options: EndpointOptions): EndpointClient | null {
  try {
    return new EndpointClient(config, options);
  } catch {
    return null;
  }
}

const chatModels = (listed: readonly ListedModel[]) => listed.filter(({ chats }) => chats).map(({ name }) => name);

function sentence(listed: readonly ListedModel[]): string {
  if (listed.length === 0) return 'The server lists no models: load one there first.';
  const models = chatModels(listed);
  if (models.length === 0) return `The server lists no chat model, only ${listed[0]!.name}: load a chat model there first.`;
  const names = models.slice(0, NAMED).join(', ');
  return models.length > NAMED ? `It has ${names} and ${models.length - NAMED} more.` : `It has ${names}.`;
}

/** A sentence about a failure that says what helps with this provider. */
async function explain(
  { kind, message }: UserError,
  { baseUrl, apiKey }: EndpointConfig,
  options: EndpointOptions,
): Promise<EndpointReport> {
  switch (kind) {
    case 'network':
      return { ok: false, ...(await whyUnreachable(baseUrl, providerOf(baseUrl), options.fetch)) };
    case 'auth':
      return bad(kind, `${message}. ${apiKey ? 'Check the key.' : 'Enter its key above.'}`);
    case 'timeout':
    case 'rate_limit':
    case 'server':
      return bad(kind, `${message}.`);
    default:
      return bad('bad_answer', `${message}.`);
  }
}
