/** Branches in the database: found by their origin, for any id, and deleted with it. */
import 'fake-indexeddb/auto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Library } from '../../../src/app/library/library.ts';
import { BRANCHES, writeOrigin } from '../../../src/app/library/origin.ts';
import { parseFrom, writeFrom } from '../../../src/app/branches/play-origin.ts';
import type { BranchRow } from '../../../src/records/branch.ts';
import type { EvaluationRow } from '../../../src/records/evaluation.ts';
import type { RunRow } from '../../../src/records/run.ts';
import { RunDatabase } from '../../../src/storage/database.ts';

let db: RunDatabase;
let library: Library;
beforeEach(() => {
  db = new RunDatabase('play-storage');
  library = new Library(db);
});
afterEach(() => db.delete());

const run = (id: string) =>
  ({ id, name: `run ${id}`, createdAt: 1, request: { model: 'm' }, config: { domain: 'retail', max_turns: 5 } }) as unknown as RunRow;
const trajectory = (id: string) =>
  ({
    id,
    task: { id: 't', domain: 'retail', level: 'nano' },
    leaf: 0,
    nodes: [{ id: 0, parent: null, role: 'system', text: '', tokens: [1], mask: [0], logprobs: [] }],
  }) as unknown as BranchRow['trajectory'];
const branch = (id: string, origin: string) =>
  db.branches.add({
    id,
    createdAt: 1,
    origin,
    shared: 1,
    batch: '',
    model: 'm',
    trajectory: trajectory(id),
    conversation: { messages: [] },
  });

/** Two runs with one rollout and one branch each. Joined with a slash, their ids would give the same text. */
async function store(): Promise<void> {
  for (const [place, id] of [
    ['a', 'b/c'],
    ['a/b', 'c'],
  ] as const) {
    await db.runs.add(run(place));
    await db.trajectories.add({ ...trajectory(id), run: place });
    await branch(`of ${place}`, writeOrigin({ place, id }));
  }
}

test('ids with slashes, commas, percent and at signs are found by their address, and so are their branches', async () => {
  for (const place of ['a/b', 'a,b@3', '100%', 'task:x']) {
    await db.runs.add(run(place));
    await db.trajectories.add({ ...trajectory('c/d@1,e'), run: place });
    const { place: named, id } = parseFrom(writeFrom({ place, id: 'c/d@1,e', node: 0 }))!;
    const found = await library.conversation({ place: named, id });
    expect([found.run!.id, found.trajectory.id]).toEqual([place, 'c/d@1,e']);
    await branch(`of ${place}`, found.origin);
    const branched = await library.conversation({ place: BRANCHES, id: `of ${place}` });
    expect([branched.run!.id, branched.branchedOff!.label]).toEqual([place, `run ${place}, rollout c/d@1,e`]);
    expect((await library.collectRun(place)).branches.map(({ rollout }) => rollout)).toEqual(['c/d@1,e']);
  }
  await branch('anew', 'task:x/y');
  expect((await library.conversation({ place: BRANCHES, id: 'anew' })).branchedOff).toBeNull();
});

test('deleting a run deletes its branches, also from the training set, and no other branches', async () => {
  await store();
  await branch('anew', 'task:a/nano/train/1/0');
  await library.delete({ kind: 'run', id: 'a' });
  expect(await db.branches.toCollection().primaryKeys()).toEqual(['anew', 'of a/b']);
  await library.delete({ kind: 'run', id: 'a/b' });
  expect(await db.branches.toCollection().primaryKeys()).toEqual(['anew']);
});

test('deleting an evaluation deletes its branches, alone or with its run', async () => {
  const evaluation = (id: string, of: string) => db.evaluations.add({ id, run: of } as EvaluationRow);
  await evaluation('r@20', 'r');
  await evaluation('other', '');
  await branch('trial', writeOrigin({ place: 'r@20', id: 'eval-0-0' }));
  await branch('alone', writeOrigin({ place: 'other', id: 'eval-0-0' }));
  await library.delete({ kind: 'evaluation', id: 'other' });
  expect(await db.branches.toCollection().primaryKeys()).toEqual(['trial']);
  await library.delete({ kind: 'run', id: 'r' });
  expect(await db.branches.count()).toBe(0);
});
