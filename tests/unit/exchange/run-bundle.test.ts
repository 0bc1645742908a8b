/** Run bundles: they keep all data and contain no secrets; hostile files are refused and never stored in part. */
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { zipSync } from 'fflate';
import { beforeAll, describe, expect, test } from 'vitest';
import { storeRun } from '../../../src/app/library/import-run.ts';
import { Library } from '../../../src/app/library/library.ts';
import { RECORDED_RUNS, RecordedSource } from '../../../src/app/library/recorded-source.ts';
import { vocabularyOf } from '../../../src/app/conversation/tokens/load-vocabulary.ts';
import type { Vocabulary } from '../../../src/app/conversation/tokens/vocabulary.ts';
import { trajectoryLine } from '../../../src/formats/rollout-lines.ts';
import type { RunContent } from '../../../src/records/bundle.ts';
import type { RunRow } from '../../../src/records/run.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { ImportError } from '../../../src/exchange/import-error.ts';
import { readRunBundle, type ReadOptions, type RunBundle } from '../../../src/exchange/run-bundle.ts';
import { publicUrl, withoutSecrets } from '../../../src/exchange/secrets.ts';
import { finiteMetrics, jsonl, sharedRun, writeRunBundle } from '../../../src/exchange/write-run-bundle.ts';
import { zipFiles } from '../../../src/exchange/zip.ts';
import { RunDatabase } from '../../../src/storage/database.ts';

const KEY = 'sk-very-secret-0123456789abcdef';
/** A value that a test damages. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Loose = Record<string, any>;
const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const bundled = new Uint8Array(readFileSync('public/recorded/run.mua.zip'));
let whole: RunBundle;
beforeAll(async () => {
  whole = await readRunBundle(bundled);
});

const bytesOf = async (blob: Blob) => new Uint8Array(await blob.arrayBuffer());
const write = async (content: RunContent, keys: string[] = []) => bytesOf(await writeRunBundle(content, { appVersion: '0', keys }));
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const lines = (rows: readonly unknown[]) =>
  new TextEncoder().encode(rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));

/** The files of a small valid bundle. Tests damage them one by one. */
function goodFiles(): Record<string, Uint8Array> {
  const [first] = whole.trajectories;
  return {
    'run.json': json(whole.run),
    'metrics.jsonl': lines(whole.metrics),
    'rollouts.jsonl': lines(whole.rollouts),
    'trajectories.jsonl': lines([first]),
  };
}

/** A zip whose manifest fits its files, unless `change` breaks this. */
function packed(
  files: Record<string, Uint8Array>,
  change: (manifest: Record<string, unknown> & { files: Record<string, { sha256: string; bytes: number }> }) => void = () => {},
): Uint8Array<ArrayBuffer> {
  const listed = Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, { sha256: sha256(bytes), bytes: bytes.length }]));
  const manifest = { format: 'mua-run', format_version: 1, app_version: '0', created: new Date(0).toISOString(), files: listed };
  change(manifest);
  return zipSync({ 'manifest.json': json(manifest), ...files }) as Uint8Array<ArrayBuffer>;
}

async function refused(zip: Uint8Array<ArrayBuffer>, options?: ReadOptions): Promise<string> {
  const error = await readRunBundle(zip, options).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ImportError);
  expect((error as Error).message).not.toContain('\n');
  return (error as Error).message;
}

const spoilt = (file: string, bytes: Uint8Array) => packed({ ...goodFiles(), [file]: bytes });
const spoiltTrajectory = (change: (trajectory: Loose) => void) => {
  const trajectory = structuredClone(whole.trajectories[0]) as unknown as Loose;
  change(trajectory);
  return spoilt('trajectories.jsonl', lines([trajectory]));
};

describe('a bundle', () => {
  test('is not written if it is too large to be read; the error says what to exclude', async () => {
    const model = { 'model.safetensors': new Uint8Array(30 * 2 ** 20) };
    const written = (content: Partial<RunContent>, limits: ReadOptions['limits']) =>
      writeRunBundle({ ...whole, ...content }, { appVersion: '0', limits });
    await expect(written({ model }, { fileBytes: 20 * 2 ** 20 })).rejects.toThrow(
      /^this run is too large for a file: model\/model\.safetensors has 30 MiB, at most 20 MiB can be read back; leave out the weights/,
    );
    await expect(written({ model }, { totalBytes: 20 * 2 ** 20 })).rejects.toThrow('leave out the weights');
    await expect(written({ model }, { fileBytes: 2 ** 20 })).rejects.toThrow(
      /trajectories\.jsonl has .*the run can only stay in this browser$/,
    );
    await expect(written({}, { totalBytes: 5000 })).rejects.toThrow(/the files together have .*delete evaluations of the run first$/);
    await expect(written({ evaluations: [], trials: [] }, { totalBytes: 5000 })).rejects.toThrow(/the run can only stay in this browser$/);
  });

  test.each(RECORDED_RUNS)('the recorded run $id is a complete bundle and small enough for the page', async ({ id, file }) => {
    const bytes = new Uint8Array(readFileSync(`public/recorded/${file}.mua.zip`));
    const run = await readRunBundle(bytes);
    expect(bytes.length).toBeLessThanOrEqual(400_000);
    expect(run.metrics.length).toBeGreaterThan(1);
    // Every conversation that a new visitor opens has its text.
    expect(new Set(run.trajectories.map((trajectory) => trajectory.id))).toEqual(new Set(run.rollouts.map((rollout) => rollout.id)));
    expect(run.evaluations.map(({ step }) => step)).toEqual([0, run.run.step]);
    const recorded = new RecordedSource(id, async () => run);
    expect(run.evaluations.every((evaluation) => recorded.hasEvaluation(evaluation.id))).toBe(true);
    expect(await recorded.run(id)).toMatchObject({ id, recorded: true, name: run.run.name });
    expect(await recorded.trajectories(id)).toHaveLength(run.trajectories.length);
  });

  test('contains the evaluations of its weights without keys; the import computes the report again', async () => {
    const user = { mode: 'endpoint', baseUrl: `https://me:${KEY}@h.example/v1?k=${KEY}`, model: 'm', apiKey: KEY } as const;
    const evaluations = whole.evaluations.map((evaluation) => ({ ...evaluation, settings: { ...evaluation.settings, user } }));
    const zip = await write({ ...whole, run: { ...whole.run, id: 'mine' }, evaluations }, [KEY]);
    const read = await readRunBundle(zip);
    expect(JSON.stringify(read)).not.toContain(KEY);
    const db = new RunDatabase('evaluations');
    const library = new Library(db);
    const run = await library.storeRun(read);
    const [before, after] = await db.evaluations.where('run').equals(run).sortBy('createdAt');
    expect([before, after]).toMatchObject([
      { name: `${whole.run.name}@0`, model: { kind: 'run', run, step: 0 } },
      { model: { step: whole.run.step } },
    ]);
    expect(before!.report).toMatchObject({ tasks: whole.evaluations[0]!.settings.tasks, trials: 1 });
    expect(after!.report.pass_hat[0]!.value).toBe(after!.results.filter(({ reward }) => reward === 1).length / after!.results.length);
    expect(await db.evaluationTrajectories.count()).toBe(whole.trials.length);
    const collected = await library.collectRun(run);
    // The ids of a recorded run's evaluations are replaced, because their addresses name the recorded run.
    const stepOf = (content: RunContent, id: string) => content.evaluations.find((evaluation) => evaluation.id === id)!.step;
    const plain = ({ evaluations: all }: RunContent) => all.map(({ id: _, ...evaluation }) => evaluation);
    expect(plain(collected)).toEqual(plain(read));
    expect(collected.evaluations.some(({ id }) => read.evaluations.some((other) => other.id === id))).toBe(false);
    const byId = (content: RunContent) =>
      content.trials
        .map((trial) => ({ ...trial, evaluation: stepOf(content, trial.evaluation) }))
        .sort((a, b) => (`${a.evaluation} ${a.id}` < `${b.evaluation} ${b.id}` ? -1 : 1));
    expect(byId(collected)).toEqual(byId(read));

    // Storing the run a second time overwrites nothing of the first.
    const again = await library.storeRun(read);
    expect(again).not.toBe(run);
    expect(await db.evaluations.count()).toBe(2 * whole.evaluations.length);
    expect(await db.evaluationTrajectories.count()).toBe(2 * whole.trials.length);
    db.close();

    const files = {
      ...goodFiles(),
      'evaluations.jsonl': lines(whole.evaluations),
      'trials.jsonl': lines([{ ...whole.trials[0], evaluation: 'nobody' }]),
    };
    expect(await refused(packed(files))).toBe(
      'trials.jsonl: line 1, evaluation: is "nobody": expected the id of an evaluation in evaluations.jsonl',
    );
    const many = {
      ...goodFiles(),
      'evaluations.jsonl': lines([{ ...whole.evaluations[0], settings: { ...whole.evaluations[0]!.settings, trials: 1e9 } }]),
    };
    expect(await refused(packed(many))).toBe('evaluations.jsonl: line 1, settings.trials: is 1000000000: expected at most 1000');
  });

  test('keeps rows, tokens, annotations, changes and weights', async () => {
    const model = { 'config.json': json({ a: 1 }), 'model.safetensors': Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251) };
    const { manifest: _, ...content } = structuredClone(whole);
    const [node] = content.trajectories[0]!.nodes;
    node!.annotations = { advantage: node!.tokens.map((_token, i) => (i % 2 ? null : 0.25)) };
    const { manifest, ...again } = await readRunBundle(await write({ ...content, model }));
    expect(again).toEqual({ ...content, model });
    expect(Object.keys(manifest.files)).toEqual([
      'run.json',
      'metrics.jsonl',
      'rollouts.jsonl',
      'trajectories.jsonl',
      'evaluations.jsonl',
      'trials.jsonl',
      'model/config.json',
      'model/model.safetensors',
    ]);
    expect(manifest.files['model/model.safetensors']!.sha256).toBe(sha256(model['model.safetensors']));
  });

  test('contains the branches of its conversations; after the import they belong to the same rollouts', async () => {
    const db = new RunDatabase('branches');
    const library = new Library(db);
    const run = await library.storeRun({ ...whole, run: { ...whole.run, id: 'mine' } });
    const [trajectory] = whole.trajectories;
    const row = {
      id: 'b',
      createdAt: 5,
      origin: `${run}/${trajectory!.id}`,
      shared: 3,
      batch: '',
      model: 'nano',
      trajectory: { ...trajectory!, reward: 1 },
    };
    const [trial] = whole.trials;
    const estimate = { weights: 'mine@20', customer: 'scripted', stream: 3 };
    const stepOfTrial = whole.evaluations.find(({ id }) => id === trial!.evaluation)!.step;
    const placeIn = async (owner: string) =>
      (await db.evaluations.where('run').equals(owner).toArray()).find(({ model }) => model.kind === 'run' && model.step === stepOfTrial)!
        .id;
    const evaluation = await placeIn(run);
    const ofTrial = { ...row, id: 't', origin: `${evaluation}/${trial!.id}`, trajectory: trial! };
    await db.branches.bulkAdd([{ ...row, estimate }, ofTrial, { ...row, id: 'other', origin: `other/${trajectory!.id}` }]);
    const written = await write(await library.collectRun(run));
    const read = await readRunBundle(written);
    const { evaluation: _, ...played } = trial!;
    expect(read.branches).toEqual([
      { createdAt: 5, rollout: trajectory!.id, shared: 3, batch: '', model: 'nano', trajectory: { ...trajectory, reward: 1 }, estimate },
      { createdAt: 5, rollout: trial!.id, evaluation, shared: 3, batch: '', model: 'nano', trajectory: played },
    ]);
    const again = await library.storeRun(read);
    expect(
      await db.branches
        .where('origin')
        .equals(`${await placeIn(again)}/${trial!.id}`)
        .count(),
    ).toBe(1);
    expect(await db.branches.where('origin').equals(`${again}/${trajectory!.id}`).toArray()).toMatchObject([
      { ...row, estimate, id: expect.not.stringMatching(/^b$/) as string, origin: `${again}/${trajectory!.id}` },
    ]);
    const stray = { ...goodFiles(), 'branches.jsonl': lines([{ ...read.branches[0], rollout: 'nobody' }]) };
    expect(await refused(packed(stray))).toBe(
      'branches.jsonl: line 1, rollout: is "nobody": expected the id of a rollout in rollouts.jsonl or a trial in trials.jsonl',
    );
    const lost = { ...goodFiles(), 'branches.jsonl': lines([{ ...read.branches[1], evaluation: 'nobody' }]) };
    expect(await refused(packed(lost))).toBe(
      `branches.jsonl: line 1, rollout: is "nobody,${trial!.id}": expected the id of a rollout in rollouts.jsonl or a trial in trials.jsonl`,
    );
    const broken = { ...goodFiles(), 'branches.jsonl': lines([{ ...read.branches[0], trajectory: { ...trajectory, leaf: 9999 } }]) };
    expect(await refused(packed(broken))).toBe('branches.jsonl: line 1, trajectory, leaf: is 9999: expected the id of a node');
  });

  test('a zero that an earlier version wrote for an unmeasured KL is not read', async () => {
    const zero = { step: 1, 'actor/kl_loss': 0, 'actor/entropy': 0 };
    const of = (use_kl_loss: boolean) => ({
      ...whole,
      run: { ...whole.run, config: { ...whole.run.config, use_kl_loss } } as RunRow,
      metrics: [zero],
      model: null,
    });
    expect((await readRunBundle(await write(of(false)))).metrics).toEqual([{ step: 1, 'actor/entropy': 0 }]);
    expect((await readRunBundle(await write(of(true)))).metrics).toEqual([zero]);
  });

  test('shows each token to a page that does not have the run’s model', async () => {
    const tokenizer = readFileSync('models/nano-retail/tokenizer.json');
    const here = new RunDatabase('has the model');
    await here.models.add({ id: 'my-model', files: { 'tokenizer.json': new Blob([tokenizer]) } } as never);
    const library = new Library(here);
    const request = { ...whole.run.request, model: 'my-model' };
    const stored = await library.storeRun({ ...whole, run: { ...whole.run, id: 'mine', request } });
    const read = await readRunBundle(await write(await library.collectRun(stored)));
    here.close();

    const there = new Library(new RunDatabase('has no model'));
    const run = (await there.run(await there.storeRun(read)))!;
    const vocabulary = (await vocabularyOf(there, 'my-model', run)) as Vocabulary;
    const nodes = [...read.trajectories, ...read.trials].flatMap((one) => one.nodes);
    // A node of the agent has the decoded sampled tokens as its text.
    for (const { role, text, tokens } of nodes) if (role === 'assistant') expect(vocabulary.pieces(tokens).join('')).toBe(text);
    const alternatives = nodes.flatMap(({ annotations }) => Object.entries(annotations ?? {}).filter(([name]) => name.endsWith('_id')));
    const ids = new Set([
      ...nodes.flatMap(({ tokens }) => tokens),
      ...alternatives.flatMap(([, list]) => list.filter((id) => id !== null)),
    ]);
    const names = new Map(
      Object.entries((JSON.parse(String(tokenizer)) as { model: { vocab: Record<string, number> } }).model.vocab).map(([name, id]) => [
        id,
        name,
      ]),
    );
    const { model, added_tokens } = run.vocabulary!;
    expect(alternatives.length).toBeGreaterThan(0);
    expect(model.vocab).toEqual(Object.fromEntries([...ids].filter((id) => names.has(id)).map((id) => [names.get(id)!, id])));
    expect(added_tokens.length).toBeGreaterThan(3);
    expect(await vocabularyOf(there, 'my-model')).toBeInstanceOf(Error);
    // The page of a bundled model has its tokenizer.
    const bundledModel = await there.storeRun({ ...whole, run: { ...whole.run, id: 'bundled' } });
    expect((await there.collectRun(bundledModel)).run).not.toHaveProperty('vocabulary');

    const hostile = (change: object) => refused(spoilt('run.json', json({ ...whole.run, vocabulary: { model, added_tokens, ...change } })));
    expect(await hostile({ model: { vocab: { a: 0.5 } } })).toMatch(
      /^run\.json: vocabulary\.model\.vocab: .*expected an object of whole numbers from 0$/,
    );
    expect(await hostile({ added_tokens: [{ id: 1 }] })).toMatch(/^run\.json: vocabulary\.added_tokens\[0\]\.content: /);
  });

  test('rows are written without the fields of storage, and without values that JSON does not have', async () => {
    const [trajectory] = whole.trajectories;
    const stored = {
      ...whole,
      run: { ...whole.run, recorded: true, imported: 5 } as RunRow,
      metrics: [{ step: 1, a: NaN, b: 2 }],
      trajectories: [{ ...trajectory!, run: 'x' } as Trajectory],
      model: null,
    };
    const again = await readRunBundle(await write(stored));
    expect(again.run).toEqual(whole.run);
    expect(again.metrics).toEqual([{ step: 1, b: 2 }]);
    expect(again.trajectories).toEqual([trajectory]);
  });

  test('contains the name, the note and the tags that a visitor gave the run; a bundle without them is read as before', async () => {
    expect(whole.run).not.toHaveProperty('note');
    expect(whole.run).not.toHaveProperty('tags');
    const words = { name: 'Long group', note: `See https://example.org/a?b=c\n${HTML}`, tags: ['n=16', 'keep'] };
    const db = new RunDatabase('words');
    const library = new Library(db);
    const run = await library.storeRun(await readRunBundle(await write({ ...whole, run: { ...whole.run, ...words, id: 'mine' } })));
    expect(await library.run(run)).toMatchObject(words);
    expect((await readRunBundle(await write(await library.collectRun(run)))).run).toEqual({ ...whole.run, ...words, id: 'mine' });
    db.close();

    const hostile = (change: object) => refused(spoilt('run.json', json({ ...whole.run, ...change })));
    expect(await hostile({ tags: ['a,b'] })).toMatch(/^run\.json: tags\[0\]: is "a,b": expected a text without commas/);
    expect(await hostile({ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) })).toMatch(/tags: .* expected at most 20 entries$/);
    expect(await hostile({ note: 'x'.repeat(10_001) })).toMatch(/note: .* expected at most 10000 characters$/);
  });

  test('reports progress and can be aborted', async () => {
    const told: number[] = [];
    await readRunBundle(bundled, { onProgress: (done) => told.push(done) });
    expect(told).toEqual([...told].sort((a, b) => a - b));
    await expect(readRunBundle(bundled, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  });

  test('other programs read a zip with non-ASCII names, empty files and incompressible files', async () => {
    const files = {
      'ä/é.txt': new TextEncoder().encode('x'.repeat(1000)),
      empty: new Uint8Array(0),
      noise: crypto.getRandomValues(new Uint8Array(3000)),
    };
    const { unzipSync } = await import('fflate');
    expect(unzipSync(await bytesOf(await zipFiles(files, new Date())))).toEqual(files);
  });
});

describe('secrets', () => {
  const user = {
    mode: 'endpoint' as const,
    baseUrl: `https://me:pass@host.example:8443/v1?api_key=${KEY}#${KEY}`,
    model: 'm',
    temperature: 0.5,
    apiKey: KEY,
  };

  test('keys, credentials and queries of addresses are in no file of an export', async () => {
    const run = {
      ...whole.run,
      message: `401 from https://me:pass@host.example/v1?k=${KEY}: Bearer ${KEY} (typed-key)`,
      name: `run with ${KEY}`,
      note: `my key is typed-key, not ${KEY}`,
      tags: [KEY],
      request: { ...whole.run.request, user },
    };
    const trajectory = { ...whole.trajectories[0]!, error: `could not reach http://u:p@localhost:1/v1, key typed-key` };
    const zip = await write({ ...whole, run, trajectories: [trajectory], model: null }, ['typed-key']);
    const { unzipSync } = await import('fflate');
    const everything = Object.values(unzipSync(zip))
      .map((bytes) => new TextDecoder().decode(bytes))
      .join('\n');
    for (const secret of [KEY, 'me:pass', 'u:p@', 'api_key', 'apiKey', 'typed-key']) expect(everything).not.toContain(secret);
    const again = await readRunBundle(zip);
    expect(again.run.request.user).toEqual({ mode: 'endpoint', baseUrl: 'https://host.example:8443/v1', model: 'm', temperature: 0.5 });
    expect(again.run.message).toContain('https://host.example/v1');
    expect(again.trajectories[0]!.error).toContain('http://localhost:1/v1');
  });

  test('a key in a bundle is not imported', async () => {
    const { run } = await readRunBundle(spoilt('run.json', json({ ...whole.run, apiKey: KEY, request: { ...whole.run.request, user } })));
    expect(JSON.stringify(run)).not.toContain('apiKey');
  });

  test('addresses and messages', () => {
    expect(publicUrl('http://localhost:11434/v1/')).toBe('http://localhost:11434/v1/');
    expect(publicUrl('javascript:alert(1)')).toBe('');
    expect(publicUrl('no address')).toBe('');
    expect(withoutSecrets('no secret in "this": a/b')).toBe('no secret in "this": a/b');
    expect(withoutSecrets('key hf_abcdefghijklmnopqrstuv.')).toBe('key ….');
    expect(sharedRun(whole.run)).toEqual(whole.run);
  });
});

describe('secrets', () => {
  const SECRET = 'Zq8mN2xV7kP4wL9sT1yB5cD3';
  test.each([
    `api-key: ${SECRET}`,
    `x-api-key=${SECRET}`,
    `{"apiKey":"${SECRET}","model":"m"}`,
    `{"password": "${SECRET}"}`,
    `Authorization: Basic ${SECRET}==`,
    `authorization: Bearer ${SECRET}`,
    `Basic ${SECRET}=`,
    `bearer ${SECRET}`,
    `sk-proj-${SECRET}`,
    `ghp_${SECRET}`,
    `github_pat_${SECRET}`,
    `glpat-${SECRET}`,
    `eyJhbGciOiJIUzI1NiJ9.eyJ${SECRET}.${SECRET}`,
    `http://user:${SECRET}@host/v1?key=${SECRET}#${SECRET}`,
  ])('%s', (text) => {
    const shown = withoutSecrets(`the server said: ${text}, and closed`);
    expect(shown).not.toContain(SECRET);
    expect(shown).toMatch(/^the server said: .*and closed$/);
  });

  test('words that look alike stay', () => {
    for (const text of ['basic understanding of the policy', 'the bearer', 'a token of 5 letters', 'skin-care-products-for-sensitive-skin'])
      expect(withoutSecrets(text)).toBe(text);
  });

  test('a long word is read in linear time', () => {
    const milliseconds = (length: number) => {
      const text = `${'a.'.repeat(length / 2)} ${'basic '.repeat(length / 6)} ${'api-key'.repeat(length / 7)}`;
      const from = performance.now();
      withoutSecrets(text);
      return performance.now() - from;
    };
    milliseconds(1000);
    // A reader with quadratic time would take minutes.
    expect(milliseconds(2_000_000)).toBeLessThan(3000);
  });
});

describe('hostile files are refused by name, path and reason', () => {
  test('a file that is not a zip, a truncated zip, a zip without a bundle', async () => {
    expect(await refused(new Uint8Array([1, 2, 3]))).toContain('not a complete zip file');
    for (const share of [0.3, 0.9, 0.999])
      expect(await refused(bundled.slice(0, Math.floor(bundled.length * share)))).toContain('not a complete zip file');
    expect(await refused(zipSync({ 'README.md': json('x') }) as Uint8Array<ArrayBuffer>)).toBe(
      'manifest.json: it is missing: expected a run bundle (*.mua.zip)',
    );
  });

  test('a file that was changed, or has another size', async () => {
    expect(await refused(packed(goodFiles(), ({ files }) => (files['metrics.jsonl']!.sha256 = '0'.repeat(64))))).toBe(
      'metrics.jsonl: its SHA-256 is not the one in the manifest: the file was changed or damaged',
    );
    expect(await refused(packed(goodFiles(), ({ files }) => (files['metrics.jsonl']!.bytes += 1)))).toContain('metrics.jsonl: it has');
  });

  test('a zip that declares 10 GB, a zip that holds more than it declares, a zip above the limits', async () => {
    const zip = packed(goodFiles());
    const name = new TextEncoder().encode('trajectories.jsonl');
    const at = (signature: number, nameAt: number) => {
      const view = new DataView(zip.buffer);
      for (let i = 0; i + nameAt + name.length < zip.length; i++) {
        if (view.getUint32(i, true) === signature && name.every((byte, j) => zip[i + nameAt + j] === byte)) return { view, i };
      }
      throw new Error('no such entry');
    };
    const { view, i } = at(0x02014b50, 46);
    const claimed = (size: number) => {
      const original = view.getUint32(i + 24, true);
      view.setUint32(i + 24, size, true);
      const changed = zip.slice();
      view.setUint32(i + 24, original, true);
      return changed;
    };
    expect(await refused(claimed(0xfffffff0))).toBe('trajectories.jsonl: it is larger than 256 MiB');
    expect(await refused(claimed(10))).toContain('the zip declares 10 bytes, but the file has more');
    expect(await refused(zip, { limits: { totalBytes: 5000 } })).toContain('the files together are larger than');
    expect(await refused(zip, { limits: { fileBytes: 1000 } })).toContain('larger than');
    expect(await refused(spoilt('metrics.jsonl', lines([{ step: 1 }, { step: 2 }, { step: 3 }])), { limits: { rows: 2 } })).toBe(
      'metrics.jsonl: it has more than 2 lines',
    );
  });

  test('too many entries, paths out of the zip, duplicate names, unlisted files', async () => {
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, json(i)]));
    expect(await refused(zipSync(many) as Uint8Array<ArrayBuffer>)).toContain('more than 100 files');
    for (const name of ['../../../etc/passwd', 'model/../../x', '..\\x'])
      expect(await refused(packed({ ...goodFiles(), [name]: json(1) }))).toContain('it names a file outside of itself');
    expect(await refused(packed({ ...goodFiles(), 'model/.hidden': json(1) }))).toContain('is not a file of a run bundle');
    expect(await refused(packed({ ...goodFiles(), 'evil.js': json(1) }))).toBe(
      'manifest.json: files: "evil.js" is not a file of a run bundle',
    );
    expect(await refused(packed({ ...goodFiles(), 'model/x': json(1) }, ({ files }) => delete files['model/x']))).toBe(
      'model/x: it is in the zip, but not in the manifest',
    );
    expect(await refused(packed(goodFiles(), ({ files }) => delete files['metrics.jsonl']))).toBe(
      'manifest.json: files: metrics.jsonl is missing',
    );
    const twice = packed({ ...goodFiles(), './run.json': json(1) });
    expect(await refused(twice)).toContain('it contains run.json twice');
  });

  test('another format, a newer version', async () => {
    expect(await refused(packed(goodFiles(), (manifest) => (manifest.format = 'eval')))).toBe(
      'manifest.json: format: is "eval": expected "mua-run"',
    );
    expect(await refused(packed(goodFiles(), (manifest) => (manifest.format_version = 2)))).toContain(
      'format_version: is 2: this page reads versions up to 1; reload the page',
    );
    expect(await refused(packed(goodFiles(), (manifest) => (manifest.format_version = '1')))).toContain(
      'format_version: is "1": expected 1',
    );
    expect(await refused(packed(goodFiles(), (manifest) => (manifest.created = 'yesterday')))).toContain('created: is "yesterday"');
  });

  test('files that are not JSON, and invalid numbers', async () => {
    expect(await refused(spoilt('metrics.jsonl', lines([{ step: 1 }, '{"step": NaN}'])))).toContain(
      'metrics.jsonl: line 2: it is not JSON',
    );
    expect(await refused(spoilt('metrics.jsonl', lines(['{"step": 1, "a": 1e999}'])))).toBe(
      'metrics.jsonl: line 1, a: is Infinity: expected a number',
    );
    expect(await refused(spoilt('metrics.jsonl', lines([{ step: 1, a: '2' }])))).toContain('line 1, a: is "2": expected');
    expect(await refused(spoilt('metrics.jsonl', lines([{ step: 1 }, { step: 1 }])))).toBe(
      'metrics.jsonl: line 2, step: 1 was on an earlier line',
    );
    expect(await refused(spoilt('run.json', Uint8Array.of(0xff, 0xfe)))).toContain('run.json: it is not JSON');
    expect(await refused(spoilt('run.json', json({ ...whole.run, createdAt: 1e300 })))).toBe(
      'run.json: createdAt: is 1e+300: expected at most 8640000000000000',
    );
    expect(await refused(spoilt('run.json', json({ ...whole.run, status: 'winning' })))).toContain(
      'status: is "winning": expected "starting"',
    );
    expect(await refused(spoilt('run.json', json({ ...whole.run, config: { ...whole.run.config, lr: { a: 1 } } })))).toContain(
      'config.lr: is {"a":1}',
    );
    expect(await refused(spoilt('rollouts.jsonl', lines([{ ...whole.rollouts[0], id: 'a\u0000b' }])))).toContain(
      'line 1, id: is "a\\u0000b"',
    );
    expect(await refused(spoilt('rollouts.jsonl', lines([{ ...whole.rollouts[0], id: 'a,b' }])))).toContain(
      'line 1, id: is "a,b": expected 1 to 200 characters without commas',
    );
  });

  test('a broken graph, arrays of wrong length, unlisted trajectories', async () => {
    const first = whole.trajectories[0]!.nodes;
    expect(await refused(spoiltTrajectory((t) => (t.nodes[2].parent = 9999)))).toContain(
      'trajectories.jsonl: line 1, nodes[2].parent: is 9999: expected null or the id of an earlier node',
    );
    expect(await refused(spoiltTrajectory((t) => (t.nodes[2].parent = first[2]!.id)))).toContain('nodes[2].parent');
    expect(await refused(spoiltTrajectory((t) => (t.nodes[2].id = first[1]!.id)))).toContain('nodes[2].id');
    expect(await refused(spoiltTrajectory((t) => (t.leaf = 9999)))).toContain('line 1, leaf: is 9999');
    expect(await refused(spoiltTrajectory((t) => t.nodes[0].mask.push(1)))).toContain('nodes[0].mask: has');
    expect(await refused(spoiltTrajectory((t) => (t.nodes[0].annotations = { entropy: [1] })))).toContain('nodes[0].entropy: has 1 values');
    expect(await refused(spoiltTrajectory((t) => (t.nodes[0].tokens[0] = -1)))).toContain('nodes[0].tokens: is [');
    expect(await refused(spoiltTrajectory((t) => (t.nodes[0].role = HTML)))).toContain('nodes[0].role');
    expect(await refused(spoiltTrajectory((t) => (t.id = 'stray')))).toContain(
      'id: is "stray": expected the id of a rollout in rollouts.jsonl',
    );
    expect(await refused(spoilt('trajectories.jsonl', lines([whole.trajectories[0], whole.trajectories[0]])))).toContain('line 2, id');
    let deep: unknown = 1;
    for (let i = 0; i < 100; i++) deep = [deep];
    expect(await refused(spoiltTrajectory((t) => (t.task.actions[0].arguments = { deep })))).toContain('at most 64 deep');
  });

  test('`__proto__` changes no prototype and stays data in free JSON', async () => {
    const proto = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const text = JSON.stringify({
      ...whole.trajectories[0],
      task: { ...whole.trajectories[0]!.task, actions: [{ name: 'x', arguments: 'HERE' }] },
    }).replace('"HERE"', proto);
    const metrics = `{"step":1,"__proto__":7,"a":1}`;
    const {
      trajectories,
      metrics: [read],
    } = await readRunBundle(packed({ ...goodFiles(), 'trajectories.jsonl': lines([text]), 'metrics.jsonl': lines([metrics]) }));
    const { arguments: given } = trajectories[0]!.task.actions[0]!;
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(given)).toBe(Object.prototype);
    expect(Object.keys(given)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(read).toEqual({ step: 1, a: 1 });
  });

  test('markup in names, texts and ids is passed on as text', async () => {
    const trajectory = { ...structuredClone(whole.trajectories[0]!), id: HTML, group: HTML };
    trajectory.nodes[0]!.text = HTML;
    const rollouts = [{ ...whole.rollouts[0]!, id: HTML, group: HTML, task: HTML }];
    const again = await readRunBundle(
      await write({ ...whole, run: { ...whole.run, name: HTML }, rollouts, trajectories: [trajectory], model: null }),
    );
    expect(again.run.name).toBe(HTML);
    expect(again.rollouts).toEqual(rollouts);
    expect(again.trajectories[0]!.nodes[0]!.text).toBe(HTML);
  });
});

describe('storage', () => {
  const counts = async (db: RunDatabase) =>
    Promise.all([db.runs, db.metrics, db.rollouts, db.trajectories, db.models].map((table) => table.count()));

  test('stores a whole run, marks it as imported, and gives it a new id if its id is in use', async () => {
    const db = new RunDatabase('import-twice');
    const first = await storeRun(db, whole, []);
    expect(first).toBe(whole.run.id);
    const told: number[] = [];
    const second = await storeRun(db, { ...whole, run: { ...whole.run, status: 'running' } }, [], {
      onProgress: (done, total) => told.push(done / total),
    });
    expect(second).not.toBe(first);
    expect(told.at(-1)).toBe(1);
    expect(await storeRun(new RunDatabase('import-taken'), whole, [whole.run.id])).not.toBe(whole.run.id);
    expect(await db.runs.get(second)).toMatchObject({ name: whole.run.name, status: 'interrupted', imported: expect.any(Number) });
    expect(await counts(db)).toEqual([2, 2 * whole.metrics.length, 2 * whole.rollouts.length, 2 * whole.trajectories.length, 0]);
    const { run: _, ...stored } = (await db.trajectories.get([second, whole.trajectories[0]!.id]))!;
    expect(stored).toEqual(whole.trajectories[0]);
  });

  test('stores no part of a run that does not fit', async () => {
    const db = new RunDatabase('import-nothing');
    await expect(storeRun(db, { ...whole, trajectories: [...whole.trajectories, whole.trajectories[0]!] }, [])).rejects.toThrow();
    expect(await counts(db)).toEqual([0, 0, 0, 0, 0]);
  });
});

test('lines for other tools: messages and exact tokens, split at the agent’s first token', () => {
  const trajectory = whole.trajectories[0]!;
  const line = trajectoryLine(
    trajectory,
    whole.rollouts.find(({ id }) => id === trajectory.id),
  ) as Loose;
  expect(line).toMatchObject({
    step: 1,
    group: trajectory.group,
    reward: trajectory.reward,
    score: trajectory.reward,
    task: trajectory.task.id,
  });
  expect(line.prompt.map(({ role }: { role: string }) => role)).toEqual(['system', 'user']);
  expect(line.completion[0].role).toBe('assistant');
  expect(line.completion_mask[0]).toBe(1);
  expect(line.completion_ids).toHaveLength(line.completion_mask.length);
  expect(line.logprobs).toHaveLength(line.completion_mask.length);
  expect(line.prompt_ids.length + line.completion_ids.length).toBe(trajectory.nodes.reduce((sum, { tokens }) => sum + tokens.length, 0));
});

test('metrics lines contain finite numbers only', async () => {
  expect(new TextDecoder().decode(await jsonl([{ step: 1, a: Infinity, b: 0 }], finiteMetrics))).toBe('{"step":1,"b":0}\n');
});
