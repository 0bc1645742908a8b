/** @file What the page says of a failure, and what a visitor can do. */
import type { Failure } from '../../mcp/desk.ts';

export const FAILURE_TITLES: Record<Failure['kind'], string> = {
  unreachable: 'No answer',
  timeout: 'No answer in time',
  protocol: 'The answer is not valid',
  limit: 'The answer is too large',
  changed: 'The tools have changed',
  auth: 'Access is refused',
  blocked: 'The request is blocked',
  closed: 'The connection is closed',
  input: 'Nothing was sent',
  stopped: 'Stopped',
  failed: 'That did not work',
};

/** The message of a failure with a full stop at its end. */
export const sentence = ({ message }: Failure): string => message.replace(/(?<![.!?])$/, '.');

export const REMEDIES: Record<Failure['kind'], string> = {
  unreachable: '',
  timeout: 'The server may still do the work. Nothing is sent again by itself. “./mua mcp call” takes a longer --timeout.',
  protocol: 'Check the address: it is that of Streamable HTTP, and often ends in /mcp. The older HTTP+SSE is not supported.',
  limit: 'Ask the tool for less.',
  changed: 'Nothing was sent. Read the difference. If you accept it, connect again.',
  auth: 'Enter a valid key as a header, then connect again.',
  blocked: '',
  closed: 'Connect again.',
  input: '',
  stopped: '',
  failed: 'Reload the page. If that does not help, please report it.',
};
