/** @file Sends requests to an OpenAI-compatible server: one address, limited concurrency, and retries after growing waits. */
import { Dice } from '../../base/dice.ts';
import { withoutKey } from '../../base/redact.ts';
import { type EndpointConfig, UNREACHABLE, type UserRequest } from '../../records/user.ts';
import { Limiter, pause } from '../limiter.ts';
import { isScriptedServer, SCRIPTED_MODEL } from '../scripted-server.ts';
import { UserError } from '../types.ts';
import { serverWaits } from '../waits.ts';
import { readUsage, type ChatRequest } from './answer.ts';
import { parseBody, readBody } from './body.ts';
import { checkEndpoint } from './config.ts';
import { answeredFailure, CutAnswer, httpFailure, redirected, RequestFailure } from './failure.ts';
import { RequestFields } from './fields.ts';
import { type ListedModel, readModels } from './models.ts';
import { errorInAnswer, readError } from './server-error.ts';

export interface EndpointOptions {
  /** The wait before the first retry, in milliseconds. It doubles with each retry, and half of it is random. */
  backoffMs?: number;
  fetch?: typeof fetch;
  /** Who answers, in the words of errors. Default: `the user endpoint`. */
  who?: string;
}

const USER = 'the user endpoint';

const MAX_BACKOFF_MS = 30_000;
/** How often a request is repeated whose answer was cut. Each time, the model gets twice as many tokens. */
const CUT_RETRIES = 2;
const RETRIED: ReadonlySet<UserError['kind']> = new Set(['network', 'timeout', 'rate_limit', 'server', 'bad_response']);

export class EndpointClient {
  private readonly completions: URL;
  /** The URL of the server's list of models. */
  private readonly list: URL;
  private readonly limiter: Limiter;
  private readonly fields: RequestFields;
  /** Whether the server is `mua user-server`. Undefined until the server was asked. */
  private scripted: boolean | undefined;

  /** @throws UserError (`bad_response`) if a field of the configuration is invalid. */
  constructor(
    private readonly config: EndpointConfig,
    private readonly options: EndpointOptions = {},
  ) {
    this.completions = checkEndpoint(config);
    this.list = new URL(this.completions);
    this.list.pathname = this.list.pathname.replace(/chat\/completions$/, 'models');
    this.limiter = new Limiter(config.concurrency ?? 8);
    this.fields = new RequestFields(config.extraBody);
  }

  /**
   * Gets one answer of a model. The request is repeated up to `maxRetries` times if it fails in a way that can be temporary, or
   * if `read` throws a RequestFailure. After an answer that cannot be used, the seed changes. If the answer was cut, the request
   * is repeated at most twice, each time with twice the `max_tokens`. A field that the server refuses is renamed or left out.
   * Every request is added to `requests`.
   * @throws UserError
   */
  complete<T>(request: ChatRequest, read: (body: string) => T, signal?: AbortSignal, requests: UserRequest[] = []): Promise<T> {
    let { max_tokens, seed } = request;
    const { model } = request;
    let [cuts, unusable] = [0, 0];
    const once = async (body: Record<string, unknown>) => {
      const made: UserRequest = { seconds: null, prompt: null, completion: null, retry: requests.length > before };
      requests.push(made);
      const start = performance.now();
      const text = await this.send(this.completions, { method: 'POST', body: JSON.stringify(body) }, model, signal);
      Object.assign(made, { seconds: (performance.now() - start) / 1000, ...readUsage(text) });
      return read(text);
    };
    const ask = async (): Promise<T> => {
      const body = this.fields.write(model, { ...request, max_tokens, seed, stream: false });
      try {
        return await once(body);
      } catch (error) {
        if (!(error instanceof RequestFailure)) throw error;
        if (error.refusal && this.fields.refuse(model, body, error.refusal)) return ask();
        if (error instanceof CutAnswer) {
          if (++cuts > CUT_RETRIES)
            throw new RequestFailure(`${error.message}, with max_tokens ${max_tokens}`, error.kind, { final: true });
          max_tokens *= 2;
        } else if (error.kind === 'bad_response') {
          // With the same seed, the model could give the same answer again.
          seed = new Dice(request.seed ?? 0, ++unusable).int(0, 2 ** 31 - 1);
        }
        throw error;
      }
    };
    const before = requests.length;
    return this.retried(ask, signal);
  }

  /**
   * Whether the server is `mua user-server`, which plays the scripted customer and needs the scenario for it. The server is
   * asked only if the configured model is the scripted one.
   * @throws UserError if no answer comes
   */
  async playsScenario(signal?: AbortSignal): Promise<boolean> {
    if (this.config.model !== SCRIPTED_MODEL) return false;
    const ask = async () => {
      try {
        return isScriptedServer(await this.send(this.list, { method: 'GET' }, SCRIPTED_MODEL, signal));
      } catch (error) {
        // A server without a list of models is not `mua user-server`.
        if (error instanceof RequestFailure && error.final) return false;
        throw error;
      }
    };
    return (this.scripted ??= await this.retried(ask, signal));
  }

  /** The models that the server lists, in its order. @throws UserError if it has no list of models */
  models(signal?: AbortSignal): Promise<ListedModel[]> {
    return this.retried(async () => readModels(await this.send(this.list, { method: 'GET' }, '', signal)), signal);
  }

  /** Sentences about the fields that the server refused so far. */
  changes(model: string): string[] {
    return this.fields.changes(model);
  }

  private async retried<T>(request: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { maxRetries = 5 } = this.config;
    const failed = (message: string, kind: UserError['kind']) => new UserError(message.replaceAll(USER, this.options.who ?? USER), kind);
    for (let attempt = 0; ; attempt++) {
      const waits = serverWaits.begin(`waiting for ${this.completions.origin}`);
      try {
        return await this.limiter.run(request, signal);
      } catch (error) {
        if (signal?.aborted) throw failed(`the request to ${USER} was cancelled`, 'aborted');
        if (!(error instanceof RequestFailure)) throw error;
        if (error.final || !RETRIED.has(error.kind) || attempt >= maxRetries)
          throw failed(`${error.message}${attempt ? ` (after ${attempt + 1} attempts)` : ''}`, error.kind);
        const backoff = Math.min(MAX_BACKOFF_MS, (this.options.backoffMs ?? 500) * 2 ** attempt) * (0.5 + Math.random() / 2);
        const wait = Math.max(error.retryAfterMs, backoff);
        const { message } = failed(error.message, error.kind);
        waits.now(
          `waiting for ${this.completions.origin}: ${message}; retry ${attempt + 1} of ${maxRetries} in ${Math.ceil(wait / 1000)} s`,
        );
        await pause(wait, signal).catch(() => {
          throw failed(`the request to ${USER} was cancelled`, 'aborted');
        });
      } finally {
        waits.end();
      }
    }
  }

  /** The text of a response without an error. @throws RequestFailure */
  private async send(url: URL, init: RequestInit, model: string, signal?: AbortSignal): Promise<string> {
    const { apiKey, timeoutMs = 60_000 } = this.config;
    const asked = { model, hasKey: Boolean(apiKey) };
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
      const unreachable = response.headers.get(UNREACHABLE);
      if (unreachable) throw noAnswer(unreachable);
      const body = withoutKey(await readBody(response), apiKey);
      if (!response.ok) throw httpFailure(response, readError(body), asked);
      const error = errorInAnswer(parsed(body));
      if (error) throw answeredFailure(error, asked);
      return body;
    } catch (error) {
      if (error instanceof RequestFailure) throw error;
      if (signal?.aborted) throw new RequestFailure('cancelled', 'aborted');
      if (timeout.aborted) throw new RequestFailure(`the user endpoint gave no answer within ${timeoutMs} ms`, 'timeout');
      if (began) throw new RequestFailure('the user endpoint closed the connection before its answer was complete', 'server');
      // The message contains only origin and path of the URL. User name, password, query and the text of the cause could contain
      // keys.
      throw noAnswer(`${url.origin}${url.pathname}`);
    }
  }
}

const noAnswer = (address: string) => new RequestFailure(`the user endpoint at ${address} cannot be reached`, 'network');

function parsed(body: string): unknown {
  try {
    return parseBody(body);
  } catch {
    return null;
  }
}
