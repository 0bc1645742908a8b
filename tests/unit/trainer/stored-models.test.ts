/** Imported models, checkpoints as folders, and published runs: accepted files, refused files and the reasons. */
import type { ModelFiles } from '../../../src/records/model.ts';
import 'fake-indexeddb/auto';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { unzipSync, zipSync } from 'fflate';
import { checkpointEntries, storedEntry } from '../../../src/app/models/inventory.ts';
import { architecture, cardText } from '../../../src/app/models/model-texts.ts';
import { destination } from '../../../src/app/routes/handed-over.svelte.ts';
import { fileName } from '../../../src/app/kit/download.ts';
import { fetchBundle, sourceUrl } from '../../../src/app/share/fetch-bundle.ts';
import { importLink, readOpen } from '../../../src/app/share/link.ts';
import { isModelFile, readModelFiles } from '../../../src/exchange/model-files.ts';
import { inMemory, loadModel, withWeights } from '../../../src/exchange/model-folder.ts';
import { writeSafetensors } from '../../../src/exchange/safetensors.ts';
import { zipFiles } from '../../../src/exchange/zip.ts';
import type { RunRow } from '../../../src/records/run.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { checkpointFiles, inspectModel, modelFiles, modelRow } from '../../../src/trainer/stored-models.ts';

const FOLDER = 'models/nano-retail';
const files: ModelFiles = Object.fromEntries(readdirSync(FOLDER).map((name) => [name, new Uint8Array(readFileSync(join(FOLDER, name)))]));
const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const parsed = (name: string) => JSON.parse(new TextDecoder().decode(files[name])) as Record<string, unknown>;
/** A hash, to compare large files. */
const digests = (contents: Record<string, Uint8Array>) =>
  Object.fromEntries(Object.entries(contents).map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]));
const without = (name: string): ModelFiles => Object.fromEntries(Object.entries(files).filter(([own]) => own !== name));

describe('a folder', () => {
  test('is accepted as a listing with other files, as single files and as our own zip', async () => {
    const listing = [
      ...Object.entries(files).map(([name, bytes]) => [`my-model/${name}`, bytes] as const),
      ['my-model/onnx/model.onnx', json(1)] as const,
      ['my-model/.git/config', json(1)] as const,
      ['my-model/evil.html', json(1)] as const,
    ];
    const read = async (source: Parameters<typeof readModelFiles>[0]) =>
      readModelFiles(source).then(({ name, files: found }) => ({ name, files: digests(inMemory(found)) }));
    expect(await read(listing)).toEqual({ name: 'my-model', files: digests(files) });
    expect(await read(Object.entries(files))).toEqual({ name: '', files: digests(files) });
    const zip = await zipFiles(Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`nano/${name}`, bytes])), new Date());
    expect(await read([['nano.zip', zip]])).toEqual({ name: 'nano', files: digests(files) });
    expect(Object.keys(unzipSync(new Uint8Array(await zip.arrayBuffer()))).sort()).toEqual(
      Object.keys(files)
        .map((name) => `nano/${name}`)
        .sort(),
    );
  });

  test('keeps weights where they are: memory never holds the file', async () => {
    const weights = new Blob([files['model.safetensors']!]); // 'slice' makes other Blobs
    vi.spyOn(weights, 'arrayBuffer').mockRejectedValue(new Error('read as a whole'));
    vi.spyOn(weights, 'stream').mockImplementation(() => {
      throw new Error('read as a whole');
    });
    const listing = Object.entries(files).map(([name, bytes]) => [`m/${name}`, name === 'model.safetensors' ? weights : bytes] as const);
    const { files: found } = await readModelFiles(listing);
    expect(found['model.safetensors']).toBe(weights);
    const row = await modelRow('m', found);
    expect(row.files['model.safetensors']).toBe(weights);
    expect(row.parameters).toBe((await inspectModel(files)).parameters);
  });

  test('is refused without config.json, with two models, or with paths out of the folder', async () => {
    await expect(
      readModelFiles([
        ['x/a.safetensors', json(1)],
        ['x/b.txt', json(1)],
      ]),
    ).rejects.toThrow('config.json is missing: expected a Hugging Face folder');
    await expect(
      readModelFiles([
        ['a/config.json', json(1)],
        ['b/config.json', json(1)],
      ]),
    ).rejects.toThrow('there are several models: a/config.json, b/config.json');
    await expect(readModelFiles([['m.zip', zipSync({ '../config.json': json(1) })]])).rejects.toThrow('it names a file outside of itself');
    expect(['config.json', 'model-00001-of-00002.safetensors', 'README.md'].every(isModelFile)).toBe(true);
    expect(
      ['../x.safetensors', 'a/b.safetensors', '.safetensors', 'pytorch_model.bin', 'modeling.py', 'config.json.html'].some(isModelFile),
    ).toBe(false);
  });
});

describe('a model', () => {
  test('is checked completely', async () => {
    const { config, parameters } = await inspectModel(files);
    expect(parameters).toBe([...loadModel(files).weights.values()].reduce((sum, { data }) => sum + data.length, 0));
    expect(architecture(config)).toContain(`qwen3, ${config.num_hidden_layers} layers of width ${config.hidden_size}`);
  });

  test.each([
    ['tokenizer.json', 'tokenizer.json is missing'],
    ['tokenizer_config.json', 'tokenizer_config.json is missing'],
    ['model.safetensors', 'model.safetensors is missing'],
    ['config.json', 'config.json is missing'],
  ])('without %s is refused', async (name, message) => {
    await expect(inspectModel(without(name))).rejects.toThrow(message);
  });

  test.each<[string, ModelFiles, string]>([
    [
      'another architecture',
      { ...files, 'config.json': json({ ...parsed('config.json'), model_type: 'gemma3' }) },
      'model_type is "gemma3"',
    ],
    [
      'shapes that do not fit',
      { ...files, 'config.json': json({ ...parsed('config.json'), intermediate_size: 128 }) },
      'mlp.gate_proj.weight has shape',
    ],
    ['damaged weights', { ...files, 'model.safetensors': files['model.safetensors']!.slice(0, 5000) }, 'model.safetensors: '],
    [
      'another tokenizer',
      { ...files, 'tokenizer.json': json({ ...parsed('tokenizer.json'), added_tokens: [] }) },
      'expected an added token of tokenizer.json that ends the turn',
    ],
    ['no JSON', { ...files, 'config.json': new TextEncoder().encode('<html>') }, 'config.json is not JSON'],
  ])('with %s is refused', async (_, spoilt, message) => {
    await expect(inspectModel(spoilt)).rejects.toThrow(message);
  });

  test('in storage is found by its id; an error names an unknown id', async () => {
    const db = new RunDatabase('stored-models');
    const row = await modelRow('<b>mine</b>', { ...files, 'evil.py': json(1) });
    await db.models.add(row);
    expect(digests(await modelFiles(db, row.id))).toEqual(digests(files));
    expect(storedEntry((await db.models.get(row.id))!)).toMatchObject({
      id: row.id,
      name: '<b>mine</b>',
      kind: 'imported',
      bytes: Object.values(files).reduce((sum, { length }) => sum + length, 0),
    });
    expect(cardText(await storedEntry(row).card())).toMatch(/^# nano-retail/);
    await expect(modelFiles(db, 'gone')).rejects.toThrow('the model "gone" is neither bundled nor in this browser');
  });
});

test('new weights replace all old weights, and other files do not change', () => {
  const { weights } = loadModel(files);
  for (const { data } of weights.values()) data.forEach((value, i) => (data[i] = value / 2));
  const { 'model.safetensors': old, ...rest } = files;
  const map = Object.fromEntries([...weights.keys()].map((name) => [name, 'one.safetensors']));
  const sharded = {
    ...rest,
    'config.json': json({ ...parsed('config.json'), dtype: 'bfloat16', initializer_range: 0.5 }),
    'one.safetensors': old!,
    'model.safetensors.index.json': json({ weight_map: map }),
  };
  const folder = withWeights(sharded, weights);
  expect(Object.keys(folder).sort()).toEqual(
    ['config.json', 'model.safetensors', ...Object.keys(rest).filter((name) => /^(token|gen|chat)/.test(name))].sort(),
  );
  expect(JSON.parse(new TextDecoder().decode(folder['config.json']))).toEqual({
    ...parsed('config.json'),
    torch_dtype: 'float32',
    dtype: 'float32',
    initializer_range: 0.5,
  });
  expect(loadModel(folder).weights).toEqual(weights);
  expect(digests(withWeights(sharded, writeSafetensors(weights)))).toEqual(digests(folder));
});

test('a GGUF file is stored as it is, with the files that follow from it', async () => {
  const bytes = new Uint8Array(readFileSync('tests/reference/fixtures/gguf/llama.gguf'));
  const given: [string, Blob][] = [['SmolLM2.gguf', new Blob([bytes])]];
  expect(destination(given as never)).toBe('models');
  const row = await modelRow('small', (await readModelFiles(given)).files);
  expect(Object.keys(row.files).sort()).toEqual(['SmolLM2.gguf', 'config.json', 'tokenizer.json', 'tokenizer_config.json']);
  expect(row.config).toMatchObject({ model_type: 'llama', num_hidden_layers: 2, hidden_size: 256 });
  expect(row).not.toHaveProperty('made');
  const db = new RunDatabase('gguf-models');
  await db.models.add(row);
  const again = await modelFiles(db, row.id);
  expect(digests(again)['SmolLM2.gguf']).toBe(digests({ bytes }).bytes);
  expect([...loadModel(again).weights.values()].reduce((sum, { data }) => sum + data.length, 0)).toBe(row.parameters);
});

test('a checkpoint is exported as the model folder of its run with new weights', async () => {
  const db = new RunDatabase('checkpoint-folders');
  const model = await modelRow('base', files);
  const { weights } = loadModel(files);
  for (const { data } of weights.values()) data.forEach((value, i) => (data[i] = value / 2));
  const run: RunRow = {
    id: 'r',
    name: 'brisk-otter',
    createdAt: 1,
    status: 'done',
    step: 2,
    request: { model: model.id, preset: 'tiny', overrides: {}, user: { mode: 'scripted' } },
    config: grpoConfig('tiny'),
  };
  const file = writeSafetensors(weights);
  const checkpoint = (step: number) => ({
    run: 'r',
    step,
    savedAt: step,
    weights: new Blob([file]),
    sha256: { weights: digests({ file }).file!, reference: null, optimizer: '' },
    origin: { app: '1', adapter: 'a', model: 'm', config: 'c' },
    reference: null,
    optimizer: new Blob(['12345']),
    state: { optimizerStep: step },
  });
  await db.models.add(model);
  await db.runs.add(run);
  await db.checkpoints.bulkAdd([checkpoint(1), checkpoint(2)]);
  const folder = await checkpointFiles(db, 'r', 2);
  expect(folder['README.md']).toBeUndefined();
  expect(digests(folder)).toEqual(digests(withWeights(files, weights)));
  expect(loadModel(folder).weights).toEqual(weights);
  expect((await inspectModel(folder)).parameters).toBe(model.parameters);
  expect(
    checkpointEntries(await db.runs.toArray(), await db.checkpoints.toArray()).map(({ runName, step, rest, newest }) => [
      runName,
      step,
      rest,
      newest,
    ]),
  ).toEqual([
    ['brisk-otter', 2, 5, true],
    ['brisk-otter', 1, 5, false],
  ]);
  await expect(checkpointFiles(db, 'r', 7)).rejects.toThrow('has no checkpoint of step 7');
});

test('each file goes to the page that imports it, and gets a file name that every system accepts', () => {
  const file = new File([], 'x');
  expect(destination([['m/config.json', file]])).toBe('models');
  expect(destination([['weights.safetensors', file]])).toBe('models');
  expect(destination([['run.mua.zip', file]])).toBe('import');
  expect(['golden-finch', '../../../etc/passwd', '<img src=x>', '...', ''].map(fileName)).toEqual([
    'golden-finch',
    'etc_passwd',
    'img_src_x_',
    'unnamed',
    'unnamed',
  ]);
});

describe('a published run', () => {
  const here = 'https://play.example/app/index.html#/import';
  afterEach(() => vi.unstubAllGlobals());
  const answer = (response: () => Response | Promise<Response>) => {
    const called = vi.fn((_url: URL, _init: RequestInit) => Promise.resolve(response()));
    vi.stubGlobal('fetch', called);
    return called;
  };
  const url = new URL('https://host.example/run.mua.zip');

  test('must come from https, this site or this machine, without credentials', () => {
    expect(sourceUrl('https://host.example/a.mua.zip?x=1', here).href).toBe('https://host.example/a.mua.zip?x=1');
    expect(sourceUrl('recorded/run.mua.zip', here).href).toBe('https://play.example/app/recorded/run.mua.zip');
    expect(sourceUrl('http://127.0.0.1:8000/a', here).host).toBe('127.0.0.1:8000');
    expect(() => sourceUrl('http://host.example/a', here)).toThrow('the address begins with http:: expected https:');
    for (const src of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'blob:https://play.example/1'])
      expect(() => sourceUrl(src, here)).toThrow('expected https:');
    expect(() => sourceUrl('https://me:secret@host.example/a', here)).toThrow('a user name or a password');
    expect(() => sourceUrl('https://', here)).toThrow('is no address');
  });

  test('has a link that names it and one of its conversations; an address that does not work elsewhere gets no link', () => {
    const [path, search] = importLink(here, ' https://host.example/a b.mua.zip?x=1&y=2 ', 'a/1 0-0').split(/\?(.*)/s);
    expect(path).toBe('https://play.example/app/index.html#/import');
    const query = new URLSearchParams(search);
    expect(query.get('src')).toBe('https://host.example/a%20b.mua.zip?x=1&y=2');
    expect(readOpen(query.get('open')!)).toBe('a/1 0-0');
    expect(importLink(here, 'https://host.example/a')).not.toContain('open');
    for (const open of ['', 'rollouts/', 'trials/1', 'x/rollouts/1']) expect(readOpen(open)).toBeNull();
    expect(() => importLink(here, 'host.example/a.zip')).toThrow('"host.example/a.zip" is no whole address');
    expect(() => importLink(here, 'http://host.example/a')).toThrow('expected https:');
    expect(() => importLink(here, 'https://me:secret@host.example/a')).toThrow('a user name or a password');
  });

  test('is read without cookies, with its progress', async () => {
    const called = answer(() => new Response('123456', { headers: { 'Content-Length': '6' } }));
    const told: [number, number | null][] = [];
    expect(await (await fetchBundle(url, 10, (...progress) => told.push(progress))).text()).toBe('123456');
    expect(told.at(-1)).toEqual([6, 6]);
    expect(called.mock.calls[0]![1]).toMatchObject({ credentials: 'omit', referrerPolicy: 'no-referrer' });
  });

  test('is refused for its size (declared or not), for an error status, and for no answer', async () => {
    const never = () => {};
    answer(() => new Response('x', { headers: { 'Content-Length': '11' } }));
    await expect(fetchBundle(url, 10, never)).rejects.toThrow('the file is larger than');
    answer(() => new Response('x'.repeat(11)));
    await expect(fetchBundle(url, 10, never)).rejects.toThrow('the file is larger than');
    answer(() => new Response('x', { status: 404 }));
    await expect(fetchBundle(url, 10, never)).rejects.toThrow('host.example answered HTTP 404');
    answer(() => Promise.reject(new TypeError('Failed to fetch')));
    await expect(fetchBundle(url, 10, never)).rejects.toThrow('does not let other pages read its files (CORS)');
  });
});
