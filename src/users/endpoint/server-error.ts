/** @file Reads the errors of servers: of OpenAI, vLLM, FastAPI, Mistral, Gemini, OpenRouter and others, and plain text. */
import { isObject } from '../../base/json.ts';
import { ERROR_TYPES } from './behaviours.ts';

/** An error in the server's words. */
export interface ServerError {
  /** One line without the API key. '' if the server says nothing. */
  words: string;
  /** The server's types and codes of the error, separated by spaces. */
  code: string;
  /** The fields of the request that the error names outside of its words. */
  fields: string[];
  /** The parsed body; null if it is not JSON. */
  body: unknown;
}

/** The number of characters of the server's words that are shown. */
const MOST = 300;
const DEEPEST = 6;
/** Where servers put their words. The first that has words counts. */
const WORDS = [
  'error',
  'errors',
  'detail',
  'message',
  'Message',
  'msg',
  'error_message',
  'errorMessage',
  'error_description',
  'description',
  'status_msg',
  'base_resp',
  'reason',
  'title',
];

/** The error in the body of a failed request. */
export function readError(text: string): ServerError {
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    return { words: line(plainText(text)), code: '', fields: [], body };
  }
  return errorOf(body);
}

function errorOf(body: unknown): ServerError {
  const found: Pick<ServerError, 'fields'> & { codes: string[] } = { fields: [], codes: [] };
  const words = wordsOf(body, 0, found);
  return { words: line(words), code: found.codes.join(' '), fields: found.fields, body };
}

/**
 * The error inside an answer that came with HTTP 200, in the whole answer or in its choice. Null if there is none, also for an
 * answer that cannot be read.
 */
export function errorInAnswer(parsed: unknown): ServerError | null {
  const root: unknown = Array.isArray(parsed) && isObject(parsed[0]) && parsed[0].error ? parsed[0] : parsed;
  if (!isObject(root)) return null;
  const choice: unknown = Array.isArray(root.choices) ? root.choices[0] : undefined;
  for (const { error } of [root, isObject(choice) ? choice : {}])
    if (typeof error === 'string' ? error : isObject(error) || Array.isArray(error) ? Object.keys(error).length : error === true)
      return errorOf(error === root.error ? root : error);
  if (choice !== undefined || Array.isArray(root.data) || Array.isArray(root.models)) return null;
  const says = root.object === 'error' || ['detail', 'errors', 'message', 'msg', 'error_message', 'base_resp'].some((name) => root[name]);
  return says ? errorOf(root) : null;
}

/** The HTTP status that an error inside an answer means. Null if it does not say. */
export function statusOf({ code }: ServerError): number | null {
  const number = code.split(' ').find((part) => /^[45]\d\d$/.test(part));
  return number ? Number(number) : (ERROR_TYPES.find(([pattern]) => pattern.test(code))?.[1] ?? null);
}

function wordsOf(value: unknown, depth: number, found: { fields: string[]; codes: string[] }): string {
  if (depth > DEEPEST) return '';
  if (typeof value === 'string') return inJson(value, depth, found) ?? value;
  if (Array.isArray(value))
    return value
      .slice(0, 3)
      .map((item) => wordsOf(item, depth + 1, found))
      .filter(Boolean)
      .join('; ');
  if (!isObject(value)) return '';
  for (const name of ['code', 'type', 'status', 'status_code', 'statusCode', 'error_type'])
    if (typeof value[name] === 'string' || typeof value[name] === 'number') found.codes.push(String(value[name]));
  if (typeof value.param === 'string') found.fields.push(value.param);
  // FastAPI and Mistral: the place of the value in the request
  const place = Array.isArray(value.loc) ? value.loc.filter((part) => typeof part === 'string' || typeof part === 'number') : [];
  found.fields.push(...place.map(String));
  for (const name of WORDS) {
    const words = wordsOf(value[name], depth + 1, found);
    if (!words) continue;
    // OpenRouter: the words of the server behind it
    const { raw } = isObject(value.metadata) ? value.metadata : {};
    const behind = raw === undefined ? '' : wordsOf(raw, depth + 1, found);
    return `${place.length ? `${place.join('.')}: ` : ''}${words}${behind && behind !== words ? `: ${behind}` : ''}`;
  }
  return '';
}

/** The words of an error that is JSON inside of a text. */
function inJson(text: string, depth: number, found: { fields: string[]; codes: string[] }): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return wordsOf(JSON.parse(text), depth + 1, found) || null;
  } catch {
    return null;
  }
}

/** The words of a body that is not JSON. Of a page of HTML, its title. */
function plainText(text: string): string {
  if (!/^\s*</.test(text)) return text;
  const [, title = ''] = /<title[^>]{0,200}>([^<]{0,1000})<\/title>/i.exec(text.slice(0, 65_536)) ?? [];
  return title;
}

const line = (text: string): string =>
  text
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, MOST);
