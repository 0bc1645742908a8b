/** @file `mua open` and `mua user-server`: commands that run until they are stopped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Flag, readFlags, readNumber, readPairs, SEED } from '../args.ts';
import { type BackendName, ON } from '../backend.ts';
import { builtSite, ROOT } from '../build.ts';
import { command } from '../command.ts';
import { CommandError, UsageError } from '../errors.ts';
import { onInterrupt } from '../files.ts';
import type { ProgressBar } from '../progress.ts';
import { serveSite } from '../server.ts';
import { JSON_FLAG } from './shared.ts';
import { train } from './training.ts';

const DEFAULT_PORT = 8017;
const PORT = { type: 'integer', value: 'P', help: 'port on 127.0.0.1', default: DEFAULT_PORT, min: 0, max: 65_535 } as const satisfies Flag;

/** Whether there is a display, which a browser window needs. */
const hasDisplay = () => process.platform !== 'linux' || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);

export const open = command({
  summary: 'open the playground in your browser; without a display, train headless',
  flags: {
    port: { ...PORT, help: 'port on 127.0.0.1; the browser keeps the runs of each port separately' },
    headless: { type: 'boolean', help: 'train with the default preset, without a browser window' },
    serve: { type: 'boolean', help: 'serve the page without opening it' },
    on: ON,
  },
  async run({ port, headless, serve, on }, progress) {
    if (headless && serve) throw new UsageError('--headless and --serve are both given: expected one of them');
    if (headless || (!serve && !hasDisplay())) return trainHeadless(on, progress);
    const server = await serveSite(await builtSite(progress), { port });
    progress.clear();
    onInterrupt(async () => {
      await server.close();
      return 'the page is no longer served: its runs and models stay in your browser';
    });
    console.log(`The playground is at ${server.origin}/ (Ctrl-C ends it)`);
    if (!serve) openInBrowser(`${server.origin}/`);
    return new Promise<never>(() => {});
  },
  show: (result) => train.show(result),
});

async function trainHeadless(on: BackendName | undefined, progress: ProgressBar): ReturnType<typeof train.run> {
  const out = join(ROOT, 'out', new Date().toISOString().slice(0, 19).replace(/[T:]/g, '-'));
  await mkdir(join(ROOT, 'out'), { recursive: true });
  progress.note('There is no display, so the bundled model is trained without one, with the default preset (Ctrl-C ends it).');
  return train.run({ ...readFlags([], train.flags), out, on }, progress);
}

function openInBrowser(url: string): void {
  const { platform } = process;
  const [program, args] =
    platform === 'darwin' ? ['open', [url]] : platform === 'win32' ? ['cmd', ['/c', 'start', '', url]] : ['xdg-open', [url]];
  const opener = spawn(program, args, { stdio: 'ignore', detached: true });
  opener.on('error', () => console.error(`could not open a browser: go to ${url}`));
  opener.unref();
}

const FAULTS = ['rate_limit', 'server_error', 'hang', 'garbage'];

export const userServer = command({
  summary: 'serve the scripted customer as an OpenAI-compatible /v1/chat/completions',
  flags: {
    port: { ...PORT, default: 8018 },
    seed: SEED,
    fault: {
      type: 'list',
      value: 'NAME=SHARE',
      help: `inject a fault (${FAULTS.join(', ')}) into this share of requests; may be repeated`,
    },
    'allow-origin': {
      type: 'list',
      value: 'ORIGIN',
      help: 'let pages of this origin use the server, e.g. https://example.com; pages of this computer always can; may be repeated',
    },
    json: JSON_FLAG,
  },
  async run({ port, seed, fault, allowOrigin, json }, progress) {
    const faults = Object.fromEntries(
      Object.entries(readPairs('fault', fault)).map(([name, share]) => {
        if (!FAULTS.includes(name)) throw new UsageError(`--fault is "${name}": expected ${FAULTS.join(', ')}`);
        return [name, readNumber(`--fault ${name}`, share, { type: 'number', min: 0, max: 1 })];
      }),
    );
    const { startUserServer } = await import('../../serve/user-server.ts');
    let server;
    try {
      server = await startUserServer({ port, seed, faults, allowOrigins: allowOrigin });
    } catch (error) {
      if (error instanceof RangeError) throw new UsageError(error.message);
      throw new CommandError(
        (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
          ? `port ${port} is in use: choose another with --port`
          : (error as Error).message,
      );
    }
    progress.clear();
    const { url, close, counts } = server;
    onInterrupt(async () => {
      await close();
      return `the server has stopped; requests: ${JSON.stringify(counts)}`;
    });
    console.log(json ? JSON.stringify({ url }) : `The scripted customer answers at ${url} (Ctrl-C ends it)`);
    await once(process, 'never');
  },
  show: () => [],
});
