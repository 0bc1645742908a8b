/** @file How a write is named in a domain that has no words of its own: by the tool's name and every text argument. */
import type { ToolCall } from '../records/task.ts';
import type { Detail, WriteWords } from './audit-rules.ts';

export const spelledOut = ({ name, arguments: args }: ToolCall): WriteWords => ({
  about: (text) => text,
  act: says(
    name.split(/[_\W]+/).filter((word) => word.length > 3),
    `the act (${name})`,
  ),
  details: Object.entries(args).flatMap(([argument, value]) => (typeof value === 'string' && value !== '' ? says([value], argument) : [])),
});

/** A detail that a text names with one of these words. */
const says = (words: readonly string[], name: string): Detail => ({
  name,
  heard: (text) => (words.some((word) => text.toLowerCase().includes(word.toLowerCase())) ? 'named' : 'absent'),
});
