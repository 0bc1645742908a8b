/** @file The ways in which a request to an endpoint can fail. Each has a sentence that never contains the API key. */
import { UserError } from './types.ts';

const MAX_RETRY_AFTER_MS = 60_000;

/** One failed request. */
export class RequestFailure extends UserError {
  constructor(
    message: string,
    kind: UserError['kind'],
    /** The wait, before the next attempt, for which the server asks. */
    readonly retryAfterMs = 0,
    /** Whether the same request would fail again. */
    readonly final = false,
  ) {
    super(message, kind);
  }
}

/** An incomplete answer: the model reached `max_tokens`, or its thoughts do not end. A larger limit can help. */
export class CutAnswer extends RequestFailure {
  constructor(message: string) {
    super(message, 'bad_response');
  }
}

export function httpFailure({ status, headers }: Response, body: string, apiKey: string | undefined, model: string): RequestFailure {
  const detail = errorText(body, apiKey);
  const wait = retryAfterMs(headers.get('retry-after'));
  if (status === 401 || status === 403)
    return new RequestFailure(
      apiKey ? `the user endpoint refused the API key (HTTP ${status})` : `the user endpoint needs an API key (HTTP ${status})`,
      'auth',
      0,
      true,
    );
  if (status === 404) {
    const message = `the user endpoint does not know the model "${model}", or the path is wrong (HTTP 404)${detail}`;
    return new RequestFailure(message, 'bad_response', 0, true);
  }
  if (status === 429) return new RequestFailure(`the user endpoint's rate limit is reached (HTTP 429)${detail}`, 'rate_limit', wait);
  if (status >= 500 || status === 408) return new RequestFailure(`the user endpoint failed (HTTP ${status})${detail}`, 'server', wait);
  return new RequestFailure(`the user endpoint rejected the request (HTTP ${status})${detail}`, 'bad_response', 0, true);
}

/** The error for a redirect. It names the target only in Node, because browsers do not show it. */
export function redirected({ headers }: Response): RequestFailure {
  const target = headers.get('location');
  const to = target && URL.canParse(target) ? ` to ${new URL(target).origin}` : '';
  const message = `the user endpoint sends requests on${to} (redirect): expected the address that answers`;
  return new RequestFailure(message, 'bad_response', 0, true);
}

/** The server's error message, shortened. The key is removed, because some servers repeat it. */
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

/** Reads the header `Retry-After`, which is a number of seconds or an HTTP date. */
function retryAfterMs(header: string | null): number {
  if (!header) return 0;
  const ms = /^\d+(\.\d+)?$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms)) : 0;
}
