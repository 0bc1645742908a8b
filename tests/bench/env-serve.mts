/**
 * The load of `mua env-serve` on this computer: many open sessions, steps at a fixed rate, the time of a step, and the memory
 * that a session takes. Usage: npx tsx tests/bench/env-serve.mts [--sessions 1000] [--rate 200] [--seconds 30] [--workers 2]
 */
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { OpenEnvClient } from '../support/openenv-client.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '30' },
    workers: { type: 'string', default: '2' },
    level: { type: 'string', default: 'nano' },
  },
});
const [sessions, rate, seconds] = [Number(values.sessions), Number(values.rate), Number(values.seconds)];
const child = spawn(
  process.execPath,
  [
    'bin/mua.mjs',
    'env-serve',
    '--port',
    '0',
    '--json',
    '--quiet',
    '--level',
    values.level,
    '--workers',
    values.workers,
    '--max-sessions',
    `${2 * sessions}`,
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const { url } = await new Promise<{ url: string }>((resolve) =>
  child.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString()))),
);
const memory = async () => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^mua_resident_memory_bytes (\S+)$/m.exec(text)![1]);
};
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// The first session loads the code and the world.
const first = await OpenEnvClient.connect(url);
const resetBytes = JSON.stringify(await first.reset({ seed: 0 })).length;
await first.step({ content: 'Hello' });
const before = await memory();
const clients: OpenEnvClient[] = [];
for (let i = 0; i < sessions; i += 50) {
  const more = await Promise.all(Array.from({ length: Math.min(50, sessions - i) }, () => OpenEnvClient.connect(url)));
  await Promise.all(more.map((client, j) => client.reset({ seed: i + j })));
  clients.push(...more);
}
const opened = await memory();

const times: number[] = [];
let stepBytes = 0;
let [ended, failed, late] = [0, 0, 0];
const busy = new Set<number>();
const start = performance.now();
const running: Promise<void>[] = [];
for (let n = 0; n < rate * seconds; n++) {
  const due = start + (1000 * n) / rate;
  const wait = due - performance.now();
  if (wait > 1) await sleep(wait);
  let i = n % clients.length;
  while (busy.has(i)) i = (i + 1) % clients.length;
  busy.add(i);
  const client = clients[i]!;
  // The acts alternate: a question, a look-up that fails, another question.
  const act = [
    { content: 'Your email, please?' },
    { name: 'find_user_id_by_email', arguments: { email: 'nobody@example.com' } },
    { content: 'Which order?' },
  ][Math.floor(n / clients.length) % 3]!;
  const sent = performance.now();
  late = Math.max(late, sent - due);
  running.push(
    client
      .step(act)
      .then(async (result) => {
        times.push(performance.now() - sent);
        stepBytes += JSON.stringify(result).length;
        if (!result.done) return;
        ended += 1;
        await client.reset({ seed: n });
      })
      .catch(() => void (failed += 1))
      .finally(() => busy.delete(i)),
  );
}
await Promise.all(running);
const took = (performance.now() - start) / 1000;
const after = await memory();
times.sort((a, b) => a - b);
const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))]!.toFixed(1);
const kb = (bytes: number) => `${(bytes / sessions / 1024).toFixed(0)} KiB`;
console.log(`${sessions} sessions, ${values.workers} processes, level ${values.level}`);
console.log(
  `steps: ${times.length} in ${took.toFixed(1)} s = ${(times.length / took).toFixed(0)} a second; ${ended} episodes ended, ${failed} steps failed`,
);
console.log(
  `time of a step: p50 ${quantile(0.5)} ms, p95 ${quantile(0.95)} ms, p99 ${quantile(0.99)} ms, worst ${quantile(1)} ms (sent at most ${late.toFixed(0)} ms late)`,
);
console.log(`memory of a session: ${kb(opened - before)} after reset, ${kb(after - before)} at the end`);
console.log(`bytes to the client: ${resetBytes} for a reset, ${(stepBytes / times.length).toFixed(0)} for a step`);
await Promise.all([first, ...clients].map((client) => client.close()));
child.kill('SIGTERM');
