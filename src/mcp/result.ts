/** @file Turns the answer of a tool into text for a model. */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import { mapJson } from '../base/json.ts';
import { withoutKey } from '../base/redact.ts';
import type { Json } from '../records/json.ts';
import { checkDepth } from './limits.ts';
import { asData, cutText, jsonAsData } from './text.ts';
import type { McpLimits, McpResult } from './types.ts';

/** @param secrets texts that the server may repeat, and that are removed @throws McpError `limit` for a value that is nested too deeply */
export function readResult(
  { content = [], structuredContent: given, isError = false, toolResult }: Partial<CallToolResult>,
  { limits, secrets, seconds }: { limits: McpLimits; secrets: readonly string[]; seconds: number },
): McpResult {
  // Version 2024-10-07 calls it so.
  const structuredContent = given ?? toolResult;
  checkDepth('the result', structuredContent, limits.depth);
  const safe = (text: string) => secrets.reduce((kept, secret) => withoutKey(kept, secret), text);
  const structured =
    structuredContent === undefined
      ? undefined
      : jsonAsData(mapJson(structuredContent, (value) => (typeof value === 'string' ? safe(value) : value)) as Json);
  const parts = content.length > 0 || structured === undefined ? content.map(partText) : [JSON.stringify(structured)];
  const { text, cut } = cutText(asData(safe(parts.join('\n'))), limits.characters);
  return { text, ...(structured !== undefined && { structured }), error: isError, ...(cut > 0 && { cut }), seconds };
}

function partText(part: ContentBlock): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
    case 'audio':
      return `[${part.mimeType}, ${sizeOf(part.data)}]`;
    case 'resource_link':
      return `[link to ${part.uri}${part.mimeType ? `, ${part.mimeType}` : ''}]`;
    case 'resource': {
      const { uri, mimeType = 'no type', ...held } = part.resource;
      return 'text' in held ? `[resource ${uri}, ${mimeType}]\n${held.text}` : `[resource ${uri}, ${mimeType}, ${sizeOf(held.blob)}]`;
    }
    default:
      return `[${(part as { type: string }).type}]`;
  }
}

/** The size of base64 data in words. */
const sizeOf = (base64: string): string => `${Math.floor((base64.replace(/=+$/, '').length * 3) / 4).toLocaleString('en')} bytes`;
