/** The report of an evaluation: means and intervals over tasks. */
import { expect, test } from 'vitest';
import { evaluate } from '../../../src/evaluation/evaluate.ts';
import { UserError } from '../../../src/users/types.ts';
import { ReplayUser, stage, task } from '../../support/episodes.ts';

const cancel = '<tool_call>\n{"name": "cancel_pending_order", "arguments": {"order_id": "#W1234567"}}\n</tool_call>';

test('TCR is the mean over tasks of the mean share over trials', async () => {
  const shares = [1, 0.5, 0.25, 0.25];
  const { options, environments } = stage({ agent: Array.from({ length: 4 }, () => [cancel, 'Done.<|im_end|>']).flat(), user: [] });
  environments.verify = async () => {
    const progress = shares.shift()!;
    return { reward: progress === 1 ? (1 as const) : (0 as const), changes: [], goal: [], progress };
  };
  const users = new ReplayUser(Array.from({ length: 4 }, () => ['Please cancel.', '###STOP###']).flat());
  const { report } = await evaluate(
    { ...options, users },
    {
      tasks: [task, { ...task, id: 'desk/nano/train/0/1', noop: true }],
      trials: 2,
      limits: options.limits,
      sampling: options.sampling,
      seed: 1,
      firstStream: 0,
      concurrency: 1,
    },
  );
  expect(report).toMatchObject({ tasks: 2, trials: 2, noop_tasks: 1, unscored: 0, terminations: { user_stop: 4 } });
  expect(report.tcr.value).toBe((0.75 + 0.25) / 2);
  expect(report.pass_hat.map(({ value }) => value)).toEqual([0.25, 0]);
});

test('one customer gives no information about others: the interval is all that is possible', async () => {
  const { options } = stage({ agent: [cancel, 'Done.<|im_end|>', cancel, 'Done.<|im_end|>'], user: [] });
  const users = new ReplayUser(['Please cancel.', '###STOP###', 'Please cancel.', '###STOP###']);
  const plan = { trials: 1, limits: options.limits, sampling: options.sampling, seed: 1, firstStream: 0, concurrency: 1 };
  const half = { ...task, id: 'desk/nano/train/0/1', scenario: { ...task.scenario, identity: { first_name: 'Mei', last_name: 'Li' } } };
  let verdicts = 0;
  options.environments.verify = async () => ({ reward: verdicts++ % 2 ? 1 : 0, changes: [], goal: [], progress: 0 });
  const { report } = await evaluate({ ...options, users }, { ...plan, tasks: [half, { ...half, id: 'desk/nano/train/0/2' }] });
  expect(report.pass_hat).toEqual([{ k: 1, value: 0.5, low: 0, high: 1 }]);
});

test('an episode that the customer broke is counted as unscored, and is no failure of the agent', async () => {
  const { options } = stage({ agent: [cancel, 'Done.<|im_end|>'], user: [] });
  // The first task is solved. The customer of the second never answers, in three tries.
  const dead = new UserError('nobody answers', 'network');
  const users = new ReplayUser(['Please cancel.', '###STOP###', dead, dead, dead]);
  const { report } = await evaluate(
    { ...options, users },
    {
      tasks: [task, { ...task, id: 'desk/nano/train/0/1' }],
      trials: 1,
      limits: options.limits,
      sampling: options.sampling,
      seed: 1,
      firstStream: 0,
      concurrency: 1,
    },
  );
  expect(report.pass_hat[0]!.value).toBe(1);
  expect(report).toMatchObject({ tasks: 2, unscored: 1, terminations: { user_stop: 1, user_error: 1 } });
});

test('each trial of a task draws its customer anew; two evaluations draw the same customers', async () => {
  const play = async () => {
    const { options } = stage({ agent: Array.from({ length: 6 }, () => [cancel, 'Done.<|im_end|>']).flat(), user: [] });
    const users = new ReplayUser(Array.from({ length: 6 }, () => ['Please cancel.', '###STOP###']).flat());
    const { trajectories } = await evaluate(
      { ...options, users },
      {
        tasks: [task, { ...task, id: 'desk/nano/train/0/1' }],
        trials: 3,
        limits: options.limits,
        sampling: options.sampling,
        seed: 1,
        firstStream: 0,
        concurrency: 1,
      },
    );
    return trajectories.map(({ userSeed }) => userSeed);
  };
  const seeds = await play();
  expect(new Set(seeds).size).toBe(6);
  expect(await play()).toEqual(seeds);
});
