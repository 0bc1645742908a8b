/** @file Headless Firefox of the distribution, driven by WebDriver BiDi. Playwright drives only its own build of Firefox. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';

const PATHS = ['/usr/bin/firefox-esr', '/usr/bin/firefox'];
/** Undefined where no Firefox is installed. */
export const firefoxPath = process.env.MUA_FIREFOX ?? PATHS.find((path) => existsSync(path));

/** One tab. */
export interface Firefox {
  goto(url: string): Promise<void>;
  /** The value of an expression in the page; promises are awaited. It must be JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** A PNG of the window. */
  screenshot(): Promise<Buffer>;
  /** Errors of the page and of its console. */
  problems: string[];
  close(): Promise<void>;
}

interface Reply {
  id?: number;
  type: 'success' | 'error' | 'event';
  method?: string;
  params?: { level?: string; text?: string };
  result?: Record<string, unknown>;
  message?: string;
}

/** @throws Error if Firefox does not start within 30 s, or refuses a command */
export async function openFirefox(): Promise<Firefox> {
  const profile = await mkdtemp(join(tmpdir(), 'mua-firefox-'));
  const browser = spawn(firefoxPath!, ['--headless', '--remote-debugging-port', '0', '--profile', profile, '--no-remote'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const address = await new Promise<string>((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`Firefox did not start within 30 s: ${said}`)), 30_000);
    browser.stderr.on('data', (chunk) => {
      said += String(chunk);
      const found = /WebDriver BiDi listening on (ws:\S+)/.exec(said)?.[1];
      if (!found) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  const socket = new WebSocket(`${address}/session`);
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const waiting = new Map<number, (reply: Reply) => void>();
  const problems: string[] = [];
  socket.on('message', (data) => {
    const reply = JSON.parse(String(data)) as Reply;
    if (reply.method === 'log.entryAdded' && reply.params?.level === 'error') problems.push(reply.params.text ?? '');
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply);
  });
  let sent = 0;
  const send = async (method: string, params: object): Promise<Record<string, unknown>> => {
    const id = ++sent;
    const answered = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { type, result, message } = await answered;
    if (type === 'error') throw new Error(`${method}: ${message}`);
    return result!;
  };
  await send('session.new', { capabilities: {} });
  const { contexts } = (await send('browsingContext.getTree', {})) as { contexts: { context: string }[] };
  const [{ context }] = contexts as [{ context: string }];
  await send('session.subscribe', { events: ['log.entryAdded'] });
  return {
    problems,
    async goto(url) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    async evaluate(expression) {
      const run = await send('script.evaluate', {
        expression: `(async () => JSON.stringify(await (${expression})))()`,
        target: { context },
        awaitPromise: true,
      });
      if (run.type === 'exception') throw new Error((run.exceptionDetails as { text: string }).text);
      const { value } = run.result as { value?: string };
      return value === undefined ? undefined : JSON.parse(value);
    },
    async screenshot() {
      const { data } = (await send('browsingContext.captureScreenshot', { context })) as { data: string };
      return Buffer.from(data, 'base64');
    },
    async close() {
      await send('browser.close', {}).catch(() => {});
      if (browser.exitCode === null) await new Promise((resolve) => browser.once('exit', resolve));
      await rm(profile, { recursive: true, force: true });
    },
  };
}
