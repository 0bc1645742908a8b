/** The frames of OpenEnv's client (`env_client.py`), in TypeScript. */
import { WebSocket } from 'ws';
import type { StepResult } from '../../src/serve/protocol.ts';

class OpenEnvError extends Error {
  constructor(readonly data: { message: string; code: string }) {
    super(`${data.code}: ${data.message}`);
  }
}

export class OpenEnvClient {
  readonly #answers: ((frame: string | Error) => void)[] = [];
  /** Frames that nobody asked for. */
  readonly unasked: string[] = [];
  readonly closed: Promise<number>;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data) => {
      const text = (data as Buffer).toString('utf8');
      const next = this.#answers.shift();
      if (next) next(text);
      else this.unasked.push(text);
    });
    this.closed = new Promise((resolve) =>
      socket.on('close', (code) => {
        for (const answer of this.#answers.splice(0)) answer(new Error(`closed with ${code}`));
        resolve(code);
      }),
    );
    socket.on('error', () => {});
  }

  static connect(url: string, headers: Record<string, string> = {}): Promise<OpenEnvClient> {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, { headers });
    const client = new OpenEnvClient(socket);
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(client));
      socket.once('error', reject);
    });
  }

  /** The answer to a raw frame. */
  ask(frame: string): Promise<{ type: string; data: never }> {
    return new Promise<string>((resolve, reject) => {
      this.#answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      this.socket.send(frame);
    }).then((text) => JSON.parse(text) as { type: string; data: never });
  }

  async #request<T>(type: string, data?: object): Promise<T> {
    const answer = await this.ask(JSON.stringify({ type, ...(data && { data }) }));
    if (answer.type === 'error') throw new OpenEnvError(answer.data);
    return answer.data;
  }

  reset = (data: object = {}) => this.#request<StepResult>('reset', data);
  step = (action: object) => this.#request<StepResult>('step', action);
  state = () => this.#request<{ episode_id: string; step_count: number; db_hash: string; n_tool_calls: number }>('state');
  mcp = (data: object) => this.#request<{ result?: never; error?: { code: number; message: string } }>('mcp', data);

  async close(): Promise<number> {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send('{"type":"close"}');
    return this.closed;
  }
}
