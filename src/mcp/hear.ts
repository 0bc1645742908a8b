/** @file Hears the messages of a connection, for a person who wants to see them. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { mapJson } from '../base/json.ts';
import { withoutKey } from '../base/redact.ts';
import type { Json } from '../records/json.ts';
import type { Opened, Reach } from './link.ts';
import type { McpMessage } from './types.ts';

/** The same way to the server. `hear` gets each message, without the secrets. */
export const heard = (reach: Reach, hear: (message: McpMessage) => void): Reach => ({
  ...reach,
  open(limits, broke): Opened {
    const opened = reach.open(limits, broke);
    const safe = (value: unknown) =>
      typeof value === 'string' ? reach.secrets.reduce((kept, secret) => withoutKey(kept, secret), value) : value;
    const tell = (sent: boolean, message: JSONRPCMessage) => hear({ sent, message: mapJson(message, safe) as Json });
    listen(opened.transport, tell);
    return opened;
  },
});

function listen(transport: Transport, tell: (sent: boolean, message: JSONRPCMessage) => void): void {
  const send = transport.send.bind(transport);
  transport.send = (message, ...options) => {
    tell(true, message);
    return send(message, ...options);
  };
  let receive = transport.onmessage;
  Object.defineProperty(transport, 'onmessage', {
    get: () =>
      receive &&
      (((message, ...more) => {
        tell(false, message);
        receive?.(message, ...more);
      }) satisfies typeof receive),
    set: (given: typeof receive) => (receive = given),
  });
}
