/**
 * @file Customers played by an LLM behind an OpenAI-compatible `/chat/completions`. The roles are mirrored: to the model
 * the agent is the user, and the customer's words are the assistant's.
 */
import { historyFor } from '../environments/exact/history.ts';
import type { ToolCall, ToolSchema, UserScenario } from '../environments/types.ts';
import { JUDGE_PROMPT, readJudgement, writeCase } from './judge.ts';
import { Limiter, pause } from './limiter.ts';
import { GREETING, systemPrompt } from './prompt.ts';
import { UserError, type EndpointConfig, type UserSession, type UserSimulator, type UserTools, type Utterance } from './types.ts';

type Message = { role: 'system' | 'user' | 'assistant'; content: string | null; tool_calls?: RawCall[] } | { role: 'tool'; tool_call_id: string; content: string };

interface ChatRequest {
  model: string;
  messages: Message[];
  tools?: readonly ToolSchema[];
  temperature: number;
  max_tokens: number;
  seed?: number;
}

interface RawCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

interface Answer {
  text: string;
  /** As the model wrote them: they go back to it verbatim. */
  calls: RawCall[];
}

export interface EndpointOptions {
  /** Wait before the first retry; it doubles with each. Half of it is random. */
  backoffMs?: number;
  fetch?: typeof fetch;
}

const MAX_BACKOFF_MS = 30_000;
const MAX_RETRY_AFTER_MS = 60_000;
/** Room for reasons, and for models that think aloud. */
const JUDGE_TOKENS = 4096;
const RETRIED: ReadonlySet<UserError['kind']> = new Set(['network', 'timeout', 'rate_limit', 'server', 'bad_response']);

export class EndpointUsers implements UserSimulator {
  private readonly url: string;
  private readonly limiter: Limiter;

  /** @throws UserError (`bad_response`) when a field of the configuration cannot be used. */
  constructor(private readonly config: EndpointConfig, private readonly options: EndpointOptions = {}) {
    this.url = completionsUrl(config.baseUrl);
    if (!config.model) throw new UserError('model is empty: expected the name of a model at the endpoint', 'bad_response');
    const { concurrency = 8 } = config;
    if (!Number.isInteger(concurrency) || concurrency < 1) throw new UserError(`concurrency is ${concurrency}: expected a whole number from 1 on`, 'bad_response');
    this.limiter = new Limiter(concurrency);
  }

  session(scenario: UserScenario, seed: number, tools?: UserTools): UserSession {
    const { model, temperature = 0, maxTokens = 256 } = this.config;
    const schemas = tools?.schemas ?? [];
    const hasTools = schemas.length > 0;
    const messages: Message[] = [{ role: 'system', content: systemPrompt(scenario, hasTools) }];
    // Messages join the history only with their answer: a request that failed can be made again.
    const hear = async (content: string, signal?: AbortSignal): Promise<string> => {
      for (let heard: Message[] = [{ role: 'user', content }]; ; ) {
        const request = { model, messages: [...messages, ...heard], ...(hasTools && { tools: schemas }), temperature, max_tokens: maxTokens, seed };
        const { text, calls } = await this.complete(request, (body) => readAnswer(body, hasTools), signal);
        messages.push(...heard, { role: 'assistant', content: text || null, ...(calls.length > 0 && { tool_calls: calls }) });
        if (!calls.length) return text;
        const results = await callTools(tools!, calls);
        heard = results.map((result, i) => ({ role: 'tool', tool_call_id: calls[i]!.id, content: result.text }));
      }
    };
    const [past, last] = begun(scenario);
    messages.push(...past);
    return { open: (signal) => hear(last, signal), reply: hear };
  }

  judge(statements: readonly string[], conversation: readonly Utterance[], signal?: AbortSignal): Promise<boolean[]> {
    const { model: userModel, judgeModel: model = userModel } = this.config;
    const messages: Message[] = [{ role: 'system', content: JUDGE_PROMPT }, { role: 'user', content: writeCase(statements, conversation) }];
    const read = (body: string) => {
      const met = readJudgement(readAnswer(body, false).text, statements.length);
      if (!met) throw new RequestFailure(`the judge "${model}" answered with something else than a verdict on ${statements.length} statements`, 'bad_response');
      return met;
    };
    return this.complete({ model, messages, temperature: 0, max_tokens: JUDGE_TOKENS }, read, signal);
  }

  /** One answer of a model; failures that may pass are tried again, one to `read` it too. @throws UserError */
  private async complete<T>(request: ChatRequest, read: (body: string) => T, signal?: AbortSignal): Promise<T> {
    const { maxRetries = 5 } = this.config;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.limiter.run(() => this.request(request, read, signal), signal);
      } catch (error) {
        if (signal?.aborted) throw new UserError('the request to the user endpoint was cancelled', 'aborted');
        if (!(error instanceof RequestFailure)) throw error;
        if (error.final || !RETRIED.has(error.kind) || attempt >= maxRetries) throw new UserError(`${error.message}${attempt ? ` (after ${attempt + 1} attempts)` : ''}`, error.kind);
        const backoff = Math.min(MAX_BACKOFF_MS, (this.options.backoffMs ?? 500) * 2 ** attempt) * (0.5 + Math.random() / 2);
        await pause(Math.max(error.retryAfterMs, backoff), signal).catch(() => {
          throw new UserError('the request to the user endpoint was cancelled', 'aborted');
        });
      }
    }
  }

  private async request<T>(request: ChatRequest, read: (body: string) => T, signal?: AbortSignal): Promise<T> {
    const { apiKey, timeoutMs = 60_000 } = this.config;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const response = await (this.options.fetch ?? fetch)(this.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...(apiKey && { Authorization: `Bearer ${apiKey}` }) },
        body: JSON.stringify({ ...request, stream: false }),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      });
      const body = await response.text();
      if (!response.ok) throw httpFailure(response, body, apiKey, request.model);
      return read(body);
    } catch (error) {
      if (error instanceof RequestFailure) throw error;
      if (signal?.aborted) throw new RequestFailure('cancelled', 'aborted');
      if (timeout.aborted) throw new RequestFailure(`the user endpoint gave no answer within ${timeoutMs} ms`, 'timeout');
      // The cause's text may show request headers: it is not passed on.
      throw new RequestFailure(`the user endpoint at ${shownUrl(this.url)} cannot be reached`, 'network');
    }
  }
}

/** What was said before the customer's first answer, roles mirrored, and what that is to answer. */
function begun({ history }: UserScenario): [Message[], string] {
  const past = historyFor('user', history ?? [{ role: 'assistant', content: GREETING }]);
  const last = past.pop()!.content;
  return [past.map(({ role, id, content, calls }): Message => {
    if (role === 'tool') return { role, tool_call_id: id ?? '', content };
    const raw = calls.map((call): RawCall => ({ id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }));
    return { role: role === 'user' ? 'assistant' : 'user', content, ...(raw.length > 0 && { tool_calls: raw }) };
  }), last];
}

/** One failed request; `final` when trying again cannot help. */
class RequestFailure extends UserError {
  constructor(message: string, kind: UserError['kind'], readonly retryAfterMs = 0, readonly final = false) {
    super(message, kind);
  }
}

function completionsUrl(baseUrl: string): string {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || !/^https?:$/.test(url.protocol)) throw new UserError('base URL is no http(s) address: expected one such as http://localhost:11434/v1', 'bad_response');
  url.pathname = `${url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '')}/chat/completions`; // a query, such as ?api-version=…, stays
  return url.href;
}

/** Without user name, password and query, where keys may hide. */
function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function httpFailure({ status, headers }: Response, body: string, apiKey: string | undefined, model: string): RequestFailure {
  const detail = errorText(body, apiKey);
  const wait = retryAfterMs(headers.get('retry-after'));
  if (status === 401 || status === 403) return new RequestFailure(`the user endpoint refused the API key (HTTP ${status})`, 'auth', 0, true);
  if (status === 404) return new RequestFailure(`the user endpoint knows no model "${model}", or its path is wrong (HTTP 404)${detail}`, 'bad_response', 0, true);
  if (status === 429) return new RequestFailure(`the user endpoint's rate limit is reached (HTTP 429)${detail}`, 'rate_limit', wait);
  if (status >= 500 || status === 408) return new RequestFailure(`the user endpoint failed (HTTP ${status})${detail}`, 'server', wait);
  return new RequestFailure(`the user endpoint rejected the request (HTTP ${status})${detail}`, 'bad_response', 0, true);
}

/** The server's own words, shortened; never the key, which some servers repeat. */
function errorText(body: string, apiKey?: string): string {
  let text: unknown;
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } | string };
    text = typeof error === 'string' ? error : error?.message;
  } catch {
    return '';
  }
  if (typeof text !== 'string' || !text) return '';
  return `: ${(apiKey ? text.replaceAll(apiKey, '…') : text).slice(0, 200)}`;
}

/** `Retry-After` is seconds or an HTTP date. */
function retryAfterMs(header: string | null): number {
  if (!header) return 0;
  const ms = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms)) : 0;
}

function readAnswer(body: string, hasTools: boolean): Answer {
  let content: unknown;
  let calls: RawCall[] = [];
  try {
    const { message } = (JSON.parse(body) as { choices: { message: { content: unknown; tool_calls?: unknown } }[] }).choices[0]!;
    content = message.content;
    // A model that was given no tools has none to call.
    if (hasTools && Array.isArray(message.tool_calls)) calls = message.tool_calls.map(readCall);
  } catch {
    throw new RequestFailure('the user endpoint answered with something that is no chat completion', 'bad_response');
  }
  // Reasoning models think aloud before they speak.
  const text = typeof content === 'string' ? content.replace(/^\s*<think>.*?<\/think>/s, '').trim() : '';
  if (!text && !calls.length) throw new RequestFailure('the user endpoint gave an empty answer', 'bad_response');
  return { text, calls };
}

/** @throws when it is no call of a function */
function readCall(value: unknown, index: number): RawCall {
  const { id, function: called } = value as { id?: unknown; function: { name: unknown; arguments?: unknown } };
  if (typeof called.name !== 'string') throw new Error('a call without a name');
  // Some servers send arguments as an object, and no id.
  const args = typeof called.arguments === 'string' ? called.arguments : JSON.stringify(called.arguments ?? {});
  return { id: typeof id === 'string' && id ? id : `call_${index}`, type: 'function', function: { name: called.name, arguments: args } };
}

/** Runs the calls whose arguments can be read; the others get an error back, for the model to correct. */
async function callTools(tools: UserTools, calls: RawCall[]): Promise<{ text: string }[]> {
  const read = calls.map(({ function: { name, arguments: text } }): ToolCall | null => {
    try {
      const args: unknown = JSON.parse(text || '{}');
      return typeof args === 'object' && args !== null && !Array.isArray(args) ? { name, arguments: args as ToolCall['arguments'] } : null;
    } catch {
      return null;
    }
  });
  const made = read.filter((call) => call !== null);
  const results = made.length ? await tools.call(made) : [];
  return read.map((call) => (call ? results.shift()! : { text: 'Error: the arguments are no JSON object' }));
}

export interface EndpointReport {
  ok: boolean;
  kind: 'ok' | 'bad_config' | 'mixed_content' | 'cors' | 'unreachable' | 'timeout' | 'auth' | 'model_missing' | 'rate_limit' | 'server' | 'bad_answer';
  message: string;
}

/** Makes one small request and says in a sentence what is wrong, if anything is. Never throws. */
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
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (page?.protocol === 'https:' && url.protocol === 'http:' && !local) {
    return report('mixed_content', 'This page came over https: the browser lets it speak to http addresses on this machine only.');
  }
  try {
    const answer = await users.session({ persona: 'upfront', identity: {}, wishes: [], instruction: 'You want to know the opening hours.' }, 0).open();
    return report('ok', `The model answers: “${answer.slice(0, 80)}”`);
  } catch (error) {
    const { kind, message } = error as UserError;
    switch (kind) {
      case 'network':
        return (await answersWithoutCors(config.baseUrl, options))
          ? report('cors', 'A server answers there, but does not allow this page to read it (CORS). Allow its origin in the server’s settings.')
          : report('unreachable', 'Nothing answers there that this page may read: is the server running, and does it allow this page (CORS)?');
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

/** A request whose answer a page may not read succeeds where only CORS is in the way. Elsewhere there is no CORS. */
async function answersWithoutCors(baseUrl: string, { fetch: send = fetch }: EndpointOptions): Promise<boolean> {
  if (!('document' in globalThis || 'importScripts' in globalThis)) return false;
  try {
    await send(baseUrl, { mode: 'no-cors', signal: AbortSignal.timeout(5_000) });
    return true;
  } catch {
    return false;
  }
}
