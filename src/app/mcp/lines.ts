/** @file Compares texts line by line, to show what a call or a server changed. */
import { structuredPatch } from 'diff';
import type { Answer } from '../../mcp/desk.ts';
import type { McpResult, McpTool } from '../../mcp/types.ts';
import { sentence } from './words.ts';

export interface Line {
  kind: 'same' | 'added' | 'removed' | 'gap';
  text: string;
}

const CONTEXT = 2;
/** Larger differences are not searched, because this takes too long. */
const MOST_EDITS = 2000;
const MOST_MS = 1000;
const KINDS: Record<string, Line['kind']> = { ' ': 'same', '+': 'added', '-': 'removed' };

/**
 * The lines that differ, with some equal lines around them. Empty: the texts are equal. Null: they differ in too many lines.
 * @param timeout the most milliseconds of the search
 */
export function changedLines(before: string, after: string, timeout = MOST_MS): Line[] | null {
  const patch = structuredPatch('', '', before, after, undefined, undefined, { context: CONTEXT, maxEditLength: MOST_EDITS, timeout });
  if (!patch) return null;
  return patch.hunks.flatMap(({ lines }, i) => [
    ...(i > 0 ? [{ kind: 'gap' as const, text: '…' }] : []),
    // The other first character, a backslash, tells that the last line has no end.
    ...lines.flatMap((line) => (KINDS[line[0]!] ? [{ kind: KINDS[line[0]!]!, text: line.slice(1) }] : [])),
  ]);
}

/** A result as lines: JSON has a line for each value. */
export function resultText({ text, structured }: Pick<McpResult, 'text' | 'structured'>): string {
  if (structured !== undefined) return JSON.stringify(structured, null, 2);
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** What a read shows before and after a call. */
export type Change = { kind: 'same' | 'failed' | 'large'; says: string } | { kind: 'differs'; says: string; lines: Line[] };

export function changeOf(before: Answer<McpResult>, after: Answer<McpResult> | undefined): Change {
  if (!after) return { kind: 'failed', says: 'It was not read after the call, because you stopped.' };
  for (const [when, answer] of [
    ['before', before],
    ['after', after],
  ] as const)
    if ('failure' in answer) return { kind: 'failed', says: `It could not be read ${when} the call: ${sentence(answer.failure)}` };
  const [old, now] = [before, after].map((answer) => (answer as { value: McpResult }).value) as [McpResult, McpResult];
  const cut = old.cut || now.cut ? ' The answers were cut, so a change may be missing here.' : '';
  const failed = old.error || now.error ? ' The tool says that it failed.' : '';
  const lines = changedLines(resultText(old), resultText(now));
  if (!lines) return { kind: 'large', says: `It shows something else, in too many lines to compare.${cut}` };
  if (lines.length === 0) return { kind: 'same', says: `It shows the same as before.${cut}${failed}` };
  return { kind: 'differs', says: `It shows a difference.${cut}${failed}`, lines };
}

export interface ToolChange {
  name: string;
  says: 'is new' | 'is gone' | 'has changed';
  lines: Line[] | null;
}

/** How a list of tools differs from an earlier one. A server may change hundreds of tools, so all of them share the time of one search. */
export function toolChanges(before: readonly McpTool[], after: readonly McpTool[]): ToolChange[] {
  const text = (tools: readonly McpTool[], name: string) =>
    tools
      .filter((tool) => tool.name === name)
      .map(({ description, inputSchema, outputSchema, annotations }) =>
        [
          description,
          ...Object.entries({ inputSchema, outputSchema, annotations }).map(
            ([field, value]) => `${field}: ${JSON.stringify(value, null, 2)}`,
          ),
        ].join('\n'),
      )
      .join('\n');
  const end = performance.now() + MOST_MS;
  const names = [...new Set([...before, ...after].map(({ name }) => name))];
  return names.flatMap((name): ToolChange[] => {
    const [old, now] = [text(before, name), text(after, name)];
    if (old === now) return [];
    return [
      {
        name,
        says: old === '' ? 'is new' : now === '' ? 'is gone' : 'has changed',
        lines: changedLines(old, now, end - performance.now()),
      },
    ];
  });
}
