/** @file How long a server asks to wait before the next request. */
import type { ServerError } from './server-error.ts';

const LONGEST_MS = 60_000;
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The wait in milliseconds, at most a minute; 0 if the server does not say. The headers of rate limits count only with HTTP 429,
 * because servers send them with every answer.
 */
export function waitOf(status: number, headers: Headers, error: ServerError): number {
  const ms = Number(headers.get('retry-after-ms') ?? NaN);
  if (Number.isFinite(ms)) return clamped(ms);
  const after = headers.get('retry-after');
  if (after) return clamped(timeUntil(after));
  if (status === 503) return clamped(inBody(error));
  return status === 429 ? clamped(Math.max(reset(headers), inBody(error))) : 0;
}

const clamped = (ms: number) => (Number.isFinite(ms) ? Math.min(LONGEST_MS, Math.max(0, ms)) : 0);

/** The milliseconds until a limit is free again: the longest wait of the limits that are used up, or of all if none says so. */
function reset(headers: Headers): number {
  const limits = [...headers].flatMap(([name, value]) => {
    const [, prefix, suffix] = /^((?:x-|anthropic-)?ratelimit.*)-?reset(?:-after)?(-.*)?$/.exec(name) ?? [];
    if (prefix === undefined) return [];
    const remaining = headers.get(`${prefix}remaining${suffix ?? ''}`);
    return [{ ms: timeUntil(value), isUsed: remaining !== null && Number(remaining) <= 0 }];
  });
  const [, seconds] = /(?:^|[;,\s])(?:t|reset)=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  if (seconds) limits.push({ ms: Number(seconds) * 1000, isUsed: true });
  const used = limits.filter(({ isUsed }) => isUsed);
  return Math.max(0, ...(used.length > 0 ? used : limits).map(({ ms }) => ms).filter(Number.isFinite));
}

/** The wait in the body: the headers that OpenRouter repeats there, and Gemini's `retryDelay`. */
function inBody({ body }: ServerError): number {
  const { error } = ((Array.isArray(body) ? body[0] : body) ?? {}) as { error?: { metadata?: unknown; details?: unknown } };
  const { headers } = (error?.metadata ?? {}) as { headers?: unknown };
  const repeated = new Headers();
  for (const [name, value] of Object.entries(headers ?? {}))
    if (/^[\w-]+$/.test(name) && typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)) repeated.set(name, value);
  const details = Array.isArray(error?.details) ? (error.details as { retryDelay?: unknown }[]) : [];
  const delays = details.map((detail) => detail?.retryDelay).filter((delay) => typeof delay === 'string');
  const after = repeated.get('retry-after');
  return Math.max(reset(repeated), after ? timeUntil(after) : 0, ...delays.map(timeUntil));
}

/** Milliseconds until a time: a number of seconds, a duration such as `6m0s`, a date, or seconds or milliseconds since 1970. */
function timeUntil(text: string): number {
  const trimmed = text.trim();
  if (/^\d+(\.\d+)?$/.test(trimmed)) {
    const number = Number(trimmed);
    if (number > 1e11) return number - Date.now();
    return number > 1e9 ? number * 1000 - Date.now() : number * 1000;
  }
  const parts = [...trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (parts.length > 0 && parts.map(([part]) => part).join('') === trimmed)
    return parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit!]!, 0);
  return Date.parse(trimmed) - Date.now();
}
