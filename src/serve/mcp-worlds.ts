/**
 * @file The world of a server as tools of MCP: the world's own tools, `respond`, which talks to the customer, and `start_episode`. In the
 * older protocol a session plays one episode at a time. The newer protocol has no sessions: there `start_episode` gives a handle, which
 * the other tools take as their argument `episode`.
 */
import { Server } from '@modelcontextprotocol/server';
import { RESPOND } from '../formats/python-tools.ts';
import type { Json } from '../records/json.ts';
import { toolOf, toolResult } from './mcp.ts';
import { asProtocolError, ProtocolError, type StepResult } from './protocol.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

/** A session of the older protocol, or the session of a handle. Its calls are played one after another. */
export interface Place {
  session: Session;
  /** When the newest episode began, or the session. */
  begun: number;
  heard: number;
  waiting: number;
  turn: Promise<unknown>;
}

const START = 'start_episode';
const EPISODE = { type: 'string', description: `The handle that ${START} gave.` };
const START_TOOL = {
  name: START,
  description: 'Starts an episode with a new customer. Returns the policy and what the customer says.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      task_id: { type: 'string', description: 'The id of a task. Default: the next one.' },
      split: { type: 'string', description: 'train, heldout, unseen or attacks. Default: train.' },
      seed: { type: 'integer', description: 'Chooses the task, and the words of the customer.' },
    },
  },
};
const INSTRUCTIONS = `Call ${START} first. Then follow its policy: talk to the customer with respond, and use the other tools.`;

export class McpWorlds {
  readonly #places = new Set<Place>();
  /** Handle → its place. */
  readonly #handles = new Map<string, Place>();

  constructor(
    private readonly sessions: Sessions,
    private readonly limits: { sessionSeconds: number; idleSeconds: number },
  ) {}

  /** @throws ProtocolError if all sessions are open, or the server stops */
  open(): Place {
    const now = Date.now();
    const place: Place = {
      session: this.sessions.open(() => (place.begun = Date.now())),
      begun: now,
      heard: now,
      waiting: 0,
      turn: Promise.resolve(),
    };
    this.#places.add(place);
    return place;
  }

  end(place: Place, code = 1000): void {
    if (this.#places.delete(place)) this.sessions.close(place.session, code);
  }

  /** Ends the places whose time is over. Returns them. */
  sweep(now: number): Place[] {
    const over = [...this.#places].filter(
      ({ begun, heard, waiting }) =>
        now - begun > 1000 * this.limits.sessionSeconds || (waiting === 0 && now - heard > 1000 * this.limits.idleSeconds),
    );
    for (const place of over) this.end(place);
    for (const [handle, place] of this.#handles) if (!this.#places.has(place)) this.#handles.delete(handle);
    return over;
  }

  close(): void {
    for (const place of this.#places) this.end(place, 1001);
    this.#handles.clear();
  }

  /** A server of the SDK. @param own the session, in the older protocol */
  server(own: Place | null): Server {
    const { domain } = this.sessions.stage;
    const server = new Server({ name: `mua-${domain.name}`, version: '1' }, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
    server.setRequestHandler('tools/list', () => {
      if (own) own.heard = Date.now();
      return {
        tools: [START_TOOL, ...(own?.session.tools ?? [...domain.tools, RESPOND]).map(toolOf).map(own ? (tool) => tool : withHandle)],
      };
    });
    server.setRequestHandler('tools/call', async ({ params: { name, arguments: args = {} } }) => {
      try {
        return await (name === START
          ? this.#start(own, args as Record<string, Json>)
          : this.#call(own, name, args as Record<string, Json>));
      } catch (error) {
        // Messages for clients of OpenEnv name its reset.
        const { code, message } = asProtocolError(error);
        this.sessions.metrics.failed(code);
        return { content: [{ type: 'text' as const, text: `Error: ${message.replace('a reset', START)}` }], isError: true };
      }
    });
    return server;
  }

  async #start(own: Place | null, args: Record<string, Json>) {
    const place = own ?? this.open();
    try {
      const result = await inTurn(place, () => place.session.reset(args));
      if (own) return toolResult(result, opening(result));
      const episode = crypto.randomUUID();
      this.#handles.set(episode, place);
      const { structuredContent, ...rest } = toolResult(result, `episode: ${episode}\n\n${opening(result)}`);
      return { ...rest, structuredContent: { episode, ...structuredContent } };
    } catch (error) {
      if (!own) this.end(place);
      throw error;
    }
  }

  async #call(own: Place | null, name: string, given: Record<string, Json>) {
    const { episode, ...args } = given;
    const place = own ?? this.#handles.get(String(episode));
    if (!place || !this.#places.has(place))
      throw new ProtocolError('VALIDATION_ERROR', `the argument episode names no open episode: expected the handle that ${START} gave`);
    const result = await inTurn(place, () => place.session.call(name, own ? given : args));
    // The client has heard the end, so the handle is of no more use.
    if (!own && result.done) {
      this.#handles.delete(String(episode));
      this.end(place);
    }
    return toolResult(
      result,
      result.done ? `${result.observation.content}\n[The episode is over. Reward: ${result.reward}]`.trim() : undefined,
    );
  }
}

/** Runs the work after the work before it. */
async function inTurn<T>(place: Place, work: () => Promise<T>): Promise<T> {
  place.waiting += 1;
  const result = place.turn.then(work);
  place.turn = result.catch(() => {});
  try {
    return await result;
  } finally {
    place.waiting -= 1;
    place.heard = Date.now();
  }
}

/** What a model must read at the start: the policy, and what was said so far. */
function opening({ observation: { messages = [], content } }: StepResult): string {
  const said = messages.slice(1).map(({ role, content: words }) => `${role === 'user' ? 'The customer says' : 'You have said'}: ${words}`);
  return [messages[0]?.content ?? '', ...(said.length > 0 ? said : [content])].filter(Boolean).join('\n\n');
}

function withHandle<T extends { inputSchema: { properties: Record<string, Json>; required?: string[] } }>(tool: T): T {
  const { properties, required = [], ...schema } = tool.inputSchema;
  return { ...tool, inputSchema: { ...schema, properties: { episode: EPISODE, ...properties }, required: ['episode', ...required] } };
}
