/** Estimates beside the turns of a rollout: what is asked of the trainer, what is stored, and what is shown. */
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, test, vi } from 'vitest';
import EstimateBar from '../../src/app/conversation/estimates/EstimateBar.svelte';
import EstimateButton from '../../src/app/conversation/estimates/EstimateButton.svelte';
import Estimates from '../../src/app/conversation/estimates/Estimates.svelte';
import { Estimating } from '../../src/app/conversation/estimates/estimating.svelte.ts';
import { Library } from '../../src/app/library/library.ts';
import type { MessageNode, Trajectory } from '../../src/records/trajectory.ts';
import type { RunRow } from '../../src/records/run.ts';
import { RunDatabase } from '../../src/storage/database.ts';
import type { PlayRequest, Progress } from '../../src/trainer/messages.ts';
import { PRESETS } from '../../src/training/presets.ts';

const message = (id: number, role: MessageNode['role']): MessageNode => ({
  id,
  parent: id === 0 ? null : id - 1,
  role,
  text: `${role} ${id}`,
  tokens: [id],
  mask: [Number(role === 'assistant')],
  logprobs: [null],
});
const NODES = (['system', 'user', 'assistant', 'user', 'assistant'] as const).map((role, id) => message(id, role));
const TRAJECTORY = {
  id: '1-0-0',
  task: { id: 'retail/nano/train/0/0', domain: 'retail', level: 'nano' },
  seed: 7,
  nodes: NODES,
  leaf: 4,
  termination: 'user_stop',
  reward: 1,
} as unknown as Trajectory;
const RUN = {
  id: 'r',
  name: 'brisk-otter',
  createdAt: 1,
  step: 40,
  request: { model: 'nano-retail', user: { mode: 'scripted' } },
  config: PRESETS.nano!.config,
} as unknown as RunRow;

let close = async () => {};
afterEach(() => close());

/** @param answer the rewards of the rollouts of a request */
async function open(answer: (request: PlayRequest) => (0 | 1 | null)[] | Promise<never>, step = 1) {
  const database = new RunDatabase(`estimating ${expect.getState().currentTestName}`);
  const why = $state({ not: '' });
  const play = vi.fn(async (request: PlayRequest, progress: Progress) => {
    const rewards = await answer(request);
    return rewards.map((reward, index) => {
      progress(index + 1, rewards.length, 'rollouts');
      flushSync();
      return { ...TRAJECTORY, id: `play-${index}`, index, reward, termination: reward === null ? 'user_error' : 'user_stop' };
    });
  });
  const stopPlay = vi.fn(async () => {});
  const app = {
    client: { play, stopPlay, availability: () => why.not },
    library: new Library(database),
    settings: { user: { mode: 'scripted' } },
  };
  let estimating!: Estimating;
  const stop = $effect.root(() => {
    estimating = new Estimating(app as never, TRAJECTORY, () => ({ run: RUN, step }));
    // The queries run while something shows them.
    $effect(() => void [estimating.reason, estimating.missing]);
  });
  close = async () => {
    stop();
    await database.delete();
    close = async () => {};
  };
  await expect.poll(() => estimating.reason).not.toMatch(/Looking/);
  return { estimating, play, stopPlay, why, app, branches: () => database.branches.toArray() };
}

test('eight rollouts from before the turn are stored, and a new page shows the estimate without sampling', async () => {
  const { estimating, play, app, branches } = await open(() => [1, 0, 1, 1, 0, 1, 1, 0]);
  expect(estimating.missing).toEqual([2, 4]);
  await estimating.estimate([4]);
  expect(play).toHaveBeenCalledOnce();
  const [request] = play.mock.calls[0]!;
  expect(request).toMatchObject({ n: 8, model: { kind: 'model', name: 'nano-retail' }, seed: 7, simulator: { mode: 'scripted' } });
  expect(request.prefix!.nodes.map(({ id }) => id)).toEqual([0, 1, 2, 3]);
  const rows = await branches();
  expect(new Set(rows.map(({ batch }) => batch)).size).toBe(1);
  expect(rows[0]).toMatchObject({
    origin: 'r/1-0-0',
    shared: 4,
    model: 'nano-retail',
    estimate: { weights: 'nano-retail', customer: 'scripted' },
  });
  await expect.poll(() => estimating.of(4)).toMatchObject({ correct: 5, of: 8 });
  expect([estimating.of(2), estimating.missing, estimating.running]).toEqual([undefined, [2], null]);

  let again!: Estimating;
  const stop = $effect.root(() => {
    again = new Estimating(app as never, TRAJECTORY, () => ({ run: RUN, step: 1 }));
    $effect(() => void again.missing);
  });
  await expect.poll(() => again.of(4)).toMatchObject({ correct: 5, of: 8 });
  expect(play).toHaveBeenCalledOnce();
  stop();
});

test('more rollouts have other random streams, and the estimate counts all', async () => {
  const { estimating, play } = await open(() => [1, 1, 1, 1, 1, 1, 1, 1]);
  await estimating.estimate([2]);
  await estimating.estimate([2]);
  const [first, second] = play.mock.calls.map(([{ stream }]) => stream);
  expect(second! - first!).toBe(8);
  await expect.poll(() => estimating.of(2)).toMatchObject({ correct: 16, of: 16 });
});

test('all turns, one after another, until it is stopped: finished turns stay, the turn under way is not stored', async () => {
  let fail = (_: Error) => {};
  const { estimating, stopPlay, play } = await open(({ prefix }) =>
    prefix!.nodes.length === 2 ? [1, 1, 0, 0, 1, 1, 0, 0] : new Promise((_, reject) => (fail = reject)),
  );
  const work = estimating.estimate(estimating.missing);
  await vi.waitFor(() => expect(play).toHaveBeenCalledTimes(2));
  expect(estimating.running).toMatchObject({ node: 4, turn: 2, turns: 2 });
  await estimating.estimate([2]);
  expect(play).toHaveBeenCalledTimes(2);
  const stopped = estimating.stop();
  expect(stopPlay).toHaveBeenCalledOnce();
  fail(new Error('stopped'));
  await Promise.all([work, stopped]);
  await expect.poll(() => estimating.of(2)).toMatchObject({ correct: 4, of: 8 });
  expect([estimating.of(4), estimating.running, estimating.problem]).toEqual([undefined, null, '']);
});

test('an error and a failed customer are told', async () => {
  const answers = [() => Promise.reject(new Error('out of memory')), () => [1, null, 1, 1, 1, 1, 1, 1] as (1 | null)[]];
  const { estimating } = await open(() => answers.shift()!() as never);
  await estimating.estimate([2]);
  expect(estimating.problem).toBe('out of memory');
  await estimating.estimate([2]);
  expect(estimating.problem).toContain('user_error');
  await expect.poll(() => estimating.of(2)).toMatchObject({ correct: 7, of: 7 });
});

test('why there can be no estimate: the weights are not stored, or the GPU is used', async () => {
  const { estimating, play } = await open(() => [], 5);
  expect(estimating.reason).toBe('The weights of this run are not in this browser, so no rollouts can be sampled.');
  await estimating.estimate([2]);
  expect(play).not.toHaveBeenCalled();
  await close();
  const first = await open(() => [], 1);
  expect(first.estimating.reason).toBe('');
  first.why.not = 'A run trains in this tab and uses the GPU. Stop the run first.';
  expect(first.estimating.reason).toBe(first.why.not);
});

test('the page shows number, interval and weights; disabled buttons say why', async () => {
  const { estimating, why } = await open(() => [1, 0, 1, 1, 0, 1, 1, 0]);
  const target = document.body.appendChild(document.createElement('div'));
  const shown: object[] = [
    mount(Estimates, { target, props: { estimating, step: 1, reasonId: 'why' } }),
    mount(EstimateButton, { target, props: { estimating, node: 2, turn: 1, reasonId: 'why' } }),
  ];
  flushSync();
  const text = (part: string) => target.querySelector(`[data-part=${part}]`)!.textContent.replace(/\s+/g, ' ').trim();
  expect(text('estimates')).toContain('nano-retail: the weights that sampled this rollout');
  expect(text('estimates')).toContain('2 turns without an estimate.');
  const button = () => target.querySelector<HTMLButtonElement>('[data-part=estimate-button]')!;
  expect(button().textContent.trim()).toBe('Estimate from here, turn 1');
  button().click();
  await expect.poll(() => button().textContent.trim()).toBe('8 more rollouts, turn 1');
  shown.push(mount(EstimateBar, { target, props: { estimate: estimating.of(2)!, nearest: estimating.nearest } }));
  flushSync();
  expect(text('turn-estimate')).toBe('5 of 8 correct from here 95 % interval 31 % to 86 %');
  expect(text('estimates')).toContain('1 turn without an estimate.');
  why.not = 'Another tab trains a run and uses the GPU.';
  flushSync();
  expect([button().disabled, button().getAttribute('aria-describedby')]).toEqual([true, 'why']);
  expect(target.querySelector('#why')!.textContent).toBe(why.not);
  for (const one of shown) void unmount(one);
  target.remove();
});
