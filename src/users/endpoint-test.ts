/** @file A test of an endpoint's settings, for a form. */
import type { EndpointConfig } from '../records/user.ts';
import type { EndpointOptions } from './endpoint-client.ts';
import { EndpointUsers } from './endpoint.ts';
import { isLoopback } from './loopback.ts';
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
}

/** Makes one small request and says in a sentence what is wrong. Never throws. */
export async function testEndpoint(config: EndpointConfig, options: EndpointOptions = {}): Promise<EndpointReport> {
  const report = (kind: EndpointReport['kind'], message: string): EndpointReport => ({ ok: kind === 'ok', kind, message });
  let users: EndpointUsers;
  try {
    users = new EndpointUsers({ timeoutMs: 20_000, ...config, maxRetries: 0 }, options);
  } catch (error) {
    return report('bad_config', `${(error as Error).message}.`);
  }
  const url = new URL(config.baseUrl);
  const page = globalThis.location as Location | undefined;
  if (page?.protocol === 'https:' && url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return report('mixed_content', 'This page uses https: the browser allows http addresses on this computer only.');
  }
  try {
    const answer = await users
      .session({ persona: 'upfront', identity: {}, wishes: [], instruction: 'You want to know the opening hours.' }, 0)
      .open();
    return report('ok', `The model answers: “${answer.slice(0, 80)}”`);
  } catch (error) {
    const { kind, message } = error as UserError;
    switch (kind) {
      case 'network':
        return (await answersWithoutCors(config.baseUrl, options))
          ? report(
              'cors',
              `A server answers at ${url.origin}, but it does not let this page read the answer (CORS). Allow the origin ${page?.origin} in its settings.`,
            )
          : report('unreachable', `No server answers at ${url.origin}. Start the server, or correct the address.`);
      case 'timeout':
      case 'auth':
      case 'rate_limit':
      case 'server':
        return report(kind, `${message}.`);
      default:
        return report(message.includes('HTTP 404') ? 'model_missing' : 'bad_answer', `${message}.`);
    }
  }
}

/** A `no-cors` request succeeds if only CORS keeps the page from reading answers. Outside a browser there is no CORS. */
async function answersWithoutCors(baseUrl: string, { fetch: send = fetch }: EndpointOptions): Promise<boolean> {
  if (!('document' in globalThis || 'importScripts' in globalThis)) return false;
  try {
    await send(baseUrl, { mode: 'no-cors', signal: AbortSignal.timeout(5_000) });
    return true;
  } catch {
    return false;
  }
}
