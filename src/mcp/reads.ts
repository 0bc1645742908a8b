/** @file What a server says of its tools: which of them only read. */
import { isObject } from '../base/json.ts';
import type { McpTool } from './types.ts';

/**
 * Whether the server says that the tool only reads. The server may lie. `destructiveHint` says nothing of such a tool: some libraries set
 * it to true for each tool.
 */
export const isRead = ({ annotations }: McpTool): boolean => annotations?.readOnlyHint === true;

/** Whether the server says that the tool only reads, and the tool needs no arguments. */
export const isFreeRead = (tool: McpTool): boolean =>
  isRead(tool) && !(isObject(tool.inputSchema) && Array.isArray(tool.inputSchema.required) && tool.inputSchema.required.length > 0);
