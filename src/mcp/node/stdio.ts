/** @file Reaches a server that is a command on this computer, over stdin and stdout (MCP's stdio transport). Only for Node. */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { quoted } from '../errors.ts';
import { checkFiles, FOLDER, tooManyBytes } from '../limits.ts';
import type { Reach } from '../link.ts';
import { makeFolder, removeFolder } from './folders.ts';
import { McpError, type McpFiles, type McpLimits, type McpTarget } from '../types.ts';

/** The variables of this process that a command gets. Others may be secrets. */
const PASSED = ['PATH', 'HOME', 'LANG', 'TZ', 'SystemRoot'];
/** How long a process may take to end after its input has ended, and again after SIGTERM. */
const END_MS = 1000;
/** How many lines of stdout are read for one answer. Each takes time, also an empty one. */
const MOST_LINES = 10_000;
/** How many characters of stderr are kept, for messages. */
const KEPT = 4000;
/** This program of util-linux ends the command if this process is killed. */
const SETPRIV = '/usr/bin/setpriv';

export function reachCommand({ command, args, env = {}, files = {} }: McpTarget & { kind: 'command' }): Reach {
  checkFiles(files);
  return {
    name: command.split('/').at(-1)!,
    // A short value is a setting, and may stand in any answer.
    secrets: Object.entries(env).flatMap(([name, value]) => (/key|token|secret|password|auth/i.test(name) ? [value] : [])),
    open(limits, broke) {
      const transport = new CommandTransport({ command, args, env, files }, limits, broke);
      return { transport, more: () => transport.more(), files: () => transport.files() };
    },
  };
}

class CommandTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** The SDK recognises a transport to a process by the fields `pid` and `stderr`. */
  readonly stderr = null;
  #folder = '';
  #child: ChildProcess | null = null;
  #parts: Buffer[] = [];
  /** The bytes and lines since the last message to the server. */
  #bytes = 0;
  #lines = 0;
  #words = '';
  #stray = '';
  #ending = '';
  /** When this process exits, nobody waits for the end of the command. */
  readonly #leave = () => {
    this.#signal('SIGKILL');
    removeFolder(this.#folder);
  };

  constructor(
    private readonly target: { command: string; args: readonly string[]; env: Readonly<Record<string, string>>; files: McpFiles },
    private readonly limits: McpLimits,
    private readonly broke: (error: McpError) => void,
  ) {}

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  async start(): Promise<void> {
    const { command } = this.target;
    const own = (text: string) => text.replaceAll(FOLDER, this.#folder);
    if (!isProgram(command))
      throw new McpError(`the command "${command}" does not exist: expected a program of PATH, or the path of one`, 'unreachable');
    this.#folder = makeFolder();
    process.once('exit', this.#leave);
    try {
      await this.#begin(own);
    } catch (error) {
      if (!this.#child) this.#left();
      throw error;
    }
  }

  async #begin(own: (text: string) => string): Promise<void> {
    const { command, args, env, files } = this.target;
    const passed = PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.#folder, name)), { recursive: true });
      writeFileSync(join(this.#folder, name), text);
    }
    const guarded = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', '--', command] : [command];
    const child = spawn(guarded[0]!, [...guarded.slice(1), ...args.map(own)], {
      cwd: this.#folder,
      env: {
        ...(Object.fromEntries(passed) as Record<string, string>),
        TMPDIR: this.#folder,
        ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, own(value)])),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      // In a group of its own, so that its children end with it.
      detached: true,
    });
    this.#child = child;
    child.stdin.on('error', () => {}); // 'close' follows
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#words = (this.#words + text).slice(-KEPT)));
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) => {
        this.#ended('it could not start');
        reject(new McpError(`the command "${command}" cannot start (${error.code})`, 'unreachable'));
      });
      child.once('close', (code, signal) => this.#ended(signal ? `it was ended by ${signal}` : `it ended with code ${code}`));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable) throw new McpError('the command has ended', 'closed');
    this.#bytes = this.#lines = 0;
    const line = JSON.stringify(message).replaceAll(FOLDER, this.#folder);
    if (!input.write(`${line}\n`)) await new Promise((done) => input.once('drain', done).once('close', done));
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    // Not 'close': what has left the group of the command may hold its streams open.
    const isOver = () => child.exitCode !== null || child.signalCode !== null;
    const ended = new Promise((done) => child.once('exit', done));
    const soon = () => isOver() || Promise.race([ended, new Promise((done) => setTimeout(done, END_MS).unref())]);
    child.stdin?.end();
    await soon();
    if (!isOver()) {
      this.#signal('SIGTERM', child.pid);
      await soon();
    }
    // Also what the command has started and left behind.
    this.#signal('SIGKILL', child.pid);
    await soon();
    // Open streams would keep this process waiting.
    for (const stream of child.stdio) stream?.destroy();
    this.#ended('it was closed');
  }

  /** What is known of the process: how it ended, and its last words. */
  more(): string {
    const words = this.#words.trim().split('\n').slice(-3).join(' ');
    return [
      this.#ending,
      ...(words ? [`its last words on stderr: ${quoted(words, [], 300)}`] : []),
      ...(this.#parts.length > 0 ? ['its last line on stdout has no end'] : []),
      ...(this.#stray ? [`it wrote a line to stdout that is not JSON: ${quoted(this.#stray, [], 100)}`] : []),
    ]
      .filter(Boolean)
      .join('; ');
  }

  /** @throws McpError if the command has ended, and its folder with it */
  files(): McpFiles {
    if (!this.#child) throw new McpError('the command has ended', 'closed');
    const entries = readdirSync(this.#folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = entries.map((entry) => relative(this.#folder, join(entry.parentPath ?? entry.path, entry.name)));
    return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(this.#folder, path), 'utf8')]));
  }

  #read(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.limits.bytes) return this.#refuse(tooManyBytes(this.limits.bytes));
    for (let rest = chunk; rest.length > 0;) {
      const end = rest.indexOf(10);
      this.#parts.push(end < 0 ? rest : rest.subarray(0, end));
      if (end < 0) return;
      if (++this.#lines > MOST_LINES)
        return this.#refuse(new McpError(`the server wrote more than ${MOST_LINES.toLocaleString('en')} lines in one answer`, 'limit'));
      const line = Buffer.concat(this.#parts).toString('utf8').trim().replaceAll(this.#folder, FOLDER);
      this.#parts = [];
      rest = rest.subarray(end + 1);
      if (line) this.#hear(line);
    }
  }

  #refuse(error: McpError): void {
    this.broke(error);
    this.#signal('SIGKILL');
  }

  #hear(line: string): void {
    let messages: JSONRPCMessage | JSONRPCMessage[];
    try {
      messages = JSON.parse(line) as typeof messages;
    } catch {
      this.#stray ||= line.slice(0, KEPT);
      return;
    }
    // Version 2025-03-26 has lists of messages.
    for (const message of [messages].flat())
      try {
        this.onmessage?.(message);
      } catch (error) {
        this.onerror?.(error as Error);
      }
  }

  #ended(how: string): void {
    if (!this.#child) return;
    this.#ending = how;
    this.#child = null;
    this.#left();
    this.onclose?.();
  }

  #left(): void {
    process.off('exit', this.#leave);
    removeFolder(this.#folder);
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL', pid = this.#child?.pid): void {
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {} // the whole group has ended
  }
}

/** Whether the command can be started: a path, or a name in a folder of PATH. */
function isProgram(command: string): boolean {
  const paths = command.includes('/') ? [command] : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, command));
  return paths.some((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
