/** Commands on a slow GPU and with a slow server: no more than 10 s without a line, and what is kept when they are stopped. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMua } from '../../support/mua.ts';
import { startSlowServer } from '../../support/slow-server.ts';
import { smallLlamaGguf } from '../../support/small-llama.ts';
import { timedMua } from '../../support/timed-mua.ts';

const NODE = { MUA_ON: 'node', LP_NUM_THREADS: '2' };
/** Seconds. The rule is 10; a line comes every 5. */
const QUIET = 10;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-quiet-'));
  await writeFile(at('small.gguf'), smallLlamaGguf());
  await startMua(['--help']).done; // the first process builds the command line
});
afterAll(() => rm(folder, { recursive: true }));
const at = (...names: string[]) => join(folder, ...names);

const EVALUATE = ['evaluate', '--model', 'models/nano-retail', '--tasks', '2', '--set', 'max_turns=2'];

test('an evaluation whose server lets it wait says so, counts its tasks, and can be continued after Ctrl-C', async () => {
  const { origin, close } = await startSlowServer({ refused: 3, retryAfter: 11, answerMs: 4000 });
  const user = ['--user', origin, '--user-model', 'a-model'];
  const ended = await timedMua([...EVALUATE, ...user], NODE);
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stderr).toMatch(/0\/2 episodes \(waiting for http:\/\/127\.0\.0\.1:\d+: the user endpoint's rate limit is reached \(HTTP 429\): slow down; retry 1 of 5 in 11 s\)/); // prettier-ignore
  expect(ended.stderr).toContain(`waiting for ${origin}`);
  expect(ended.longest).toBeLessThan(QUIET);

  const stopped = await timedMua([...EVALUATE, ...user], NODE, (text) => text.includes('episodes'));
  expect([stopped.code, stopped.stderr.trimEnd().split('\n').at(-1)]).toEqual([
    130,
    'mua: stopped: no trial is kept (with --out DIR each one is, and --resume DIR continues)',
  ]);
  close();
  const dead = await timedMua([...EVALUATE, '--user', origin, '--user-model', 'a-model', '--set', 'max_turns=1'], NODE);
  expect([dead.code, dead.stderr]).toEqual([
    1,
    expect.stringContaining(`the user endpoint at ${origin}/v1/chat/completions cannot be reached`),
  ]);
  expect(dead.longest).toBeLessThan(QUIET);
});

test('a key that is missing: the variable for it is named, also if the work has begun', async () => {
  const { origin, close } = await startSlowServer({ locked: true });
  const ended = await timedMua([...EVALUATE, '--user', origin, '--user-model', 'a-model'], NODE);
  close();
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('set MUA_USER_KEY to its API key')]);
});

test('training, tuning and an experiment say what they do, and what Ctrl-C keeps', async () => {
  const run = ['--set', 'train_batch_size=2', '--set', 'n=2', '--set', 'val_tasks=4', '--set', 'max_turns=2'];
  const train = await timedMua(['train', '--preset', 'glimpse', '--steps', '1', ...run, '--out', at('train')], NODE);
  expect(train.code, train.stderr).toBe(0);
  expect(train.stderr).toMatch(/opening the (run|model)/);
  expect(train.longest).toBeLessThan(QUIET);

  const early = await timedMua(['train', '--preset', 'glimpse', ...run, '--out', at('early')], NODE, (text) => text.includes('mua train'));
  if (early.stderr.includes('mua train')) expect(early.stderr).toMatch(/mua: stopped before the first checkpoint|To continue/);

  await writeFile(
    at('file.toml'),
    `id = "x"\nname = "x"\nquestion = "x?"\nseeds = [42]\n[base]\npreset = "glimpse"\noverrides = { total_training_steps = 40 }\n[evaluation]\nval_tasks = 1\n[[variants]]\nname = "a"\n`,
  );
  const experiment = await timedMua(['experiment', at('file.toml'), '--out', at('out')], NODE, (text) => /a, seed 42: /.test(text));
  expect(experiment.code, experiment.stderr).toBe(130);
  expect(experiment.stderr.trimEnd().split('\n').at(-1)).toMatch(
    new RegExp(`^mua: ${at('out')} has 0 of 1 finished runs.*\\. To continue: \\./mua experiment ${at('file.toml')} --out ${at('out')}$`),
  );
  expect(experiment.longest).toBeLessThan(QUIET);
});
