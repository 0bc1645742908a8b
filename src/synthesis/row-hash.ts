/** @file Tells conversations apart by what is said in them. */
import { canonicalJson } from '../base/json.ts';
import { sha256 } from '../base/sha256.ts';
import type { Conversation } from '../records/conversation.ts';

/** SHA-256 of what was said and called, in hexadecimal digits. */
export const rowSha256 = ({ messages }: Pick<Conversation, 'messages'>): string =>
  sha256(canonicalJson(messages.map(({ role, content, tool_calls: calls = [] }) => [role, content, calls.map(({ function: call }) => [call.name, call.arguments])]))); // prettier-ignore
