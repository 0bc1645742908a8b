/** @file Tests the settings of an endpoint, for a form. */
import type { EndpointConfig } from '../records/user.ts';
import { EndpointClient, type EndpointOptions } from './endpoint-client.ts';
import { EndpointUsers } from './endpoint.ts';
import { isLoopback } from './loopback.ts';
import { providerOf } from './providers.ts';
import type { UserError } from './types.ts';

export interface EndpointReport {
  ok: boolean;
  kind:
    | 'ok'
    | 'bad_config'
    | 'mixed_content'
    | 'cors'
    | 'unreachable'
    | 'timeout'
    | 'auth'
    | 'model_missing'
    | 'rate_limit'
    | 'server'
    | 'bad_answer';
  message: string;
  /** The models that the server lists. Absent if they were not asked for, or if the server has no list. */
  models?: string[];
}

/** The largest number of model names in a sentence. */
const NAMED = 8;

/** Makes one small request. If it fails, a sentence says what is wrong and what helps. Never throws. */
export async function testEndpoint(config: EndpointConfig, options: EndpointOptions = {}): Promise<EndpointReport> {
  const quick = { timeoutMs: 20_000, ...config, maxRetries: 0 };
  try {
    const users = new EndpointUsers(quick, options);
    if (isMixed(config.baseUrl)) return MIXED;
    const answer = await users
      .session({ persona: 'upfront', identity: {}, wishes: [], instruction: 'You want to know the opening hours.' }, 0)
      .open();
    return { ok: true, kind: 'ok', message: `The model answers: “${answer.slice(0, 80)}”` };
  } catch (error) {
    const { kind, message } = error as UserError;
    if (kind !== 'bad_response') return explain(error as UserError, config, options);
    if (!URL.canParse(config.baseUrl) || !config.model) return bad('bad_config', `${message}.`);
    const models = await new EndpointClient(quick, options).models().catch(() => null);
    if (models && !models.includes(config.model))
      return { ...bad('model_missing', `The server has no model “${config.model}”. ${listed(models)}`), models };
    const isMissing = message.includes('HTTP 404');
    if (models) return { ...bad(isMissing ? 'model_missing' : 'bad_answer', `${message}.`), models };
    const remedy = 'The server has no list of models at this address: check that it is OpenAI-compatible and that the path is right.';
    return bad(isMissing ? 'model_missing' : 'bad_answer', `${message}. ${remedy}`);
  }
}

/** Asks the server for its models. If this fails, a sentence says what is wrong. Never throws. */
export async function listModels(config: EndpointConfig, options: EndpointOptions = {}): Promise<EndpointReport> {
  if (isMixed(config.baseUrl)) return MIXED;
  try {
    // The list of models can be read without naming a model.
    const client = new EndpointClient({ timeoutMs: 20_000, ...config, model: config.model || 'any', maxRetries: 0 }, options);
    const models = await client.models();
    return { ok: models.length > 0, kind: models.length > 0 ? 'ok' : 'model_missing', message: listed(models), models };
  } catch (error) {
    return explain(error as UserError, config, options);
  }
}

const bad = (kind: EndpointReport['kind'], message: string): EndpointReport => ({ ok: false, kind, message });

const MIXED = bad('mixed_content', 'This page uses https: the browser allows http addresses on this computer only.');

function isMixed(baseUrl: string): boolean {
  const page = globalThis.location as Location | undefined;
  if (page?.protocol !== 'https:' || !URL.canParse(baseUrl)) return false;
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !isLoopback(hostname);
}

function listed(models: readonly string[]): string {
  if (models.length === 0) return 'The server lists no models: load one there first.';
  const names = models.slice(0, NAMED).join(', ');
  return models.length > NAMED ? `It has ${names} and ${models.length - NAMED} more.` : `It has ${names}.`;
}

/** A sentence about a failure that says what helps with this provider. */
async function explain(
  { kind, message }: UserError,
  { baseUrl, apiKey }: EndpointConfig,
  options: EndpointOptions,
): Promise<EndpointReport> {
  const provider = providerOf(baseUrl);
  switch (kind) {
    case 'network': {
      const { origin } = new URL(baseUrl);
      const page = (globalThis.location as Location | undefined)?.origin ?? '';
      if (await answersWithoutCors(baseUrl, options))
        return bad('cors', `A server answers at ${origin}, but it does not let this page read the answer (CORS). ${provider.cors(page)}`);
      return bad('unreachable', `No server answers at ${origin}. ${provider.start || 'Check the connection to the internet.'}`);
    }
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

/**
 * Whether only CORS prevents the page from reading answers: in this case a `no-cors` request succeeds. Outside a browser there
 * is no CORS.
 */
async function answersWithoutCors(baseUrl: string, { fetch: send = fetch }: EndpointOptions): Promise<boolean> {
  if (!('document' in globalThis || 'importScripts' in globalThis)) return false;
  try {
    await send(baseUrl, { mode: 'no-cors', signal: AbortSignal.timeout(5_000) });
    return true;
  } catch {
    return false;
  }
}
