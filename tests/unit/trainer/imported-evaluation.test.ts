/** Evaluations from files: pass^k, pairs, the world of a benchmark, and filters of exports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callsOf } from '../../../src/base/message-path.ts';
import { importBenchmarks } from '../../../src/benchmarks/import/import.ts';
import { exportRun } from '../../../src/cli/run-export.ts';
import { report } from '../../../src/cli/commands/report.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { reportPaths } from '../../../src/cli/report.ts';
import { readForeign, readForeignFiles } from '../../../src/formats/read-foreign.ts';
import { comparedWith, endingsOf, importedEvaluations } from '../../../src/trainer/imported-evaluation.ts';

const SHARED = '../shared/data';
const RECORDED = `${SHARED}/recorded/tau1_airline_gpt-4o.json`;
const present = existsSync(RECORDED);
if (!present) console.warn(`SKIPPED: recorded results are not at ${RECORDED} beside the repository`);
const options = { source: 'S', name: 'm', createdAt: 1 };
const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));

/** Inspect's log with the scores of each epoch, by task. */
const inspect = (scores: Record<string, (number | null)[]>) => ({
  version: 2,
  status: 'success',
  eval: { task: 't' },
  samples: Object.entries(scores).flatMap(([id, values]) =>
    values.map((value, i) => ({
      id,
      epoch: i + 1,
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Ho' },
      ],
      ...(value === null ? { error: { message: 'the server was gone' } } : { scores: { match: { value } } }),
      ...(i === 1 && { limit: { type: 'time', limit: 9 } }),
    })),
  ),
});

test('epochs of Inspect are trials: pass^k by hand, failures left out', async () => {
  const file = await readForeign('log.json', bytes(inspect({ a: [1, 1, 0], b: [1, 0, 0], c: [1, null, 1] })));
  expect(file.trials).toBe(true);
  const [evaluation] = importedEvaluations(file.rollouts, options);
  const { report, results, foreign } = evaluation!.row;
  // a: 2 of 3, b: 1 of 3, c: 2 of 2. pass^2: C(2,2)/C(3,2) = 1/3, 0, 1. Task c has too few trials for pass^3.
  expect(report.pass_hat.map(({ k, value }) => [k, value])).toEqual([
    [1, expect.closeTo((2 / 3 + 1 / 3 + 1) / 3, 12)],
    [2, expect.closeTo((1 / 3 + 0 + 1) / 3, 12)],
    [3, 0],
  ]);
  expect(report).toMatchObject({ tasks: 3, trials: 3, unscored: 1, violations: null });
  expect(results.map(({ task, index, reward }) => `${task} ${index} ${reward}`)).toContain('c 1 null');
  expect(foreign).toEqual({ source: 'S', success: 'reward>=1' });
  expect(endingsOf(evaluation!)).toEqual({ unknown: 6, 'time limit': 3 });
});

test('a file may have more tasks than a function of JavaScript has arguments', async () => {
  const { rollouts } = await readForeign('log.json', bytes(inspect({ a: [1, 0] })));
  const many = Array.from({ length: 125_000 }, (_, i) => {
    const { trajectory, ...rollout } = rollouts[i % 2]!;
    const name = `task ${Math.max(1, i)}`; // the first two are trials of one task
    return { ...rollout, trajectory: { ...trajectory, task: { ...trajectory.task, id: name } } };
  });
  const [{ row }] = importedEvaluations(many, options) as [ReturnType<typeof importedEvaluations>[number]];
  expect(row.settings).toMatchObject({ tasks: 124_999, trials: 2 });
});

test('two evaluations are paired by task and number', async () => {
  const read = async (scores: Record<string, (number | null)[]>) =>
    importedEvaluations((await readForeign('log.json', bytes(inspect(scores)))).rollouts, options)[0]!;
  const [before, after] = [await read({ a: [0, 0], b: [1, 0] }), await read({ b: [1, 1], a: [1, 0], other: [1, 1] })];
  expect(comparedWith(before, after)).toMatchObject({ tasks: 2, before: 0.25, after: 0.75, difference: 0.5, better: 2, worse: 0 });
  expect(comparedWith(before, await read({ other: [1] }))).toBeNull();
});

test('trials without numbers are numbered, and a shaped reward needs a rule', async () => {
  const row = (reward: number, solved?: boolean) =>
    JSON.stringify({ task: 't', messages: [{ role: 'user', content: 'Hi' }], reward, solved });
  const { rollouts } = await readForeign('chats.jsonl', bytes([row(0.5, true), row(0.7, false)].join('\n')));
  const [found] = importedEvaluations(rollouts, options);
  expect(found!.row.results.map(({ index, reward }) => [index, reward])).toEqual([
    [0, 1],
    [1, 0],
  ]);
  expect(importedEvaluations(rollouts, { ...options, success: 'reward>=0.6' })[0]!.row.results.map(({ reward }) => reward)).toEqual([0, 1]);
});

test('a folder of mua evaluate: one evaluation for each customer, the model of status.json, replaced lines left out', async () => {
  const run = (await readForeign('log.json', bytes(inspect({ a: [1, 0] })))).rollouts.map(({ trajectory }) => {
    const { foreign: _, ...own } = trajectory;
    return JSON.stringify(own);
  });
  const files = {
    'status.json': JSON.stringify({ command: 'evaluate', settings: { flags: { model: '/models/my-model' } } }),
    'result.json': '{}',
    'trajectories-1.jsonl': run.join('\n'),
    'trajectories-2.jsonl': run[0]!,
    'superseded-trajectories-1.jsonl': run[1]!,
  };
  const read = (own: Record<string, string>) =>
    readForeignFiles(Object.entries(own).map(([name, text]) => ({ name, read: () => Promise.resolve(bytes(text)) })));
  const file = await read(files);
  expect(file).toMatchObject({ trials: true, model: 'my-model', notes: [], source: 'mua evaluate' });
  const found = importedEvaluations(file.rollouts, { ...options, name: file.model! });
  expect(found.map(({ row }) => [row.name, row.results.map(({ reward }) => reward), row.foreign])).toEqual([
    ['my-model, customer 1', [1, 0], { source: 'S' }],
    ['my-model, customer 2', [1], { source: 'S' }],
  ]);
  const served = JSON.stringify({ settings: { flags: { agent: 'http://127.0.0.1:8000/v1', agentModel: 'org/served' } } });
  expect(await read({ ...files, 'status.json': served, 'dump.jsonl': '{}' })).toMatchObject({
    model: 'org/served',
    notes: ['left out: dump.jsonl: mua evaluate did not write it into this folder'],
  });
});

describe('mua report and mua export-run', () => {
  const folder = mkdtemp(join(tmpdir(), 'mua-report-'));
  const file = async (name: string, value: unknown) => {
    const path = join(await folder, name);
    await writeFile(path, bytes(value));
    return path;
  };

  test('a rule is asked for where the file does not say the success', async () => {
    const rows = [0.2, 0.9].map((reward) => JSON.stringify({ task: 't', messages: [{ role: 'user', content: 'Hi' }], reward })).join('\n');
    const path = await file('shaped.jsonl', rows);
    await expect(reportPaths(path, {})).rejects.toThrow('does not say which conversations succeeded: expected --success RULE');
    const { reports } = await reportPaths(path, { success: 'reward>=0.5' });
    expect(reports[0]).toMatchObject({ name: 'shaped', success: 'reward>=0.5', tasks: 1, trials: 2, ended: { unknown: 2 } });
    expect(reports[0]!.pass_hat[0]!.value).toBe(0.5);
  });

  test('folders with several customers: a difference only with --against, with the names of the two that were compared', async () => {
    for (const [name, scores] of Object.entries({ before: [0, 0], after: [1, 0] })) {
      await mkdir(join(await folder, name));
      const trials = (await readForeign('log.json', bytes(inspect({ x: scores })))).rollouts.map(({ trajectory }) => {
        const { foreign: _, ...own } = trajectory;
        return JSON.stringify(own);
      });
      for (const customer of [1, 2]) await file(join(name, `trajectories-${customer}.jsonl`), trials.join('\n'));
    }
    const [before, after] = [join(await folder, 'before'), join(await folder, 'after')];
    const lines = async (against?: string) => {
      const flags = { path: after, json: undefined, against, success: undefined, data: undefined };
      return report.show(await report.run(flags as never, new ProgressBar({ write: () => {} })));
    };
    expect((await lines()).filter((line) => !line.startsWith(' '))).toEqual([
      'after, customer 1, from mua evaluate',
      'after, customer 2, from mua evaluate',
    ]);
    // One task: 1 of 2 trials succeeded instead of 0.
    expect((await lines(before)).at(-1)).toMatch(/^after, customer 1 − before, customer 1: \+50\.0 points/);
  });

  test('--against, --min-reward and --successes', async () => {
    const [a, b] = [await file('a.json', inspect({ x: [0, 1], y: [0, 0] })), await file('b.json', inspect({ x: [1, 1], y: [1, 0] }))];
    expect((await reportPaths(b, { against: a })).difference).toMatchObject({ before: 0.25, after: 0.75 });
    const lines = async (given: object) => (await exportRun(b, 'chat', 'out.jsonl', given)).lines;
    expect([await lines({}), await lines({ successes: true }), await lines({ minReward: 0.5 })]).toEqual([4, 3, 3]);
    await expect(lines({ minReward: 2 })).rejects.toThrow('none of the 4 conversations is kept');
    await expect(exportRun(b, 'chat', 'out.jsonl', { success: null, successes: true })).rejects.toThrow('expected --success RULE');
    await rm(await folder, { recursive: true });
  });
});

describe.skipIf(!present)('recorded results of tau-bench (skipped without the reference data)', () => {
  const worldsOf = (data: string) => async (benchmark: string) => {
    const folder = `${SHARED}/${data}`;
    const files = readdirSync(folder).map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))] as const);
    return (await importBenchmarks(files)).filter((one) => one.benchmark === benchmark).map((imported) => ({ id: 'w', imported }));
  };
  const worlds = worldsOf('tau-bench/airline');
  const read = async (load?: typeof worlds) => readForeign('tau1_airline_gpt-4o.json', new Uint8Array(await readFile(RECORDED)), load);

  test('pass^1 to pass^4 are those that tau-bench publishes for gpt-4o', async () => {
    const { rollouts, trials } = await read();
    expect(trials).toBe(true);
    const { pass_hat } = importedEvaluations(rollouts, options)[0]!.row.report;
    expect(pass_hat.map(({ value }) => value.toFixed(3))).toEqual(['0.420', '0.273', '0.220', '0.200']);
  });

  test('with the data: policy, instruction, tools, changes, and the rewards of the original code', async () => {
    const { rollouts } = await read(worlds);
    const { trajectories: wanted } = JSON.parse(await readFile(`${SHARED}/expected/tau1_airline_gpt4o_rescored.json`, 'utf8')) as {
      trajectories: {
        task_id: number;
        trial: number;
        recorded_reward: number;
        rescored_reward: number;
        observations: { name: string }[];
      }[];
    };
    const rewards = new Map(
      importedEvaluations(rollouts, options)[0]!.trials.map(({ task, index, foreign }) => [
        `${task.id.split('/').at(-1)} ${index}`,
        foreign!.columns!.rescored_reward,
      ]),
    );
    expect(wanted).toHaveLength(100);
    expect(wanted.map(({ task_id, trial }) => rewards.get(`${task_id} ${trial}`))).toEqual(
      // The reference asked a second time where a transfer had already been scored. That compares gold with gold.
      wanted.map((own) => (own.observations.at(-1)?.name === 'transfer_to_human_agents' ? own.recorded_reward : own.rescored_reward)),
    );
    const recorded = JSON.parse(await readFile(RECORDED, 'utf8')) as { info: { task: { instruction: string } } }[];
    expect(rollouts.map(({ trajectory: { task } }) => task.scenario.instruction)).toEqual(
      recorded.map(({ info }) => info.task.instruction),
    );
    const first = rollouts[0]!.trajectory;
    expect(first.nodes[0]).toMatchObject({ role: 'system', text: readFileSync(`${SHARED}/tau-bench/airline/wiki.md`, 'utf8') });
    expect(first.task.domain).toBe('tau1-airline');
    // A cancelled reservation is a changed row of the call that cancelled it.
    const cancelled = rollouts.flatMap(({ trajectory: { nodes } }) =>
      nodes.flatMap((node, i) => {
        const [call] = callsOf(node);
        const result = nodes[i + 1]?.toolResult;
        return call?.name === 'cancel_reservation' && result && !nodes[i + 1]!.text.startsWith('Error') ? [{ call, result }] : [];
      }),
    );
    expect(cancelled.length).toBeGreaterThan(20);
    for (const { call, result } of cancelled)
      expect(result.changes).toContainEqual(
        expect.objectContaining({
          table: 'reservations',
          key: call.arguments.reservation_id,
          after: expect.objectContaining({ status: 'cancelled' }) as unknown,
        }),
      );
  });

  test('tau2-bench: gold calls reach the goal, a customer’s words are the task’s, another benchmark’s data is not used', async () => {
    type Task = { id: string; evaluation_criteria: { actions: { name: string; arguments: object }[] } };
    const tasks = JSON.parse(await readFile(`${SHARED}/tau2-bench/mock/tasks.json`, 'utf8')) as Task[];
    const { id, evaluation_criteria } = tasks.find((own) => own.id === 'create_task_1')!;
    const simulation = (reward: number, calls: { name: string; arguments: object }[]) => ({
      task_id: id,
      trial: reward,
      termination_reason: 'user_stop',
      reward_info: { reward, reward_breakdown: { DB: reward } },
      messages: [
        { role: 'user', content: 'Hi' },
        ...calls.flatMap((call, i) => [
          { role: 'assistant', tool_calls: [{ id: String(i), ...call }] },
          { role: 'tool', id: String(i), content: 'not what the tool says' },
        ]),
      ],
    });
    const file = { tasks, simulations: [simulation(1, evaluation_criteria.actions), simulation(0, [])] };
    const load = worldsOf('tau2-bench/mock');
    const { rollouts, notes } = await readForeign('results.json', bytes(file), load);
    expect(rollouts.map(({ trajectory: { verdict, foreign } }) => [verdict!.reward, foreign!.columns!.rescored_reward])).toEqual([
      [1, 1],
      [0, 0],
    ]);
    const [right, wrong] = rollouts.map(({ trajectory }) => trajectory);
    expect(right!.nodes.flatMap(({ toolResult }) => toolResult?.changes ?? [])).toEqual(right!.verdict!.goal);
    expect(wrong!.verdict!.goal).toHaveLength(right!.verdict!.goal.length);
    expect(right!.verdict!.goal.length).toBeGreaterThan(0);
    expect(notes).toEqual(['in 1 of 2 conversations the imported data answers a call differently']);
    const { trajectory } = (await readForeign('results.json', bytes(file), worlds)).rollouts[0]!;
    expect([trajectory.task.domain, trajectory.verdict]).toEqual(['imported', null]);
  });

  test('chat keeps policy and tools', async () => {
    const { content, lines } = await exportRun(RECORDED, 'chat', 'out.jsonl', { data: `${SHARED}/tau-bench/airline`, successes: true });
    expect(lines).toBe(84); // 42 % of 200
    const row = JSON.parse(new TextDecoder().decode(content).split('\n')[0]!) as { messages: { role: string }[]; tools: unknown[] };
    expect(row.messages[0]!.role).toBe('system');
    expect(row.tools).toHaveLength(14);
  });
});
