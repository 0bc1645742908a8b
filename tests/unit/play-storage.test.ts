/** Branches in the database: found by what they branched off, whatever its id is, and deleted with it. */
import 'fake-indexeddb/auto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { collectRun } from '../../src/app/share/collect.ts';
import { deleteEvaluation, deleteRun } from '../../src/app/logic/delete-run.ts';
import { BRANCHES, parseFrom, writeFrom } from '../../src/app/logic/play-origin.ts';
import { findConversation } from '../../src/app/logic/stored-conversation.ts';
import { type BranchRow, type EvaluationRow, RunDatabase, type RunRow } from '../../src/storage/database.ts';
import { writeOrigin } from '../../src/storage/origin.ts';

let db: RunDatabase;
beforeEach(() => (db = new RunDatabase('play-storage')));
afterEach(() => db.delete());

const run = (id: string) => ({ id, name: `run ${id}`, createdAt: 1, request: { model: 'm' }, config: { max_turns: 5 } }) as unknown as RunRow;
const trajectory = (id: string) => ({ id, task: { id: 't', domain: 'retail', level: 'nano' }, leaf: 0, nodes: [{ id: 0, parent: null, role: 'system', text: '', tokens: [1], mask: [0], logprobs: [] }] }) as unknown as BranchRow['trajectory'];
const branch = (id: string, origin: string) => db.branches.add({ id, createdAt: 1, origin, shared: 1, batch: '', model: 'm', trajectory: trajectory(id), conversation: { messages: [] } });

/** Two runs whose ids, joined with a slash, would be one text; a rollout each, a branch each. */
async function store(): Promise<void> {
  for (const [place, id] of [['a', 'b/c'], ['a/b', 'c']] as const) {
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
    const found = await findConversation(db, named, id);
    expect([found.run!.id, found.trajectory.id]).toEqual([place, 'c/d@1,e']);
    await branch(`of ${place}`, found.origin);
    const branched = await findConversation(db, BRANCHES, `of ${place}`);
    expect([branched.run!.id, branched.branchedOff!.label]).toEqual([place, `run ${place}, rollout c/d@1,e`]);
    expect((await collectRun(db, place)).branches.map(({ rollout }) => rollout)).toEqual(['c/d@1,e']);
  }
  await branch('anew', 'task:x/y');
  expect((await findConversation(db, BRANCHES, 'anew')).branchedOff).toBeNull();
});

test('a run takes its branches with it, out of the training set too, and no other’s', async () => {
  await store();
  await branch('anew', 'task:a/nano/train/1/0');
  await deleteRun(db, 'a');
  expect(await db.branches.toCollection().primaryKeys()).toEqual(['anew', 'of a/b']);
  await deleteRun(db, 'a/b');
  expect(await db.branches.toCollection().primaryKeys()).toEqual(['anew']);
});

test('so does an evaluation, alone or with its run', async () => {
  const evaluation = (id: string, of: string) => db.evaluations.add({ id, run: of } as EvaluationRow);
  await evaluation('r@20', 'r');
  await evaluation('other', '');
  await branch('trial', writeOrigin({ place: 'r@20', id: 'eval-0-0' }));
  await branch('alone', writeOrigin({ place: 'other', id: 'eval-0-0' }));
  await deleteEvaluation(db, 'other');
  expect(await db.branches.toCollection().primaryKeys()).toEqual(['trial']);
  await deleteRun(db, 'r');
  expect(await db.branches.count()).toBe(0);
});
