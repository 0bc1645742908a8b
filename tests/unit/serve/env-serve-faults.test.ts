/** Injected faults of clients, customers and processes: every episode ends in exactly one way, and nothing leaks. */
import { createHash } from 'node:crypto';
import { connect as connectSocket, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { Dice } from '../../../src/base/dice.ts';
import { auditProblem } from '../../../src/agent/audit-log.ts';
import { readTrajectory } from '../../../src/exchange/trajectory-schema.ts';
import { openStage } from '../../../src/serve/index.ts';
import { type EnvServer, startEnvServer } from '../../../src/serve/server.ts';
import { UserError, type UserSimulator } from '../../../src/users/types.ts';
import { OpenEnvClient } from '../../support/openenv-client.ts';
import { startMua } from '../../support/mua.ts';

const FAULTS = [
  'drop',
  'drop in a step',
  'half frame',
  'wrong JSON',
  'too large',
  'slow reader',
  'customer fails',
  'idle',
  'flood',
  'none',
] as const;
type Fault = (typeof FAULTS)[number];

let server: EnvServer | undefined;
afterEach(() => server?.stop());

/** The opening handshake of a WebSocket by hand, for clients that break off inside a frame. */
function rawSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connectSocket(Number(port), hostname);
  const key = createHash('md5').update(String(Math.random())).digest('base64');
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: ${hostname}:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  return new Promise((resolve, reject) => {
    socket.once('data', () => resolve(socket));
    socket.once('error', reject);
  });
}

it('1,000 faults: each episode is done, dropped or an error; no session, episode or customer stays', async () => {
  const { stage, tasks } = await openStage({ domain: 'retail', level: 'nano', settings: {}, seed: 1, user: { mode: 'scripted' } });
  const { users, environments } = stage;
  let [sessions, closings] = [0, 0];
  /** A customer that fails in its second answer if the agent says so. */
  const failing: UserSimulator = {
    session(...args) {
      sessions += 1;
      const own = users.session(...args);
      return {
        open: (signal) => own.open(signal),
        reply: async (text, signal) => {
          await new Promise((resolve) => setTimeout(resolve, 1));
          if (text.includes('please fail')) throw new UserError('the endpoint failed', 'server');
          return own.reply(text, signal);
        },
        close: () => void (closings += 1),
      };
    },
  };
  const open = new Set<string>();
  const start = vi.spyOn(environments, 'start');
  const close = vi.spyOn(environments, 'close');
  start.mockImplementation(async (task) => {
    const id = await Object.getPrototypeOf(environments).start.call(environments, task);
    open.add(id);
    return id;
  });
  close.mockImplementation(async (id) => {
    open.delete(id);
    return Object.getPrototypeOf(environments).close.call(environments, id);
  });
  const recorded: string[] = [];
  const log: Record<string, string | number | null>[] = [];
  const started = await startEnvServer({ ...stage, users: failing }, tasks, {
    port: 0,
    host: '127.0.0.1',
    maxSessions: 40,
    maxFrameBytes: 4096,
    sessionSeconds: 60,
    idleSeconds: 1,
    graceSeconds: 1,
    log: (event) => void log.push(event),
    record: (trajectory) => void recorded.push(JSON.stringify(trajectory)),
  });
  server = started;
  const dice = new Dice('faults', 7);
  const counts = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<Fault, number>;

  async function one(fault: Fault): Promise<void> {
    counts[fault] += 1;
    if (fault === 'half frame') {
      const socket = await rawSocket(started.url);
      // A text frame of 100 bytes, masked, of which 20 are sent.
      socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | 100, 1, 2, 3, 4]), Buffer.alloc(20)]));
      socket.destroy();
      return;
    }
    const client = await OpenEnvClient.connect(started.url);
    await client.reset({ seed: dice.int(0, 999) });
    switch (fault) {
      case 'drop':
        client.socket.terminate();
        break;
      case 'drop in a step':
        client.socket.send('{"type": "step", "data": {"content": "Hello"}}');
        client.socket.terminate();
        break;
      case 'wrong JSON':
        expect((await client.ask('{"type": "st')).type).toBe('error');
        await client.close();
        break;
      case 'too large':
        client.socket.send(JSON.stringify({ type: 'step', data: { content: 'x'.repeat(5000) } }));
        expect(await client.closed).toBe(1009);
        break;
      case 'slow reader':
        client.socket.pause();
        for (let i = 0; i < 6; i++) client.socket.send('{"type": "state"}');
        await new Promise((resolve) => setTimeout(resolve, 5));
        client.socket.terminate();
        break;
      case 'customer fails':
        await expect(client.step({ content: 'please fail' })).rejects.toThrow(
          'EXECUTION_ERROR: the episode ended without a score: the endpoint failed',
        );
        await expect(client.step({ content: 'hm' })).rejects.toThrow('the episode is over');
        await client.close();
        break;
      case 'idle':
        expect(await client.closed).toBe(1000);
        break;
      case 'flood':
        for (let i = 0; i < 30; i++) client.socket.send('{"type": "step", "data": {"content": "Hello"}}');
        await client.closed;
        break;
      case 'none': {
        const { done, reward } = await client.step({ name: 'transfer_to_human_agents', arguments: { summary: 's' } });
        expect([done, typeof reward]).toEqual([true, 'number']);
        await client.close();
      }
    }
  }

  const plan = Array.from({ length: 1000 }, (_, i): Fault => {
    // Each idle session takes a second.
    const fault = FAULTS[i % FAULTS.length]!;
    return fault === 'idle' && i % 100 > 50 ? 'drop' : fault;
  });
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      for (let fault = plan.pop(); fault !== undefined; fault = plan.pop()) await one(fault);
    }),
  );
  await expect.poll(() => started.metrics.counts.sessions_open, { timeout: 5000 }).toBe(0);
  await expect.poll(() => open.size).toBe(0);
  expect(Object.values(counts).reduce((a, b) => a + b)).toBe(1000);
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(40);

  // Each episode that began has ended exactly once, with any fault.
  const events = (name: string) => log.filter(({ event }) => event === name).length;
  expect(events('episode_started')).toBe(1000 - counts['half frame']);
  expect(events('episode_ended')).toBe(events('episode_started'));
  expect(events('session_opened')).toBe(1000);
  expect(events('session_closed')).toBe(1000);
  expect([start.mock.calls.length, closings]).toEqual([sessions, sessions]);
  const { episodes } = started.metrics.counts;
  // In a flood of frames, the customer ends some of the conversations.
  expect(['dropped', 'terminal_tool', 'user_error', 'user_stop']).toEqual(expect.arrayContaining(Object.keys(episodes)));
  expect(episodes).toMatchObject({ terminal_tool: counts.none, user_error: counts['customer fails'] });

  // Every conversation is kept with its log, however it ended, and no log has a gap.
  const kept = recorded.map((line) => readTrajectory(JSON.parse(line), 'record', 'line'));
  expect(kept).toHaveLength(events('episode_started'));
  expect(kept.map(auditProblem).filter((problem) => problem !== null)).toEqual([]);
  expect(kept.reduce((sum, { audit }) => sum + audit!.hashes.length, 0)).toBe(counts.none);

  // The server still answers.
  const client = await OpenEnvClient.connect(started.url);
  expect((await client.reset({ seed: 1 })).done).toBe(false);
  await client.close();
}, 120_000);

it('processes that cannot start end with the reason', async () => {
  const { code, stderr } = await startMua(['env-serve', '--port', '0', '--workers', '2', '--set', 'colour=red']).done;
  expect(stderr).toContain('unknown setting "colour"');
  expect(code).toBe(2);
}, 60_000);

it('a killed process is replaced: its clients see the end, the others go on', async () => {
  const { child, line, done } = startMua(['env-serve', '--port', '0', '--workers', '2', '--json']);
  const { url } = JSON.parse(await line()) as { url: string };
  let stderr = '';
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const clients = await Promise.all(Array.from({ length: 6 }, () => OpenEnvClient.connect(url)));
  await Promise.all(clients.map((client, i) => client.reset({ seed: i })));
  await expect.poll(() => stderr.match(/session_opened/g)?.length).toBe(6);
  const pids = [...new Set([...stderr.matchAll(/"pid":(\d+)/g)].map(([, pid]) => Number(pid)))].filter((pid) => pid !== child.pid);
  expect(pids).toHaveLength(2);
  process.kill(pids[0]!, 'SIGKILL');
  const ended = await Promise.all(
    clients.map((client) =>
      Promise.race([
        client.closed,
        client.step({ content: 'Hello' }).then(
          () => 'goes on',
          () => client.closed,
        ),
      ]),
    ),
  );
  // All connections of one process either end or go on.
  expect([...new Set(ended)].sort()).toEqual([1006, 'goes on']);
  await expect.poll(() => stderr).toContain('process_replaced');
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  await expect.poll(metrics, { timeout: 20_000 }).toContain('mua_processes 2\n');
  const again = await OpenEnvClient.connect(url);
  expect((await again.reset({ seed: 1 })).done).toBe(false);
  await Promise.all([...clients, again].map((client) => client.socket.terminate()));
  child.kill('SIGTERM');
  expect((await done).code).toBe(143);
}, 60_000);
