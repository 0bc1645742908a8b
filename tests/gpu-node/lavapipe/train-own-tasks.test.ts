/** `mua train` on tasks, policy and tables of a visitor's own, as docs/domains.md describes them. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { train } from '../../../src/cli/commands/training.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { bfclFixture } from '../../support/bfcl-fixture.ts';
import { toyScenario } from '../../support/toy-scenario.ts';
import { timedMua } from '../../support/timed-mua.ts';

const NODE = { MUA_ON: 'node', LP_NUM_THREADS: '2' };
const POLICY = 'Ask for a yes before each change.';
const silent = new ProgressBar({ write: () => true }, { speaks: false });
let folder: string;
const at = (...names: string[]) => join(folder, ...names);
/** The exit status and the last line. A run is stopped when it has written a conversation. */
const own = async (args: string[], out?: string) => {
  const written = () => existsSync(at(out!, 'trajectories.jsonl')) && readFileSync(at(out!, 'trajectories.jsonl'), 'utf8').includes('\n');
  const { code, stderr } = await timedMua(['train', ...args], NODE, out === undefined ? undefined : written);
  return [code, stderr.trimEnd().split('\n').at(-1)];
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mua-own-'));
  await mkdir(at('data'));
  const page = await readFile('docs/domains.md', 'utf8');
  const [db, tasks] = [...page.matchAll(/```json\n(.*?)\n```/gs)].map(([, json]) => json!);
  await writeFile(at('data', 'db.json'), db!);
  await writeFile(at('data', 'tasks.json'), tasks!);
  await writeFile(at('data', 'policy.md'), POLICY);
});
afterAll(() => rm(folder, { recursive: true }));

test('a run trains on them, and goes on only while they are the same', async () => {
  const data = ['--rules', 'tau2', '--domain', 'mock', '--data', at('data')];
  const small = ['max_model_len=3072', 'n=2', 'train_batch_size=1', 'ppo_mini_batch_size=1', 'val_tasks=1', 'max_turns=2'];
  const flags = [...data, '--steps', '40', ...small.flatMap((one) => ['--set', one])];
  expect(await own([...flags, '--out', at('none')])).toEqual([1, expect.stringContaining('setting "train_split" is "train": tau2-mock has no such tasks; expected heldout')]); // prettier-ignore
  expect((await own([...flags, '--set', 'train_split=heldout', '--out', at('run')], 'run'))[0]).toBe(130);
  const [rollout] = (await readFile(at('run', 'trajectories.jsonl'), 'utf8')).split('\n');
  const { task, nodes } = JSON.parse(rollout!) as { task: { id: string }; nodes: { text: string }[] };
  expect(task.id).toBe('tau2-mock/full/heldout/mine');
  expect(nodes[0]!.text).toContain(POLICY);
  // A change of one letter does not change the size.
  await writeFile(at('data', 'policy.md'), POLICY.replace('each', 'Each'));
  const changed = [2, expect.stringContaining(`"${at('data')}": its files are not those with which the run was started`)];
  const status = await readFile(at('run', 'status.json'), 'utf8');
  expect(await own(['--resume', at('run')])).toEqual(changed);
  expect(await readFile(at('run', 'status.json'), 'utf8')).toBe(status);
  await writeFile(at('data', 'policy.md'), POLICY);
  expect((await own(['--resume', at('run')], 'run'))[0]).toBe(130);
});

test('a run trains on a scenario file, goes on without it, and its model is evaluated without it', async () => {
  const file = at('lockers.json');
  const change = (policy: string) => writeFile(file, JSON.stringify({ ...(toyScenario() as object), policy: [policy] }));
  await change('Ask before you change anything.');
  const text = await readFile(file, 'utf8');
  const run = at('lockers');
  const small = ['n=2', 'train_batch_size=1', 'ppo_mini_batch_size=1', 'val_tasks=0', 'max_turns=1', 'save_freq=1', 'response_length_one_turn=8']; // prettier-ignore
  const flags = ['--world', file, '--level', 'hard', '--steps', '12', ...small.flatMap((one) => ['--set', one])];
  expect(await own([...flags, '--set', 'domain=retail', '--out', at('x')])).toEqual([2, expect.stringContaining('--set domain=retail is given')]); // prettier-ignore
  const isSaved = () => existsSync(join(run, 'status.json')) && readFileSync(join(run, 'status.json'), 'utf8').includes('checkpoint-1.');
  expect((await timedMua(['train', ...flags, '--out', run], NODE, isSaved)).code).toBe(130);
  const rollouts = async () =>
    (await readFile(join(run, 'trajectories.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { task: { id: string }; nodes: { text: string }[] });
  const before = await rollouts();
  expect(before[0]!.task.id).toMatch(/^lockers@[0-9a-f]{8}\/hard\/train\//);
  expect(before[0]!.nodes[0]!.text).toContain('- Ask before you change anything.');
  expect(await readFile(join(run, 'scenario.json'), 'utf8')).toBe(text);

  await change('Ask before you change nothing.');
  const hashes = /lockers\.json" has the hash [0-9a-f]{64}: expected [0-9a-f]{64}, that of the scenario which was played before$/;
  expect(await own(['--resume', run, '--world', file])).toEqual([2, expect.stringMatching(hashes)]);
  await rm(file);
  expect((await own(['--resume', run]))[0]).toBe(0);
  expect((await rollouts()).length).toBeGreaterThanOrEqual(12 * 2);
  const { code, stdout, stderr } = await timedMua(['evaluate', '--model', run, '--tasks', '1', '--set', 'max_turns=1', '--json'], NODE);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(`playing ${before[0]!.task.id.split('/')[0]!}, on which the model was trained`),
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ tasks: 1 });
});

test('a run trains on the compact form of BFCL', async () => {
  for (const [path, text] of Object.entries(bfclFixture)) {
    await mkdir(dirname(at('bfcl', path)), { recursive: true });
    await writeFile(at('bfcl', path), text);
  }
  const small = ['train_split=heldout', 'n=2', 'train_batch_size=1', 'ppo_mini_batch_size=1', 'val_tasks=0', 'response_length_one_turn=16'];
  const data = ['--rules', 'bfcl', '--data', at('bfcl'), '--level', 'compact', '--model', 'models/nano-retail'];
  const settings = small.flatMap((one) => ['--set', one]);
  expect((await own([...data, '--steps', '1', ...settings, '--out', at('compact')]))[0]).toBe(0);
  const [rollout] = (await readFile(at('compact', 'trajectories.jsonl'), 'utf8')).split('\n');
  const { task, nodes } = JSON.parse(rollout!) as { task: { level: string }; nodes: { text: string }[] };
  expect(task.level).toBe('compact');
  // Bare signatures instead of JSON schemas.
  expect(nodes[0]!.text).toMatch(/^(cat\(file_name\)|get_account_info\(\)|ls\(\))/m);
  expect(nodes[0]!.text).not.toContain('"parameters"');
});

test('a domain or a level without its files, or of other files, is refused before any work', async () => {
  const refused = (...args: string[]) => expect(train.run(readFlags([...args, '--out', at('x')], train.flags), silent)).rejects;
  const mock = ['--rules', 'tau2', '--domain', 'mock', '--data', at('data')];
  for (const [args, message] of [
    [['--domain', 'mock'], '--domain is given: expected --rules and --data with it, or --set domain=NAME'],
    [['--level', 'compact'], '--level is given: expected --rules and --data with it, or --set level=NAME'],
    [[...mock, '--level', 'compact'], '--level is "compact": expected full for the tasks of --data'],
    [[...mock, '--level', 'full', '--set', 'level=full'], '--level and --set level=… are given'],
    [['--data', at('data')], '--data is given: expected --rules'],
  ] as const)
    await refused(...args).toThrow(message);
});
