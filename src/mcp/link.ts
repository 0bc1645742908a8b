/** @file One link to a server: the SDK's client with our limits. Requests run one after another. */
import { Client, SdkError, SdkErrorCode, type Transport } from '@modelcontextprotocol/client';
import { toMcpError, withoutSecrets } from './errors.ts';
import { McpError, type McpFiles, type McpLimits } from './types.ts';

/** A way to a server. */
export interface Reach {
  /** How messages name the server. It has no secrets. */
  name: string;
  /** Texts that must not appear in messages and results. */
  secrets: readonly string[];
  /** Opens a new transport. `broke` hears which limit the server broke. */
  open(limits: McpLimits, broke: (error: McpError) => void): Opened;
}

export interface Opened {
  transport: Transport;
  /** The start of a server in this process. */
  begun?: Promise<unknown>;
  /** Tells the server that the session is over. */
  end?(): Promise<void>;
  /** What is known of a server that failed, such as its last words on stderr. '' if nothing. */
  more?(): string;
  /** The files of the server's folder now. Absent if it has none here. */
  files?(): McpFiles;
}

const ABOUT = { name: 'mua-rl-playground', version: '0.1.0' };
/** A server may ignore the first question of the newer protocol. Then it gets the older one after this share of the time. */
const PROBE_SHARE = 0.6;
/** How the first question of the newer protocol fails at servers that do not know it. */
const OF_OLDER_SERVERS: ReadonlySet<string> = new Set([SdkErrorCode.EraNegotiationFailed, SdkErrorCode.RequestTimeout]);
const MOST_WAIT_S = 2_000_000;

export class Link {
  readonly client: Client;
  /** Whether the newer protocol was refused as a browser refuses headers. */
  refusedHeaders = false;
  #opened: Opened;
  #stop: ((reason: unknown) => void) | null = null;
  #broken: McpError | null = null;
  /** The first message since the start of the request that the SDK could not use. */
  #odd = '';
  #turn: Promise<unknown> = Promise.resolve();
  /** Whether the connection failed in a way in which servers of the older protocol fail. */
  #maybeLegacy = false;

  private constructor(
    private readonly reach: Reach,
    private readonly limits: McpLimits,
    mode: 'auto' | 'legacy',
  ) {
    this.#opened = reach.open(limits, (error) => this.#break(error));
    this.client = new Client(ABOUT, {
      versionNegotiation: { mode, probe: { timeoutMs: 1000 * PROBE_SHARE * limits.timeout } },
      inputRequired: { autoFulfill: false },
    });
    this.client.onerror = ({ message }) => (this.#odd ||= message);
  }

  /**
   * Connects with the newer protocol, else with the older one. All of it must fit into the time limit of one request.
   * @throws McpError, or the reason of the signal
   */
  static async open(reach: Reach, limits: McpLimits, signal?: AbortSignal): Promise<Link> {
    let refused: boolean;
    const end = performance.now() + 1000 * limits.timeout;
    const first = new Link(reach, limits, 'auto');
    try {
      await first.#connect(limits.timeout, signal);
      return first;
    } catch (error) {
      // The SDK falls back by itself where it can. It cannot if a browser hides the answer from a
      // worker, if the process has ended, or if a server over HTTP does not answer.
      if (!first.#maybeLegacy) throw error;
      refused = (error as McpError).kind === 'unreachable';
    }
    const second = new Link(reach, limits, 'legacy');
    second.refusedHeaders = refused;
    await second.#connect(Math.max(0.001, (end - performance.now()) / 1000), signal);
    return second;
  }

  async #connect(seconds: number, signal: AbortSignal | undefined): Promise<void> {
    const { transport, begun } = this.#opened;
    const start = async (signal: AbortSignal) => {
      await begun;
      await this.client.connect(transport, { signal, timeout: 1000 * MOST_WAIT_S }).catch((error: unknown) => {
        const { cause } = error as Error;
        const isOurs = cause instanceof McpError && cause.kind !== 'protocol';
        this.#maybeLegacy = error instanceof SdkError && OF_OLDER_SERVERS.has(error.code) && !isOurs;
        throw error;
      });
    };
    try {
      await this.#within(seconds, 'the connection', signal, start);
    } catch (error) {
      await this.close();
      this.#maybeLegacy &&= this.#broken === null && !signal?.aborted;
      throw error;
    }
  }

  /** Sends a request when the requests before it have ended. @throws McpError, or the reason of the signal */
  request<T>(
    what: string,
    signal: AbortSignal | undefined,
    send: (client: Client, options: { signal: AbortSignal; timeout: number }) => Promise<T>,
  ) {
    const result = this.#turn.then(() => {
      signal?.throwIfAborted();
      if (this.client.transport === undefined) throw this.#closed();
      return this.#within(this.limits.timeout, what, signal, (inner) => send(this.client, { signal: inner, timeout: 1000 * MOST_WAIT_S }));
    });
    this.#turn = result.catch(() => {});
    return result;
  }

  /** The files of the server's folder, when the requests before have ended. @throws McpError if it has none here */
  files(): Promise<McpFiles> {
    return this.#turn.then(() => {
      if (this.client.transport === undefined) throw this.#closed();
      const files = this.#opened.files?.();
      if (!files) throw new McpError(`${this.reach.name} has no folder here: expected a command, or a server in this process`, 'protocol');
      return files;
    });
  }

  async close(): Promise<void> {
    if (this.client.transport !== undefined) await this.#opened.end?.();
    await this.client.close().catch(() => {});
    await this.#opened.transport.close().catch(() => {});
  }

  #closed(): McpError {
    const more = this.#opened.more?.();
    return withoutSecrets(
      new McpError(`the connection to ${this.reach.name} is closed${more ? ` (${more})` : ''}`, 'closed'),
      this.reach.secrets,
    );
  }

  #break(error: McpError): void {
    this.#broken = error;
    this.#stop?.(error);
  }

  /** Runs the work until the limit, the signal or a broken limit ends it. */
  async #within<T>(seconds: number, what: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const own = new AbortController();
    const late = () => {
      const more = [this.#opened.more?.(), this.#odd].filter(Boolean).join('; ');
      own.abort(
        new McpError(
          `${this.reach.name} did not answer ${what} in ${+this.limits.timeout.toFixed(1)} s${more ? ` (${more})` : ''}`,
          'timeout',
        ),
      );
    };
    const timer = setTimeout(late, 1000 * seconds);
    const abort = () => own.abort(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    this.#broken = null;
    this.#odd = '';
    this.#stop = (reason) => own.abort(reason);
    const stopped = new Promise<never>((_, reject) => {
      if (own.signal.aborted) reject(own.signal.reason as Error);
      own.signal.addEventListener('abort', () => reject(own.signal.reason as Error));
    });
    try {
      return await Promise.race([stopped, work(own.signal)]);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      const found = own.signal.aborted ? (own.signal.reason as unknown) : (this.#broken ?? error);
      throw withoutSecrets(toMcpError(found, what, this.#opened.more?.()), this.reach.secrets);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#stop = null;
    }
  }
}
