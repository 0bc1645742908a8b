/** @file Reads the list of a server's tools, and pins it. */
import type { Tool } from '@modelcontextprotocol/client';
import { shown } from '../base/input-error.ts';
import { canonicalJson } from '../base/json.ts';
import { sha256 } from '../base/sha256.ts';
import type { Json } from '../records/json.ts';
import { checkDepth, MOST_PAGES, tooManyBytes } from './limits.ts';
import type { Link } from './link.ts';
import { cutText } from './text.ts';
import { McpError, type McpLimits, type McpTool } from './types.ts';
import { duplicateNames, warningsOf } from './warnings.ts';

/** What a pin is made of: everything of a tool that a model or a person reads. */
const PINNED = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;
type Pinned = Pick<Tool, (typeof PINNED)[number]>;

/** All tools of the server. @throws McpError */
export async function listTools(link: Link, { tools: most, depth, bytes }: McpLimits, signal?: AbortSignal): Promise<Pinned[]> {
  const capabilities = link.client.getServerCapabilities();
  if (!capabilities?.tools) return [];
  return link.request('tools/list', signal, async (client, options) => {
    const tools: Pinned[] = [];
    const seen = new Set<string>();
    let size = 0;
    for (let cursor: string | undefined, page = 1; ; page++) {
      const before = tools.length;
      const result = await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, options);
      checkDepth('the list of tools', result.tools, depth + 3);
      for (const tool of result.tools)
        tools.push(Object.fromEntries(PINNED.flatMap((field) => (tool[field] === undefined ? [] : [[field, tool[field]]]))) as Pinned);
      size += JSON.stringify(result.tools).length;
      if (size > bytes) throw tooManyBytes(bytes);
      if (tools.length > most) throw new McpError(`the server lists more than ${most} tools`, 'limit');
      cursor = result.nextCursor;
      if (cursor === undefined) return tools;
      if (page === MOST_PAGES) throw new McpError(`the list of tools has more than ${MOST_PAGES} pages`, 'limit');
      if (seen.has(cursor)) {
        // Some servers of the older protocol mark the end so. They ignore the cursor, so that the page is the one before again.
        if (cursor === '' && canonicalJson(tools.slice(0, before)) === canonicalJson(tools.slice(before))) return tools.slice(0, before);
        throw new McpError(`the list of tools has no end: the page after ${shown(cursor)} is that page again`, 'protocol');
      }
      seen.add(cursor);
    }
  });
}

/** SHA-256 of the canonical list: the tools in the order of their names, so that the server may list them in any order. */
export const pinOf = (tools: readonly Pinned[]): string => sha256(`[${tools.map(canonicalJson).sort().join(',')}]`);

/** The tools with what a person should know of each. */
export function withWarnings(tools: readonly Pinned[], { characters }: McpLimits): McpTool[] {
  const duplicates = duplicateNames(tools.map(({ name }) => name));
  return tools.map(({ name, title, description: given = '', inputSchema, outputSchema, annotations }) => {
    const description = cutText(given, characters);
    return {
      name,
      description: description.text,
      inputSchema: inputSchema as Json,
      ...(outputSchema !== undefined && { outputSchema: outputSchema as Json }),
      ...(annotations !== undefined && { annotations: annotations as Record<string, Json> }),
      warnings: warningsOf({
        name,
        title,
        description: given,
        inputSchema: inputSchema as Json,
        duplicate: duplicates.has(name),
        cut: description.cut,
      }),
    };
  });
}

/** What differs between two lists, for a message. */
export function changeOf(before: readonly Pinned[], after: readonly Pinned[]): string {
  const names = [...new Set([...before, ...after].map(({ name }) => name))].sort();
  const changes = names.flatMap((name) => {
    const [old, now] = [before, after].map((list) => list.filter((tool) => tool.name === name));
    if (now!.length === 0) return [`${shown(name)} is gone`];
    if (old!.length === 0) return [`${shown(name)} is new`];
    const fields = PINNED.filter(
      (field) => canonicalJson(old!.map((tool) => tool[field] ?? null)) !== canonicalJson(now!.map((tool) => tool[field] ?? null)),
    );
    return fields.length > 0 ? [`${shown(name)} has another ${fields.join(', ')}`] : [];
  });
  return changes.length > 5 ? `${changes.slice(0, 5).join('; ')}; and ${changes.length - 5} more changes` : changes.join('; ');
}
