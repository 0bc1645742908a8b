/** @file Finds out how well a server suits training: does it answer the same calls in the same way, and does a new session start anew? */
import { canonicalJson } from '../base/json.ts';
import type { Json } from '../records/json.ts';
import { sameResult } from './connection.ts';
import { isFreeRead, isRead } from './reads.ts';
import { type McpConnection, McpError, type McpResult, type McpServer, type McpTool } from './types.ts';

export interface McpCall {
  name: string;
  arguments: Record<string, Json>;
}

/** A call with its answer. A call that the server did not answer has the kind of the failure. */
export interface CheckedCall extends McpCall {
  text: string;
  failed: boolean;
  cut?: number;
  failure?: McpError['kind'];
  seconds: number;
}

export interface McpCheck {
  server: { name: string; version: string };
  protocol: string;
  era: McpServer['era'];
  tools: number;
  tools_sha256: string;
  warnings: { tool: string; warnings: readonly string[] }[];
  /** Whether a second session lists the same tools. */
  same_tools: boolean;
  calls: CheckedCall[];
  /** `equal`: null if there was no call to compare. `first` and `second`: both answers, without a long beginning that they share. */
  determinism: { equal: boolean | null; differs?: { call: number; name: string; first: string; second: string } };
  /** Whether a new session begins with the state of the first. `unknown` if the calls changed nothing that the reads show. */
  reset: { state: 'back' | 'kept' | 'unknown'; why: string };
  /** The limits that answers met. */
  limits: string[];
  not_tried: { tool: string; why: string }[];
  seconds: number;
}

const SHOWN = 300;

/**
 * Plays the calls in two sessions, and reads what can be read before and after them.
 * @param open opens a new session, which is a new process if the server is a command
 * @param calls without them, only tools are called that the server says are reads, and that need no arguments
 * @throws McpError if the server does not even list its tools
 */
export async function checkServer(
  open: () => Promise<McpConnection>,
  calls: readonly McpCall[] | null,
  tell: (phase: string) => void = () => {},
): Promise<McpCheck> {
  const start = performance.now();
  tell('connecting');
  const first = await open();
  try {
    const { name, version, protocol, era, tools, tools_sha256 } = first.server;
    const reads = readsOf(tools, calls ?? []);
    const played = calls ?? reads;
    const before = calls ? await play(first, reads, 'reading the state before the calls', tell) : [];
    const ours = await play(first, played, 'playing the calls', tell);
    const after = calls ? await play(first, reads, 'reading the state after the calls', tell) : [];
    tell('connecting again');
    const second = await open();
    try {
      const fresh = calls ? await play(second, reads, 'reading the state of the new session', tell) : [];
      const theirs = await play(second, played, 'playing the calls again', tell);
      const differs = played.findIndex((_, i) => !same(ours[i]!, theirs[i]!));
      return {
        server: { name, version },
        protocol,
        era,
        tools: tools.length,
        tools_sha256,
        warnings: tools.filter(({ warnings }) => warnings.length > 0).map((tool) => ({ tool: tool.name, warnings: tool.warnings })),
        same_tools: second.server.tools_sha256 === tools_sha256,
        calls: played.map((call, i) => ({ ...call, ...summary(ours[i]!) })),
        determinism: {
          equal: played.length === 0 ? null : differs < 0,
          ...(differs >= 0 && {
            differs: { call: differs + 1, name: played[differs]!.name, ...apart(ours[differs]!, theirs[differs]!) },
          }),
        },
        reset: resetOf({ given: calls !== null, reads, before, after, fresh }),
        limits: limitsOf(played, ours),
        not_tried: tools
          .filter((tool) => !played.some((call) => call.name === tool.name))
          .map((tool) => ({ tool: tool.name, why: whyNot(tool, calls !== null) })),
        seconds: (performance.now() - start) / 1000,
      };
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

type Played = McpResult | McpError;

async function play(connection: McpConnection, calls: readonly McpCall[], phase: string, tell: (phase: string) => void): Promise<Played[]> {
  const results: Played[] = [];
  for (const [i, { name, arguments: args }] of calls.entries()) {
    tell(`${phase}: ${i + 1} of ${calls.length}, ${name}`);
    results.push(
      await connection.call(name, args).catch((error: unknown) => {
        if (error instanceof McpError) return error;
        throw error;
      }),
    );
  }
  return results;
}

const same = (a: Played, b: Played): boolean =>
  a instanceof McpError || b instanceof McpError ? a instanceof McpError && b instanceof McpError && a.kind === b.kind : sameResult(a, b);

function summary(played: Played): Omit<CheckedCall, keyof McpCall> {
  if (played instanceof McpError) return { text: played.message, failed: true, failure: played.kind, seconds: 0 };
  const { text, error, cut, seconds } = played;
  return { text: short(text), failed: error, ...(cut !== undefined && { cut }), seconds };
}

const short = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

/** Two answers that differ. If their texts are equal, the rest of the results is compared. */
function apart(a: Played, b: Played): { first: string; second: string } {
  const textOf = (played: Played) => (played instanceof McpError ? played.message : played.text);
  const restOf = (played: Played) =>
    JSON.stringify(
      played instanceof McpError ? { failure: played.kind } : { error: played.error, cut: played.cut ?? 0, structured: played.structured },
    );
  const of = textOf(a) === textOf(b) ? restOf : textOf;
  const [first, second] = [of(a), of(b)];
  let at = 0;
  while (at < first.length && first[at] === second[at]) at++;
  const from = (text: string) => short(at < 60 ? text : `…${text.slice(at - 20)}`);
  return { first: from(first), second: from(second) };
}

interface Seen {
  given: boolean;
  reads: readonly McpCall[];
  before: readonly Played[];
  after: readonly Played[];
  fresh: readonly Played[];
}

function resetOf({ given, reads, before, after, fresh }: Seen): McpCheck['reset'] {
  if (!given) return { state: 'unknown', why: 'no calls were given, so nothing was changed' };
  if (reads.length === 0) return { state: 'unknown', why: 'no call shows the state: give calls of tools that the server says to be reads' };
  const find = (wanted: (i: number) => boolean): string | undefined => reads[reads.findIndex((_, i) => wanted(i))]?.name;
  const asBefore = (i: number) => same(before[i]!, fresh[i]!);
  const kept = find((i) => !asBefore(i) && same(after[i]!, fresh[i]!));
  if (kept) return { state: 'kept', why: `in a new session, ${kept} shows what the calls of the first one changed` };
  const back = find((i) => asBefore(i) && !same(before[i]!, after[i]!));
  if (back) return { state: 'back', why: `the calls changed what ${back} shows, and in a new session it shows the same as before them` };
  const volatile = find((i) => !asBefore(i));
  return {
    state: 'unknown',
    why: volatile ? `${volatile} shows something else each time` : 'the calls changed nothing that the read tools show',
  };
}

const limitsOf = (calls: readonly McpCall[], results: readonly Played[]): string[] =>
  results.flatMap((result, i) => {
    const place = `call ${i + 1}, ${calls[i]!.name}`;
    if (result instanceof McpError) return [`${place}: ${result.message} (${result.kind})`];
    return result.cut === undefined ? [] : [`${place}: the text was cut by ${result.cut.toLocaleString('en')} characters`];
  });

/** The calls that show the state: reads without arguments, and the reads among the given calls. */
function readsOf(tools: readonly McpTool[], calls: readonly McpCall[]): McpCall[] {
  const names = new Set(tools.filter(isRead).map(({ name }) => name));
  const reads = [...tools.filter(isFreeRead).map(({ name }) => ({ name, arguments: {} })), ...calls.filter(({ name }) => names.has(name))];
  return [...new Map(reads.map((read) => [canonicalJson(read), read])).values()];
}

function whyNot(tool: McpTool, given: boolean): string {
  if (given) return 'no call of the file calls it';
  return isRead(tool) ? 'it needs arguments' : 'the server does not say that it only reads';
}
