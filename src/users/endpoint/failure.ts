/** @file The ways in which a request to an endpoint can fail. Each has a sentence that never contains the API key. */
import { UserError } from '../types.ts';
import { QUOTA } from './behaviours.ts';
import { type ServerError, statusOf } from './server-error.ts';
import { waitOf } from './wait.ts';

/** One failed request. */
export class RequestFailure extends UserError {
  /** The wait in milliseconds, before the next attempt, for which the server asks. */
  readonly retryAfterMs: number;
  /** Whether the same request would fail again. */
  readonly final: boolean;
  /** What the server says of a request that it refuses. */
  readonly refusal: ServerError | undefined;

  constructor(
    message: string,
    kind: UserError['kind'],
    { retryAfterMs = 0, final = false, refusal }: { retryAfterMs?: number; final?: boolean; refusal?: ServerError } = {},
  ) {
    super(message, kind);
    this.retryAfterMs = retryAfterMs;
    this.final = final;
    this.refusal = refusal;
  }
}

/** An incomplete answer: the model reached `max_tokens`, or its thoughts do not end. A larger limit can help. */
export class CutAnswer extends RequestFailure {
  constructor(message: string) {
    super(message, 'bad_response');
  }
}

/** Who asked, for the words of a failure. */
export interface Asked {
  model: string;
  hasKey: boolean;
}

/** The failure that an HTTP status means. */
export function httpFailure({ status, headers }: Response, error: ServerError, asked: Asked): RequestFailure {
  const again = headers.get('x-should-retry');
  return failure(status, `HTTP ${status}`, error, asked, { wait: waitOf(status, headers, error), again });
}

/** The failure that an error inside an answer with HTTP 200 means. */
export function answeredFailure(error: ServerError, asked: Asked): RequestFailure {
  const status = statusOf(error);
  const label = status === null ? 'HTTP 200 with an error' : `HTTP 200 with error ${status}`;
  return failure(status ?? 500, label, error, asked, { wait: waitOf(status ?? 500, new Headers(), error), again: null });
}

function failure(
  status: number,
  label: string,
  error: ServerError,
  { model, hasKey }: Asked,
  { wait, again }: { wait: number; again: string | null },
): RequestFailure {
  const words = error.words && `: ${error.words}`;
  const made = (message: string, kind: UserError['kind'], final: boolean) =>
    new RequestFailure(`${message} (${label})${words}`, kind, {
      retryAfterMs: wait,
      final: again === 'false' || (final && again !== 'true'),
      refusal: error,
    });
  if (status === 401 || status === 403)
    return made(hasKey ? 'the user endpoint refused the API key' : 'the user endpoint needs an API key', 'auth', true);
  if (status === 404) return made(`the user endpoint does not know the model "${model}", or the path is wrong`, 'bad_response', true);
  if (status === 429) {
    const isQuota = QUOTA.test(`${error.code} ${error.words}`);
    return made(`the user endpoint's ${isQuota ? 'quota' : 'rate limit'} is reached`, 'rate_limit', isQuota);
  }
  if (status === 501) return made('the user endpoint rejected the request', 'bad_response', true);
  if (status >= 500 || status === 408 || status === 409 || status === 425) return made('the user endpoint failed', 'server', false);
  return made('the user endpoint rejected the request', 'bad_response', true);
}

/** The error for a redirect. It names the target only in Node, because browsers do not show it. */
export function redirected({ headers }: Response): RequestFailure {
  const target = headers.get('location');
  const to = target && URL.canParse(target) ? ` to ${new URL(target).origin}` : '';
  const message = `the user endpoint sends requests on${to} (redirect): expected the address that answers`;
  return new RequestFailure(message, 'bad_response', { final: true });
}
