/** @file A conversation as short lines, to compare it with what a file says. */
import { callsOf } from '../../src/base/message-path.ts';
import type { Trajectory } from '../../src/records/trajectory.ts';

/** The reward, one line for each message (thoughts in brackets, calls after an arrow), and the error if there is one. */
export const conversationLines = ({ reward, nodes, error }: Trajectory): string[] => [
  String(reward),
  ...nodes
    .filter(({ role }) => role !== 'template')
    .map((node) => {
      const { role, text, content = text, toolResult, parseError } = node;
      const thoughts = /^<think>\n([^]*)\n<\/think>/.exec(text)?.[1];
      const calls = callsOf(node).map(({ name, arguments: args }) => ` → ${name} ${JSON.stringify(args)}`);
      const before = toolResult ? `${toolResult.name}${toolResult.error ? ' failed' : ''} = ` : thoughts ? `(${thoughts}) ` : '';
      return `${role}: ${before}${content}${calls.join('')}${parseError === undefined ? '' : ` ! ${parseError}`}`;
    }),
  ...(error === undefined ? [] : [`! ${error}`]),
];
