/** @file The state of the page of MCP servers. It lives as long as the tab, and nothing of it is stored. */
import type { Answer, Failure, Heard, Played } from '../../mcp/desk.ts';
import { isFreeRead, isRead } from '../../mcp/reads.ts';
import type { McpCall } from '../../mcp/check.ts';
import type { McpServer, McpTarget, McpTool } from '../../mcp/types.ts';
import { askMcp, type McpDesk } from '../clients/mcp-client.ts';

export interface HeaderRow {
  name: string;
  value: string;
}

export interface ReadRow {
  call: McpCall;
  on: boolean;
}

export interface CallRow extends Played {
  number: number;
  call: McpCall;
}

/** A call that waits for the visitor's yes. */
export interface Pending {
  call: McpCall;
  /** Whether it becomes a read around each call. */
  read: boolean;
}

const MOST_CALLS = 20;
const MOST_HEARD = 200;

class McpPage {
  place = $state<'url' | 'here'>('url');
  address = $state('');
  /** The name of a server inside the tab. */
  inTab = $state('');
  /** The headers by the origin of their server. Another server never gets them. */
  #headers = $state<Record<string, HeaderRow[]>>({});
  busy = $state<'' | 'connect' | 'call'>('');
  server = $state.raw<McpServer | null>(null);
  /** Where the server is, for the visitor. */
  where = $state('');
  failure = $state.raw<Failure | null>(null);
  reads = $state.raw<readonly ReadRow[]>([]);
  calls = $state.raw<readonly CallRow[]>([]);
  heard = $state.raw<readonly Heard[]>([]);
  pending = $state.raw<Pending | null>(null);
  /** The tools that the visitor allows to write. */
  #allowed = new Set<string>();
  #count = 0;

  get origin(): string {
    const address = this.address.trim();
    return /^https?:/i.test(address) && URL.canParse(address) ? new URL(address).origin : '';
  }

  get headers(): HeaderRow[] {
    return this.#headers[this.origin] ?? [{ name: 'Authorization', value: '' }];
  }

  /** Without an origin, no server would get them. */
  set headers(rows: HeaderRow[]) {
    this.#headers[this.origin] = rows;
  }

  /** Whether calls are possible: the server's tools are those of the start. */
  get usable(): boolean {
    return this.server !== null && this.failure?.kind !== 'changed' && this.failure?.kind !== 'closed';
  }

  async connect(): Promise<void> {
    const given = this.headers.filter(({ value }) => value.trim() !== '');
    const names = given.map(({ name }) => name.trim().toLowerCase());
    const wrong = names.includes('')
      ? 'a header has no name'
      : names.some((name, i) => names.indexOf(name) < i)
        ? 'two headers have the same name'
        : '';
    if (this.place === 'url' && wrong) {
      this.failure = { kind: 'input', message: `${wrong}: expected a name for each value` };
      return;
    }
    const target: McpTarget =
      this.place === 'here'
        ? { kind: 'here', server: this.inTab }
        : {
            kind: 'url',
            url: this.address.trim(),
            headers: Object.fromEntries(given.map(({ name, value }) => [name.trim(), value.trim()])),
          };
    this.server = null;
    this.reads = [];
    this.calls = [];
    this.heard = [];
    this.#allowed.clear();
    const answer = await this.#ask('connect', async (desk) => {
      if (target.kind === 'here') await desk.offered();
      return desk.connect(target);
    });
    if (!('value' in answer)) return;
    this.server = answer.value;
    this.where = whereOf(target);
    this.reads = answer.value.tools.filter(isFreeRead).map(({ name }) => ({ call: { name, arguments: {} }, on: false }));
  }

  /** Calls the tool, or asks first. */
  call(tool: McpTool, call: McpCall): Promise<void> {
    if (isRead(tool) || this.#allowed.has(tool.name)) return this.#play(call);
    this.pending = { call, read: false };
    return Promise.resolve();
  }

  /** Reads with this call before and after each call. */
  read(tool: McpTool, call: McpCall): void {
    if (isRead(tool)) this.#addRead(call);
    else this.pending = { call, read: true };
  }

  confirm(): Promise<void> {
    const { call, read } = this.pending!;
    this.pending = null;
    if (read) {
      this.#addRead(call);
      return Promise.resolve();
    }
    this.#allowed.add(call.name);
    return this.#play(call);
  }

  stop(): void {
    void askMcp((desk) => desk.stop()).catch(() => {});
  }

  async disconnect(): Promise<void> {
    this.server = null;
    this.failure = null;
    await askMcp((desk) => desk.close()).catch(() => {});
  }

  #addRead(call: McpCall): void {
    const isSame = (row: ReadRow) => JSON.stringify(row.call) === JSON.stringify(call);
    this.reads = this.reads.some(isSame)
      ? this.reads.map((row) => (isSame(row) ? { ...row, on: true } : row))
      : [...this.reads, { call, on: true }];
  }

  async #play(call: McpCall): Promise<void> {
    const reads = this.reads.flatMap((row) => (row.on ? [row.call] : []));
    const answer = await this.#ask('call', (desk) => desk.call(call, reads));
    if (!('value' in answer)) return;
    const { result } = answer.value;
    if ('failure' in result) this.failure = result.failure;
    this.calls = [{ number: ++this.#count, call, ...answer.value }, ...this.calls].slice(0, MOST_CALLS);
  }

  async #ask<T>(busy: 'connect' | 'call', question: (desk: McpDesk) => Promise<Answer<T>>): Promise<Answer<T>> {
    this.busy = busy;
    this.failure = null;
    let answer: Answer<T>;
    try {
      answer = await askMcp(question);
      const news = await askMcp((desk) => desk.heard(this.heard.at(-1)?.number ?? 0));
      this.heard = [...this.heard, ...news].slice(-MOST_HEARD);
    } catch (error) {
      this.server = null;
      answer = { failure: { kind: 'failed', message: (error as Error).message } };
    }
    if ('failure' in answer) this.failure = answer.failure;
    this.busy = '';
    return answer;
  }
}

/** The target of the connection, not the form: the visitor may change the form while the page connects. */
function whereOf(target: McpTarget & { kind: 'url' | 'here' }): string {
  if (target.kind === 'here') return `${target.server}, in this tab`;
  const { origin, pathname } = new URL(target.url);
  return `${origin}${pathname}`;
}

export const page = new McpPage();
