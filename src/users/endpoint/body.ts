/** @file Reads the body of a response: as JSON, or as server-sent events, which some servers send although nobody asks for them. */
import { RequestFailure } from './failure.ts';

/** The largest size of a response in bytes. A chat completion usually has some thousands. */
const LONGEST_BODY = 4 * 2 ** 20;
const DONE = '[DONE]';

/** The text of a response. The rest after the last event of a stream is not read. @throws RequestFailure above 4 MiB */
export async function readBody({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = body?.getReader();
  const stop = () => void reader!.cancel().catch(() => {});
  for (let part = await reader?.read(); part?.value; part = await reader!.read()) {
    bytes += part.value.length;
    if (bytes > LONGEST_BODY) {
      stop();
      const message = `the user endpoint sent more than ${LONGEST_BODY} bytes: expected a chat completion`;
      throw new RequestFailure(message, 'bad_response', { final: true });
    }
    text += decoder.decode(part.value, { stream: true });
    // A server may keep the connection open after the last event.
    if (/(?:^|\n)data: ?\[DONE\]\s*$/.test(text.slice(-32))) {
      stop();
      break;
    }
  }
  return text + decoder.decode();
}

/** The JSON value of a body. Server-sent events are joined to one chat completion. @throws if the body is neither */
export function parseBody(text: string): unknown {
  return /^\s*(?:data|event|id|retry|)\s*:/.test(text) ? joined(text) : JSON.parse(text);
}

type Fields = Record<string, unknown>;
interface Chunk {
  error?: unknown;
  usage?: unknown;
  choices?: { index?: number; delta?: Fields; message?: Fields; finish_reason?: unknown; error?: unknown }[];
}

function joined(text: string): unknown {
  const message: Fields = {};
  const calls: Fields[] = [];
  let finish: unknown = null;
  let usage: unknown;
  let isDone = false;
  for (const data of eventsIn(text)) {
    if (data === DONE) {
      isDone = true;
      break;
    }
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error) return chunk;
    usage = chunk.usage ?? usage;
    const choice = chunk.choices?.find(({ index = 0 }) => index === 0);
    if (choice?.error) return chunk;
    finish = choice?.finish_reason ?? finish;
    const { tool_calls: parts, ...delta } = choice?.delta ?? choice?.message ?? {};
    if (choice?.message) Object.assign(message, delta);
    else append(message, delta);
    for (const part of (parts ?? []) as Fields[]) {
      const at =
        typeof part.index === 'number'
          ? part.index
          : choice?.message
            ? calls.length
            : startsCall(part, calls)
              ? calls.length
              : calls.length - 1;
      append((calls[at] ??= {}), part);
    }
  }
  if (!isDone && finish === null) throw new Error('the stream has no end');
  return {
    choices: [{ message: { ...message, ...(calls.length > 0 && { tool_calls: Object.values(calls) }) }, finish_reason: finish }],
    usage,
  };
}

/** Whether a part of a call without an index begins another call. */
const startsCall = (part: Fields, calls: readonly Fields[]) =>
  calls.length === 0 || (part.id !== undefined && part.id !== calls.at(-1)!.id);

/** The fields that name something. A stream may repeat them, and they never grow. */
const NAMES = new Set(['id', 'type', 'name', 'role', 'index']);

/** Adds the part of a message to the message: texts and lists grow, and objects are merged. */
function append(to: Fields, part: Fields): void {
  for (const [name, value] of Object.entries(part)) {
    const own = to[name];
    if (value === null || value === undefined) continue;
    if (typeof own === 'string' && typeof value === 'string') to[name] = NAMES.has(name) ? own || value : own + value;
    else if (Array.isArray(own) && Array.isArray(value)) to[name] = [...(own as unknown[]), ...(value as unknown[])];
    else if (isFields(own) && isFields(value)) append(own, value);
    else to[name] = isFields(value) ? { ...value } : value;
  }
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The data of each event. Comments and other fields are skipped. */
function eventsIn(text: string): string[] {
  return text
    .split(/(?:\r\n|\r|\n){2,}/)
    .map((event) =>
      event
        .split(/\r\n|\r|\n/)
        .flatMap((row) => /^\s*data: ?(.*)$/.exec(row)?.[1] ?? [])
        .join('\n'),
    )
    .filter((data) => data.trim() !== '')
    .flatMap(oneByOne);
}

/** Some servers separate events by one line break only. */
function oneByOne(data: string): string[] {
  const rows = data.split('\n').map((row) => row.trim());
  return rows.length > 1 && rows.every((row) => row === DONE || /^\{.*\}$/.test(row)) ? rows : [data.trim()];
}
