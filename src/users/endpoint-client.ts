/** @file Sends requests to an OpenAI-compatible server: one address, limited concurrency, and retries after growing waits. */
import type { EndpointConfig, UserRequest } from '../records/user.ts';
import { readBody, readUsage, type ChatRequest } from './endpoint-answer.ts';
import { CutAnswer, httpFailure, redirected, RequestFailure } from './endpoint-failure.ts';
import { Limiter, pause } from './limiter.ts';
import { isScriptedServer, SCRIPTED_MODEL } from './scripted-server.ts';
import { UserError } from './types.ts';

export interface EndpointOptions {
  /** The wait before the first retry, in milliseconds. It doubles with each retry, and half of it is random. */
  backoffMs?: number;
  fetch?: typeof fetch;
}

const MAX_BACKOFF_MS = 30_000;
/** How often a request is repeated whose answer was cut. Each time, the model gets twice as many tokens. */
const CUT_RETRIES = 2;
const RETRIED: ReadonlySet<UserError['kind']> = new Set(['network', 'timeout', 'rate_limit', 'server', 'bad_response']);

export class EndpointClient {
  private readonly completions: URL;
  /** The URL of the server's list of models. */
  private readonly list: URL;
  private readonly limiter: Limiter;
  /** Whether the server is `mua user-server`. Undefined until the server was asked. */
  private scripted: boolean | undefined;

  /** @throws UserError (`bad_response`) if a field of the configuration is invalid. */
  constructor(
    private readonly config: EndpointConfig,
    private readonly options: EndpointOptions = {},
  ) {
    this.completions = completionsUrl(config.baseUrl);
    this.list = new URL(this.completions);
    this.list.pathname = this.list.pathname.replace(/chat\/completions$/, 'models');
    if (!config.model) throw new UserError('model is empty: expected the name of a model at the endpoint', 'bad_response');
    const { concurrency = 8 } = config;
    if (!Number.isInteger(concurrency) || concurrency < 1)
      throw new UserError(`concurrency is ${concurrency}: expected a whole number from 1 on`, 'bad_response');
    this.limiter = new Limiter(concurrency);
  }

  /**
   * Gets one answer of a model. The request is repeated up to `maxRetries` times if it fails in a way that can be temporary, or
   * if `read` throws a RequestFailure. If the answer was cut, the request is repeated at most twice, each time with twice the
   * `max_tokens`. Every request is added to `requests`.
   * @throws UserError
   */
  complete<T>(request: ChatRequest, read: (body: string) => T, signal?: AbortSignal, requests: UserRequest[] = []): Promise<T> {
    let { max_tokens } = request;
    let cuts = 0;
    let attempts = 0;
    const ask = () => {
      const post = { method: 'POST', body: JSON.stringify({ ...request, max_tokens, stream: false }) };
      const made: UserRequest = { seconds: null, prompt: null, completion: null, retry: attempts++ > 0 };
      requests.push(made);
      const start = performance.now();
      const measured = (body: string) => {
        Object.assign(made, { seconds: (performance.now() - start) / 1000, ...readUsage(body) });
        return read(body);
      };
      return this.send(this.completions, post, request.model, measured, signal).catch((error: unknown) => {
        if (!(error instanceof CutAnswer)) throw error;
        if (++cuts > CUT_RETRIES) throw new RequestFailure(`${error.message}, with max_tokens ${max_tokens}`, error.kind, 0, true);
        max_tokens *= 2;
        throw error;
      });
    };
    return this.retried(ask, signal);
  }

  /**
   * Whether the server is `mua user-server`, which plays the scripted customer and needs the scenario for it. The server is
   * asked only if the configured model is the scripted one.
   * @throws UserError if no answer comes
   */
  async playsScenario(signal?: AbortSignal): Promise<boolean> {
    if (this.config.model !== SCRIPTED_MODEL) return false;
    const ask = () =>
      this.send(this.list, { method: 'GET' }, SCRIPTED_MODEL, isScriptedServer, signal).catch((error: unknown) => {
        // A server without a list of models is not `mua user-server`.
        if (error instanceof RequestFailure && error.final) return false;
        throw error;
      });
    return (this.scripted ??= await this.retried(ask, signal));
  }

  /** The names of the models that the server lists, in its order. @throws UserError if it has no list of models */
  models(signal?: AbortSignal): Promise<string[]> {
    return this.retried(() => this.send(this.list, { method: 'GET' }, '', readModels, signal), signal);
  }

  private async retried<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { maxRetries = 5 } = this.config;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.limiter.run(request, signal);
      } catch (error) {
        if (signal?.aborted) throw new UserError('the request to the user endpoint was cancelled', 'aborted');
        if (!(error instanceof RequestFailure)) throw error;
        if (error.final || !RETRIED.has(error.kind) || attempt >= maxRetries)
          throw new UserError(`${error.message}${attempt ? ` (after ${attempt + 1} attempts)` : ''}`, error.kind);
        const backoff = Math.min(MAX_BACKOFF_MS, (this.options.backoffMs ?? 500) * 2 ** attempt) * (0.5 + Math.random() / 2);
        await pause(Math.max(error.retryAfterMs, backoff), signal).catch(() => {
          throw new UserError('the request to the user endpoint was cancelled', 'aborted');
        });
      }
    }
  }

  private async send<T>(url: URL, init: RequestInit, model: string, read: (body: string) => T, signal?: AbortSignal): Promise<T> {
    const { apiKey, timeoutMs = 60_000 } = this.config;
    const timeout = AbortSignal.timeout(timeoutMs);
    let began = false;
    try {
      const response = await (this.options.fetch ?? fetch)(url.href, {
        ...init,
        headers: { ...(init.body && { 'Content-Type': 'application/json' }), ...(apiKey && { Authorization: `Bearer ${apiKey}` }) },
        // A redirect is not followed, because another server must not get the key.
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      began = true;
      if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
        void response.body?.cancel().catch(() => {});
        throw redirected(response);
      }
      const body = await readBody(response);
      if (!response.ok) throw httpFailure(response, body, apiKey, model);
      return read(body);
    } catch (error) {
      if (error instanceof RequestFailure) throw error;
      if (signal?.aborted) throw new RequestFailure('cancelled', 'aborted');
      if (timeout.aborted) throw new RequestFailure(`the user endpoint gave no answer within ${timeoutMs} ms`, 'timeout');
      if (began) throw new RequestFailure('the user endpoint closed the connection before its answer was complete', 'server');
      // The message contains only origin and path of the URL. User name, password, query and the text of the cause could contain
      // keys.
      throw new RequestFailure(`the user endpoint at ${url.origin}${url.pathname} cannot be reached`, 'network');
    }
  }
}

/** @throws RequestFailure if the body is not a list of models */
function readModels(body: string): string[] {
  try {
    const { data } = JSON.parse(body) as { data: { id: unknown }[] };
    return data.map(({ id }) => String(id));
  } catch {
    throw new RequestFailure('the user endpoint did not answer with a list of models', 'bad_response', 0, true);
  }
}

function completionsUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UserError('the base URL is not an http(s) address: expected one such as http://localhost:11434/v1', 'bad_response');
  // The query of the URL, such as ?api-version=…, is kept.
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '')}/chat/completions`;
  return url;
}
