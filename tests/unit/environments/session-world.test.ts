/** @file A world that is no table: asynchronous calls, their order and numbers, faults, verdicts and errors. */
import { describe, expect, it } from 'vitest';
import { OUTAGE } from '../../../src/environments/faults.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { counterDomain, counterTask, RESET } from '../../support/session-world/counter.ts';

const environments = (replays = true) => createEnvironments({ domains: [counterDomain(replays)], inMemory: true });
const add = (by: number) => ({ name: 'add', arguments: { by } });

describe('the environment', () => {
  it('runs calls made at the same time one after another, and numbers them from 0', async () => {
    const world = environments();
    const episode = await world.start(counterTask(6));
    const results = await Promise.all([add(1), add(2), add(3)].map((call) => world.call(episode, call)));
    expect(results).toEqual(
      [1, 3, 6].map((value, index) => ({
        index,
        text: String(value),
        error: false,
        changes: [{ table: 'counter', key: 'value', before: [0, 1, 3][index], after: value, call: index }],
        terminal: false,
      })),
    );
    expect(await world.verify(episode)).toMatchObject({ reward: 1 });
    await world.call(episode, add(1));
    expect(await world.verify(episode)).toMatchObject({ reward: 0 });
    expect(await world.call(episode, { name: 'stop', arguments: {} })).toEqual({
      index: 4,
      text: 'stopped at 7',
      error: false,
      changes: [],
      terminal: true,
    });
  });

  it('keeps episodes apart, and makes an error result of a tool that throws', async () => {
    const world = environments();
    const [one, other] = await Promise.all([world.start(counterTask(1)), world.start(counterTask(1))]);
    await world.call(one, add(1));
    expect(await world.verify(other)).toMatchObject({ reward: 0 });
    const unknown = { name: 'reset', arguments: {} };
    expect(await world.call(one, unknown)).toMatchObject({ index: 1, text: 'Error: no tool reset with these arguments', error: true });
    expect(await world.turn(one, 0)).toBeNull();
    expect(await world.turn(one, 1)).toEqual({ tools: [RESET] });
    expect(await world.call(one, unknown)).toMatchObject({ index: 2, text: '0', error: false });
  });

  it('has outages, but none of a terminal tool, and refuses stale reads', async () => {
    const world = environments();
    const faults = { outages: 1, stale_reads: 0, timeouts: 0 };
    const episode = await world.start({ ...counterTask(0), faults });
    expect(await world.call(episode, add(1))).toEqual({ index: 0, text: OUTAGE, error: true, changes: [], terminal: false });
    expect(await world.call(episode, { name: 'stop', arguments: {} })).toMatchObject({ text: 'stopped at 0', terminal: true });
    await expect(world.start({ ...counterTask(0), faults: { outages: 0, stale_reads: 0.5, timeouts: 0 } })).rejects.toThrow(
      "task.faults.stale_reads is 0.5: expected 0, because 'counter' has no tables",
    );
  });

  it('names an unknown level, and an episode that is unknown or closed', async () => {
    const world = environments();
    await expect(world.start({ ...counterTask(0), level: 'two' })).rejects.toThrow("task.level: 'two' is unknown; expected one of one");
    const episode = await world.start(counterTask(0));
    await world.close(episode);
    for (const id of [episode, 'nothing'])
      for (const request of [world.call(id, add(1)), world.turn(id, 0), world.verify(id)])
        await expect(request).rejects.toThrow(`episode: '${id}' does not exist or was closed`);
  });

  it("tells the world's promises with its domain", async () => {
    expect(await environments(false).domain('counter', 'one')).toMatchObject({ promises: { replays: false } });
  });
});
