/** The official OpenEnv client against `mua env-serve`. Skipped where Python, OpenEnv or a new enough `websockets` is missing. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { openStage } from '../../../src/serve/index.ts';
import { type EnvServer, startEnvServer } from '../../../src/serve/server.ts';
import { SERVER_OPTIONS } from '../../support/env-server.ts';

const SCRIPT = 'tests/reference/openenv_client.py';
const check = spawnSync('/usr/bin/python3', [SCRIPT], { encoding: 'utf8' });
const reason = check.error?.message ?? (check.status === 0 ? '' : check.stderr.trim().split('\n').at(-1)!);
if (reason) console.warn(`SKIPPED: OpenEnv's own client: ${reason} (PYTHONPATH must have OpenEnv's src, and websockets 13 or later)`);

let server: EnvServer | undefined;
afterAll(() => server?.stop());

it.skipIf(reason !== '')('resets, steps, reads the state, gets errors and closes', async () => {
  const { stage, tasks } = await openStage({ domain: 'retail', level: 'nano', settings: {}, seed: 1, user: { mode: 'scripted' } });
  server = await startEnvServer(stage, tasks, SERVER_OPTIONS);
  const { stdout } = await promisify(execFile)('/usr/bin/python3', [SCRIPT, server.url]);
  const { steps, state, error, again, synchronous } = JSON.parse(stdout) as Record<string, never> & { steps: never[] };
  expect(steps).toMatchObject([
    { observation: { role: 'user', task_id: 'retail/nano/train/1/3', seed: 3 }, reward: null, done: false },
    { observation: { role: 'user', turn: 1 }, reward: null, done: false },
    { observation: { role: 'tool', content: 'Error: user not found', tool_name: 'find_user_id_by_email' }, reward: null, done: false },
    { observation: { termination: 'terminal_tool' }, reward: 0, done: true },
  ]);
  expect(state).toMatchObject({ step_count: 2, n_tool_calls: 1, n_user_turns: 2, task_id: 'retail/nano/train/1/3' });
  expect(error).toContain('the episode is over: expected a reset');
  expect(again).toEqual(steps[0]);
  expect(synchronous).toMatchObject([{ done: false }, { observation: { role: 'user' } }]);
  await expect.poll(() => server!.metrics.counts.sessions_open).toBe(0);
  expect(server.metrics.counts).toMatchObject({ sessions_total: 2, errors: { EXECUTION_ERROR: 1 } });
});
