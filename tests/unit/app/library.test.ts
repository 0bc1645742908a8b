/** The library: both sources of runs give the same answers. Deleting a run deletes all its data, and never the recorded run. */
import 'fake-indexeddb/auto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { BrowserSource } from '../../../src/app/library/browser-source.ts';
import { Library } from '../../../src/app/library/library.ts';
import { BRANCHES, writeOrigin } from '../../../src/app/library/origin.ts';
import { RECORDED, RecordedSource } from '../../../src/app/library/recorded-source.ts';
import type { RunSource } from '../../../src/app/library/source.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import type { BranchRow } from '../../../src/records/branch.ts';
import type { RunContent } from '../../../src/records/bundle.ts';
import type { LessonRow } from '../../../src/records/lesson.ts';
import type { ModelRow } from '../../../src/records/model.ts';
import type { CheckpointRow } from '../../../src/records/run.ts';
import { RunDatabase } from '../../../src/storage/database.ts';

/** The recorded run under an id that a stored run may have. */
let content: RunContent;
beforeAll(async () => {
  const bundle = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
  content = { ...bundle, run: { ...bundle.run, id: 'mine' } };
});

const byId = <T extends { id: string }>(rows: readonly T[]) => rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
/** Rows without the fields that say where they are stored. */
const bare = (rows: readonly object[]) => rows.map((row) => ({ ...row, run: undefined, evaluation: undefined }));
const branch = (id: string, origin: string, more: Partial<BranchRow> = {}): BranchRow => ({
  id,
  createdAt: 1,
  origin,
  shared: 1,
  batch: '',
  model: 'm',
  trajectory: content.trajectories[0]!,
  ...more,
});

describe.each(['browser', 'recorded'] as const)('the %s source', (kind) => {
  const db = new RunDatabase('library-sources');
  let source: RunSource;
  let run: string;
  beforeAll(async () => {
    if (kind === 'recorded') {
      run = RECORDED;
      source = new RecordedSource(RECORDED, async () => content);
    } else {
      // A library without recorded runs keeps the ids of their evaluations.
      run = await new Library(db, []).storeRun(content);
      source = new BrowserSource(db);
    }
  });
  afterAll(() => db.delete());

  test('has the run under its id, and no other', async () => {
    expect(source.readOnly).toBe(kind === 'recorded');
    expect(await source.run(run)).toMatchObject({ id: run, name: content.run.name, config: content.run.config });
    expect(await source.run('no such run')).toBeUndefined();
    expect((await source.runs()).map(({ id }) => id)).toEqual([run]);
    expect(await source.runs(0)).toEqual([]);
  });

  test('has the metrics by step, and their summary', async () => {
    expect(await source.metrics(run)).toEqual(content.metrics);
    const { reward, heldOut, curve } = await source.summary(run);
    const last = content.metrics.slice(-10).map((metrics) => metrics['critic/score/mean']!);
    expect(reward).toBeCloseTo(last.reduce((sum, value) => sum + value) / last.length, 12);
    expect(heldOut).toHaveLength(2);
    expect(curve).toEqual(
      content.metrics.filter(({ step }) => step > 0).map((metrics) => ({ step: metrics.step, value: metrics['critic/score/mean'] })),
    );
    expect(await source.metrics('no such run')).toEqual([]);
    expect(await source.summary('no such run')).toEqual({ reward: null, heldOut: [], curve: [] });
  });

  test('says from which checkpoint a run resumes', async () => {
    expect(await source.newestCheckpoint(run)).toBe(0);
    if (kind === 'recorded') return;
    const row = { savedAt: 0, weights: new Blob(), optimizer: new Blob() } as unknown as CheckpointRow;
    await db.checkpoints.bulkPut([{ ...row, run, step: 4 }, { ...row, run, step: 12 }, { ...row, run: `${run}0`, step: 99 }]); // prettier-ignore
    expect(await source.newestCheckpoint(run)).toBe(12);
    await db.checkpoints.clear();
  });

  test('has every rollout: by step, in pages by id, alone and by group', async () => {
    const all = await source.rollouts(run);
    expect(bare(byId(all))).toEqual(bare(byId(content.rollouts)));
    expect(all.map(({ step }) => step)).toEqual(all.map(({ step }) => step).toSorted((a, b) => a - b));

    const first = await source.rolloutPage(run, '');
    const ids = first.map(({ id }) => id);
    expect(ids).toEqual(content.rollouts.map(({ id }) => id).toSorted());
    expect((await source.rolloutPage(run, ids[2]!)).map(({ id }) => id)).toEqual(ids.slice(3));
    expect(await source.rolloutPage(run, ids.at(-1)!)).toEqual([]);

    const [one] = content.rollouts;
    expect(await source.rollout(run, one!.id)).toMatchObject(one!);
    expect(await source.rollout(run, 'no such rollout')).toBeUndefined();
    const members = content.rollouts.filter(({ group }) => group === one!.group);
    expect(bare(byId(await source.group(run, one!.group)))).toEqual(bare(byId(members)));
    expect(await source.group(run, 'no such group')).toEqual([]);
  });

  test('has the stored trajectories, and undefined for the others', async () => {
    const [one, two] = content.trajectories;
    expect((await source.trajectoryIds(run)).toSorted()).toEqual(content.trajectories.map(({ id }) => id).toSorted());
    expect(bare(byId(await source.trajectories(run)))).toEqual(bare(byId(content.trajectories)));
    expect((await source.trajectories(run, [two!.id, 'gone', one!.id])).map((found) => found?.id)).toEqual([two!.id, undefined, one!.id]);
    expect(await source.trajectory(run, one!.id)).toMatchObject(one!);
    expect(await source.trajectory(run, 'gone')).toBeUndefined();
    expect(await source.trajectory('no such run', one!.id)).toBeUndefined();
  });

  test('has the evaluations, the newest first, with reports made from their trials', async () => {
    const [before, after] = content.evaluations;
    const rows = await source.evaluations(run);
    expect(rows.map(({ id }) => id)).toEqual([after!.id, before!.id]);
    expect(await source.evaluations()).toEqual(rows);
    expect(await source.evaluations('no such run')).toEqual([]);
    expect(rows[0]).toMatchObject({ run, model: { kind: 'run', run, step: after!.step }, name: `${content.run.name}@${after!.step}` });
    expect(rows[0]!.report.tasks).toBe(after!.settings.tasks);
    expect(rows[0]!.recorded ?? false).toBe(source.readOnly);
    const one = await source.evaluation(after!.id);
    expect(one).toMatchObject(rows[0]!);
    expect(one!.results.every(({ card }) => card !== undefined)).toBe(true);
    expect(await source.evaluation('no such evaluation')).toBeUndefined();

    const trials = content.trials.filter(({ evaluation }) => evaluation === after!.id);
    expect(byId(await source.trials(after!.id))).toEqual(byId(trials));
    expect(await source.trial(after!.id, trials[0]!.id)).toEqual(trials[0]);
    expect(await source.trial(before!.id, 'gone')).toBeUndefined();
    expect(await source.trials('no such evaluation')).toEqual([]);
  });

  test('has no checkpoints of an imported run, and says how much room it takes', async () => {
    expect(await source.checkpoints(run)).toEqual([]);
    expect((await source.bytes(run)) > 0).toBe(kind === 'browser');
  });

  test('answers several reads at once', async () => {
    const [row, metrics] = await source.atOnce(() => Promise.all([source.run(run), source.metrics(run)]));
    expect([row!.id, metrics.length]).toEqual([run, content.metrics.length]);
  });
});

describe('a library of both', () => {
  let db: RunDatabase;
  let library: Library;
  beforeEach(async () => {
    db = new RunDatabase('library-both');
    library = new Library(db, [new RecordedSource(RECORDED, async () => content)]);
    // The recorded run's evaluations have other ids than those of the stored run.
    const mine = (id: string) => `mine ${id}`;
    await library.storeRun({
      ...content,
      evaluations: content.evaluations.map((evaluation) => ({ ...evaluation, id: mine(evaluation.id) })),
      trials: content.trials.map((trial) => ({ ...trial, evaluation: mine(trial.evaluation) })),
    });
  });
  afterEach(() => db.delete());

  test('lists the runs and evaluations of this browser first', async () => {
    expect((await library.runs()).map(({ id, recorded }) => [id, recorded ?? false])).toEqual([
      ['mine', false],
      ['recorded', true],
    ]);
    expect((await library.ownRuns()).map(({ id }) => id)).toEqual(['mine']);
    const evaluations = await library.evaluations();
    expect(evaluations.map(({ run, recorded }) => [run, recorded ?? false])).toEqual([
      ['mine', false],
      ['mine', false],
      ['recorded', true],
      ['recorded', true],
    ]);
    expect((await library.evaluations('recorded')).map(({ id }) => id)).toEqual(evaluations.slice(2).map(({ id }) => id));
    for (const row of evaluations) expect(await library.evaluation(row.id)).toMatchObject(row);
    expect(await library.evaluation('gone')).toBeUndefined();
  });

  test('finds a rollout, a trial and a branch of either source', async () => {
    const [trajectory] = content.trajectories;
    const [trial] = content.trials;
    for (const [run, evaluation] of [
      ['mine', `mine ${trial!.evaluation}`],
      ['recorded', trial!.evaluation],
    ] as const) {
      const rollout = await library.conversation({ place: run, id: trajectory!.id });
      expect(rollout).toMatchObject({ run: { id: run }, model: content.run.request.model, route: { name: 'rollout', run } });
      const played = await library.conversation({ place: evaluation, id: trial!.id });
      expect(played).toMatchObject({ run: { id: run }, route: { name: 'trial', evaluation } });
      await library.putBranches([branch(`of ${run}`, rollout.origin)]);
      const branched = await library.conversation({ place: BRANCHES, id: `of ${run}` });
      expect(branched).toMatchObject({ run: { id: run }, branchedOff: { origin: rollout.origin }, origin: rollout.origin });
    }
    for (const [place, problem] of [
      ['mine', /not stored any more/],
      ['recorded', /not stored any more/],
      ['gone', /no such run or evaluation/],
      [BRANCHES, /no such branch/],
    ] as const)
      await expect(library.conversation({ place, id: 'gone' })).rejects.toThrow(problem);
  });

  test('exports a run of either source whole, with its branches', async () => {
    for (const run of ['mine', 'recorded']) {
      await library.putBranches([branch(`of ${run}`, writeOrigin({ place: run, id: content.trajectories[0]!.id }))]);
      const collected = await library.collectRun(run);
      expect(collected.run.name).toBe(content.run.name);
      expect(collected.metrics).toEqual(content.metrics);
      expect(bare(byId(collected.rollouts))).toEqual(bare(byId(content.rollouts)));
      expect(collected.trajectories).toHaveLength(content.trajectories.length);
      expect(collected.evaluations.map(({ step }) => step)).toEqual(content.evaluations.map(({ step }) => step));
      expect(collected.trials).toHaveLength(content.trials.length);
      expect(collected.branches.map(({ rollout }) => rollout)).toEqual([content.trajectories[0]!.id]);
      expect(collected.model).toBeNull();
    }
    await expect(library.collectRun('gone')).rejects.toThrow('there is no run "gone" in this browser');
  });

  test('deletes a run with its rows, evaluations and branches, and nothing else', async () => {
    const [trial] = content.trials;
    await db.checkpoints.add({ run: 'mine', step: 1 } as CheckpointRow);
    await library.putBranches([
      branch('of a rollout', writeOrigin({ place: 'mine', id: 'x' })),
      branch('of a trial', writeOrigin({ place: `mine ${trial!.evaluation}`, id: trial!.id })),
      branch('of the recorded run', writeOrigin({ place: RECORDED, id: 'x' })),
      branch('of a task', 'task:x'),
    ]);
    await library.delete({ kind: 'run', id: 'mine' });
    const { branches, ...emptied } = Object.fromEntries(db.tables.map((table) => [table.name, table]));
    for (const [name, table] of Object.entries(emptied)) expect([name, await table.count()]).toEqual([name, 0]);
    expect((await branches!.toCollection().primaryKeys()).toSorted()).toEqual(['of a task', 'of the recorded run']);
    expect((await library.runs()).map(({ id }) => id)).toEqual([RECORDED]);
  });

  test('deletes all of a run or nothing', async () => {
    const origin = writeOrigin({ place: 'mine', id: 'x' });
    await library.putBranches([branch('b', origin)]);
    const counts = () => Promise.all(db.tables.map(async (table) => [table.name, await table.count()]));
    const before = await counts();
    // The run's own row is deleted last.
    vi.spyOn(db.runs, 'delete').mockImplementation(() => {
      throw new Error('the disk is gone');
    });
    await expect(library.delete({ kind: 'run', id: 'mine' })).rejects.toThrow('the disk is gone');
    expect(await counts()).toEqual(before);
  });

  test('renames a run of this browser and keeps its note and tags; not the recorded run', async () => {
    const words = { name: 'long groups', note: 'n is 16', tags: ['keep'] };
    const step = (await library.run('mine'))!.step;
    await library.source('mine').describeRun('mine', words);
    expect(await library.run('mine')).toMatchObject({ ...words, step });
    await library.source('mine').describeRun('mine', { name: 'short' });
    expect(await library.run('mine')).not.toHaveProperty('note');
    expect(await library.run('mine')).toMatchObject({ name: 'short', step });
    await expect(library.source(RECORDED).describeRun(RECORDED, words)).rejects.toThrow(/recorded run .* cannot be changed/);
    await expect(library.source('gone').describeRun('gone', words)).rejects.toThrow('there is no run "gone"');
    expect((await library.runs()).map(({ name }) => name)).toEqual(['short', content.run.name]);
  });

  test('refuses to delete what belongs to the recorded run', async () => {
    const [evaluation] = await library.evaluations('recorded');
    await expect(library.delete({ kind: 'run', id: RECORDED })).rejects.toThrow(/recorded run .* cannot be deleted/);
    await expect(library.delete({ kind: 'evaluation', id: evaluation!.id })).rejects.toThrow(/recorded run .* cannot be deleted/);
    expect((await library.runs()).map(({ id }) => id)).toContain(RECORDED);
    expect(await library.evaluations('recorded')).toHaveLength(2);
  });

  test('deletes a single evaluation, model, checkpoint or branch', async () => {
    const [evaluation] = await library.evaluations('mine');
    await library.putBranches([
      branch('kept', 'task:x'),
      branch('gone', 'task:x'),
      branch('trial', writeOrigin({ place: evaluation!.id, id: 'x' })),
    ]);
    await db.models.bulkAdd([{ id: 'kept' }, { id: 'gone' }] as ModelRow[]);
    await db.checkpoints.bulkAdd([1, 2].map((step) => ({ run: 'mine', step }) as CheckpointRow));
    await library.delete({ kind: 'evaluation', id: evaluation!.id });
    await library.delete({ kind: 'model', id: 'gone' });
    await library.delete({ kind: 'checkpoint', run: 'mine', step: 1 });
    await library.delete({ kind: 'branches', ids: ['gone'] });
    expect(await library.evaluations('mine')).toHaveLength(1);
    expect(await db.evaluationTrajectories.where('[evaluation+id]').between([evaluation!.id, ''], [evaluation!.id, '\uffff']).count()).toBe(
      0,
    );
    expect((await library.models()).map(({ id }) => id)).toEqual(['kept']);
    expect((await library.checkpoints()).map(({ step }) => step)).toEqual([2]);
    expect(await db.branches.toCollection().primaryKeys()).toEqual(['kept']);
  });

  test('gives an imported run a new id if its own id is reserved or in use', async () => {
    for (const id of ['mine', RECORDED, BRANCHES]) expect(await library.storeRun({ ...content, run: { ...content.run, id } })).not.toBe(id);
  });

  test('keeps branches by origin, the oldest first, and the training set', async () => {
    await library.putBranches([branch('b', 'task:x', { createdAt: 2 }), branch('a', 'task:x'), branch('other', 'task:y')]);
    expect((await library.branches('task:x')).map(({ id }) => id)).toEqual(['a', 'b']);
    await library.setTraining([{ id: 'b', conversation: { messages: [] } }]);
    expect((await library.trainingSet()).map(({ id }) => id)).toEqual(['b']);
    await library.setTraining([{ id: 'b', conversation: undefined }]);
    expect(await library.trainingSet()).toEqual([]);
  });

  test('keeps progress in lessons; a finished lesson stays finished', async () => {
    const progress = async (row: LessonRow) => (await library.lessons.put(row), library.lessons.get(row.id));
    expect(await progress({ id: 'mask', step: 2, finished: false })).toMatchObject({ step: 2, finished: false });
    expect(await progress({ id: 'mask', step: 0, finished: true })).toMatchObject({ finished: true });
    expect(await progress({ id: 'mask', step: 1, finished: false })).toMatchObject({ step: 1, finished: true });
    expect(await library.lessons.all()).toHaveLength(1);
  });
});

describe('several recorded runs', () => {
  const db = new RunDatabase('library-several');
  afterAll(() => db.delete());

  test('each is read when it is needed, and not before', async () => {
    const read: string[] = [];
    const source = (id: string) =>
      new RecordedSource(id, async () => {
        read.push(id);
        const named = (evaluation: string) => evaluation.replace(/^recorded/, id);
        return {
          ...content,
          evaluations: content.evaluations.map((row) => ({ ...row, id: named(row.id) })),
          trials: content.trials.map((trial) => ({ ...trial, evaluation: named(trial.evaluation) })),
        };
      });
    const library = new Library(db, [source(RECORDED), source('recorded-other')]);
    expect(await library.example()).not.toBeNull();
    expect(await library.evaluation('recorded-before')).toMatchObject({ id: 'recorded-before', run: RECORDED });
    expect(await library.evaluation('unknown')).toBeUndefined();
    expect(await library.run('unknown')).toBeUndefined();
    expect(read).toEqual([RECORDED]);
    const [trial] = content.trials;
    expect(await library.trial('recorded-other-before', trial!.id)).toMatchObject({ id: trial!.id, evaluation: 'recorded-other-before' });
    expect(read).toEqual([RECORDED, 'recorded-other']);
    expect((await library.runs()).map(({ id }) => id)).toEqual([RECORDED, 'recorded-other']);
    expect((await library.evaluations()).map(({ id }) => id)).toEqual([
      'recorded-after',
      'recorded-before',
      'recorded-other-after',
      'recorded-other-before',
    ]);
    expect(read).toHaveLength(2);
    // An imported run cannot take the id of a recorded run.
    expect(await library.storeRun({ ...content, run: { ...content.run, id: 'recorded-other' } })).not.toBe('recorded-other');
  });
});

describe('without a recorded run', () => {
  const db = new RunDatabase('library-alone');
  afterAll(() => db.delete());

  test.each([
    ['missing', async () => null],
    ['unreadable', () => Promise.reject(new Error('no zip'))],
  ])('because it is %s, there is no example and nothing fails', async (_, read) => {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const library = new Library(db, [new RecordedSource(RECORDED, read)]);
    expect(await library.example()).toBeNull();
    expect([await library.runs(), await library.evaluations(), await library.run(RECORDED)]).toEqual([[], [], undefined]);
    await expect(library.collectRun(RECORDED)).rejects.toThrow('the recorded run could not be read');
    vi.restoreAllMocks();
  });

  test('the example has the run and all its rows', async () => {
    const example = await new Library(db, [new RecordedSource(RECORDED, async () => content)]).example();
    expect(example!.run).toMatchObject({ id: RECORDED, recorded: true });
    expect([example!.metrics, example!.rollouts, example!.trajectories].map(({ length }) => length)).toEqual(
      [content.metrics, content.rollouts, content.trajectories].map(({ length }) => length),
    );
  });
});

test('only app/library opens the storage and knows which run is recorded', () => {
  const files = readdirSync('src/app', { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.(ts|svelte)$/.test(file) && !file.startsWith(join('library', '')),
  );
  expect(files.length).toBeGreaterThan(100);
  const found = files.flatMap((file) => {
    const text = readFileSync(join('src/app', file), 'utf8');
    return [
      /\bRECORDED/,
      /from ['"][^'"]*\/storage\//,
      /import\(['"][^'"]*\/storage\//,
      /\bRunDatabase\b/,
      /\bBenchmarkDatabase\b/,
      /\.db\b/,
    ]
      .filter((forbidden) => forbidden.test(text))
      .map((forbidden) => `${file}: ${forbidden.source}`);
  });
  expect(found).toEqual([]);
});
