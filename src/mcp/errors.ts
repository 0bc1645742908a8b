/** @file Turns the errors of the SDK into `McpError`s, whose messages have no secrets and no control characters. */
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { withoutKey } from '../base/redact.ts';
import { asData, cutText } from './text.ts';
import { McpError } from './types.ts';

const LONGEST = 500;

/** A text of the server in one line, without the secrets, as a message may quote it. */
export function quoted(text: string, secrets: readonly string[], most = LONGEST): string {
  const safe = secrets.reduce((kept, secret) => withoutKey(kept, secret), text);
  return cutText(asData(safe).replace(/\s+/g, ' ').trim(), most).text.replace('\n', ' ');
}

export const withoutSecrets = (error: McpError, secrets: readonly string[]): McpError =>
  new McpError(quoted(error.message, secrets), error.kind);

const PROTOCOL_CODES: Partial<Record<string, McpError['kind']>> = {
  [SdkErrorCode.RequestTimeout]: 'timeout',
  [SdkErrorCode.ConnectionClosed]: 'closed',
  [SdkErrorCode.NotConnected]: 'closed',
  [SdkErrorCode.SendFailed]: 'closed',
};

/** @param what what was asked, such as `tools/list` @param more what else is known of the server, such as its last words */
export function toMcpError(error: unknown, what: string, more = ''): McpError {
  if (error instanceof McpError) return error;
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof McpError) return cause;
  const text = readable(error instanceof Error ? error.message : String(error));
  const tell = (kind: McpError['kind'], message: string) => new McpError(more ? `${message} (${more})` : message, kind);
  if (error instanceof SdkHttpError) return ofStatus(error.status, text, what, tell);
  if (error instanceof ProtocolError) return tell('protocol', `the server refuses ${what}: ${text} (${error.code})`);
  if (error instanceof RangeError) return tell('limit', `the answer to ${what} is nested too deeply, or too large`);
  if (error instanceof SdkError) {
    if (error.code === SdkErrorCode.EraNegotiationFailed && isNetwork(cause)) return unreachable(cause, tell);
    if (error.code === SdkErrorCode.UnsupportedResultType)
      return tell('protocol', `the server asks for an input of a person (input_required) in ${what}: such tools cannot be used here`);
    return tell(PROTOCOL_CODES[error.code] ?? 'protocol', `${what} failed: ${text}`);
  }
  if (isNetwork(error)) return unreachable(error, tell);
  return tell('protocol', `the answer to ${what} is not valid: ${text}`);
}

/** A fault of a value, as the SDK's library of schemas writes it. */
interface Issue {
  path: (string | number)[];
  message: string;
  values?: unknown[];
  errors?: Issue[][];
}

/** The message of the SDK. If it holds a list of faults as JSON, the first one in words. */
function readable(message: string): string {
  const start = message.search(/\[\s*\{/);
  if (start < 0) return message;
  try {
    const [first] = JSON.parse(message.slice(start)) as Issue[];
    return start === 0 ? 'expected a message of JSON-RPC 2.0 with a result or an error' : `${message.slice(0, start)}${faultOf(first!)}`;
  } catch {
    return message;
  }
}

/** `content[0].type: expected "text" or "image"`. Of several forms, the one that the value says it has. */
function faultOf({ path, message, errors = [] }: Issue, before: Issue['path'] = []): string {
  const whole = [...before, ...path];
  const own = errors.find((issues) => issues.length > 0 && !issues.some(({ values }) => values));
  if (own) return faultOf(own[0]!, whole);
  const kinds = errors.flatMap((issues) => issues.filter(({ values }) => values));
  const place = [...whole, ...(kinds[0]?.path ?? [])].map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  const choices = [...new Set(kinds.flatMap(({ values = [] }) => values.map((value) => JSON.stringify(value))))];
  const fault = choices.length > 0 ? `expected ${choices.join(' or ')}` : message.replace(/^Invalid input: /, '');
  return `${place.replace(/^\./, '') || 'the value'}: ${fault}`;
}

type Tell = (kind: McpError['kind'], message: string) => McpError;

/** `fetch` throws a TypeError for every failure of the network, and also if a page may not read the answer. */
const isNetwork = (error: unknown): error is Error => error instanceof TypeError;

export const inBrowser = (): boolean => 'window' in globalThis || 'WorkerGlobalScope' in globalThis;

function unreachable(error: Error, tell: Tell): McpError {
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  return tell(
    'unreachable',
    inBrowser()
      ? 'the server does not answer, or does not allow this page to read its answer'
      : `the server does not answer: ${code ?? message}`,
  );
}

function ofStatus(status: number, text: string, what: string, tell: Tell): McpError {
  if (status === 401 || status === 403)
    return tell(
      'auth',
      `the server refuses access (HTTP ${status}): expected a header with a valid key, such as Authorization: Bearer KEY. ${text}`,
    );
  if (status === 0 || (status >= 300 && status < 400))
    return tell('blocked', `the server redirects elsewhere (HTTP ${status}), which is not followed: expected its final address. ${text}`);
  if (status === 413) return tell('limit', `the server refuses ${what}, because the request is too large (HTTP 413)`);
  const session = status === 400 || status === 404;
  const hint =
    what === 'the connection'
      ? status === 404 || status === 405
        ? ': expected the address of Streamable HTTP, which often ends with /mcp. HTTP+SSE of version 2024-11-05 is not supported'
        : ''
      : session
        ? ': perhaps its session has ended, so connect again'
        : '';
  const exposed =
    session && inBrowser()
      ? '. If it has sessions, it must also send Access-Control-Expose-Headers: Mcp-Session-Id, so that pages can read them'
      : '';
  return tell(
    status === 404 && what !== 'the connection' ? 'closed' : 'protocol',
    `the server answers HTTP ${status} to ${what}${hint}${exposed}. ${text}`,
  );
}
