/** Import of benchmark data: recognised files, error messages, and the stored import. */
import 'fake-indexeddb/auto';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Dexie } from 'dexie';
import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { exactDomain } from '../../support/exact-domains.ts';
import { StateHasher } from '../../../src/domains/exact/run.ts';
import { Overlay, World } from '../../../src/environments/overlay.ts';
import { LIMITS } from '../../../src/exchange/file-source.ts';
import { importBenchmark, importBenchmarks } from '../../../src/benchmarks/import/import.ts';
import type { ImportOptions } from '../../../src/benchmarks/import/read-files.ts';
import { ImportError } from '../../../src/exchange/import-error.ts';
import { BenchmarkDatabase } from '../../../src/benchmarks/import/database.ts';
import { bytes, type Data, files, tau1Airline, tau1Retail, tau2Mock, tau2Retail, tau2Telecom } from '../../support/benchmark-data.ts';

const zipped = (data: Data, folder = '') => zipSync(Object.fromEntries(files(data, folder)));
const load = (data: Data, options?: ImportOptions) => importBenchmark(files(data), options);

async function refused(data: Data | Uint8Array, options?: ImportOptions): Promise<string> {
  const error = await importBenchmark(data instanceof Uint8Array ? data : files(data), options).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ImportError);
  expect((error as Error).message).not.toContain('\n');
  return (error as Error).message;
}

describe('recognises', () => {
  test.each([
    ['tau1', 'retail', tau1Retail, 2, { test: ['test/0', 'test/1'] }],
    ['tau1', 'airline', tau1Airline, 1, { test: ['test/0'] }],
    ['tau2', 'retail', tau2Retail, 1, { train: ['0'], test: [], base: ['0'] }],
    ['tau2', 'mock', tau2Mock, 1, { base: ['done'] }],
    ['tau2', 'telecom', tau2Telecom, 1, { base: ['t'] }],
  ] as const)('%s %s', async (benchmark, domain, data, tasks, splits) => {
    const imported = await load(data);
    expect(imported).toMatchObject({ benchmark, domain, splits });
    expect(imported.tasks).toHaveLength(tasks);
    expect(imported.policy.length).toBeGreaterThan(5);
    expect(exactDomain(domain, benchmark).dump(new Overlay(new World('w', imported.tables)))).toBeTruthy();
  });

  test('missing files, and the two files of telecom’s policy', async () => {
    expect((await load(tau2Retail)).absent).toEqual({ test: 1, base: 1 });
    const telecom = await load(tau2Telecom);
    expect(telecom.policy).toBe('<main_policy>\nMAIN\n</main_policy>\n<tech_support_policy>\nMANUAL\n</tech_support_policy>');
    expect(telecom.tables.get('customers')!.get('C1')).toMatchObject({ created_at: '2024-05-06 07:08:09' });
    expect(telecom.tables.get('')!.get('device')).toMatchObject({ wifi_enabled: true });
  });

  test('folders, zips, blobs and streams; of several domains the requested domain', async () => {
    const everything = {
      ...Object.fromEntries(files(tau1Retail, 'a/envs/retail/')),
      ...Object.fromEntries(files(tau2Retail, 'b/domains/retail/')),
      ...Object.fromEntries(files(tau2Mock, 'b/domains/mock/')),
      'README.md': bytes('x'),
    };
    const whole = await load(tau2Retail);
    const stream = new Blob([zipSync(everything)]).stream() as ReadableStream<Uint8Array>;
    const sources = [
      zipSync(everything),
      new Blob([zipSync(everything)]),
      stream,
      Object.entries(everything),
      new Map(Object.entries(everything).map(([path, data]) => [`.//${path}`, () => Promise.resolve(new Blob([data]))])),
      [['all.zip', zipSync(everything)]] as const,
    ];
    for (const source of sources) expect(await importBenchmark(source, { benchmark: 'tau2', domain: 'retail' })).toEqual(whole);
    await expect(importBenchmark(Object.entries(everything))).rejects.toThrow(
      /there is more than one domain: tau1 retail \(a\/envs\/retail\), tau2 retail .*, tau2 mock .*; choose one/,
    );
    await expect(importBenchmark(Object.entries(everything), { domain: 'airline' })).rejects.toThrow('there is no airline data here');
    const unread = () => Promise.reject(new Error('read'));
    expect(await importBenchmark([...files(tau2Retail), ['big.bin', unread], ['other/notes.md', unread]])).toEqual(whole);
  });

  test('every known domain of a repository; fails if one domain is broken or occurs twice', async () => {
    const everything = {
      ...Object.fromEntries(files(tau1Retail, 'envs/retail/')),
      ...Object.fromEntries(files(tau2Retail, 'domains/retail/')),
      ...Object.fromEntries(files(tau2Mock, 'domains/mock/')),
    };
    const foreign = bytes('{"accounts": {}}');
    const told: [number, number][] = [];
    const all = await importBenchmarks(Object.entries({ 'domains/bank/db.json': foreign, ...everything }), {
      onProgress: (done, total) => told.push([done, total]),
    });
    expect(all.map(({ benchmark, domain }) => `${benchmark} ${domain}`)).toEqual(['tau1 retail', 'tau2 retail', 'tau2 mock']);
    expect(all[1]).toEqual(await load(tau2Retail));
    expect(told.every(([done, total]) => done <= total)).toBe(true);
    await expect(importBenchmarks([['bank/db.json', foreign]])).rejects.toThrow('bank/db.json: its tables belong to no known domain');
    await expect(importBenchmarks(files({ 'a.md': '' }))).rejects.toThrow(
      'there is no tau-bench or tau2-bench or BFCL Multi Turn or ACEBench Agent data here',
    );
    await expect(importBenchmarks(Object.entries({ ...everything, 'domains/mock/tasks.json': bytes('[{"id": "do') }))).rejects.toThrow(
      /^domains\/mock\/tasks.json: it is not JSON: .*\(it seems to be cut off\)/,
    );
    await expect(importBenchmarks([...files(tau2Mock, 'a/'), ...files(tau2Mock, 'b/')])).rejects.toThrow(
      'there is more than one domain: tau2 mock (a), tau2 mock (b); choose one',
    );
  });

  test('tau-bench’s own layout, where tables are in data/', async () => {
    const { 'wiki.md': wiki, 'tasks_test.json': tasks, ...tables } = tau1Retail;
    const imported = await importBenchmark([
      ...files(tables, 'envs/retail/data/'),
      ...files({ 'wiki.md': wiki!, 'tasks_test.json': tasks! }, 'envs/retail/'),
    ]);
    expect(imported).toEqual(await load(tau1Retail));
  });

  test('reports progress', async () => {
    const told: [number, number][] = [];
    await load(tau2Telecom, { onProgress: (done, total) => told.push([done, total]) });
    expect(told.length).toBeGreaterThan(3);
    expect(told.every(([done, total]) => done <= total)).toBe(true);
    expect(told.map(([done]) => done)).toEqual(told.map(([done]) => done).sort((a, b) => a - b));
    expect(told.at(-1)![0]).toBe(told.at(-1)![1]);
  });
});

test('ids that look like integers keep their order, in the import and in storage', async () => {
  const store = new BenchmarkDatabase('order');
  for (const data of [tau1Retail, tau2Retail]) {
    const imported = await load(data);
    const again = await store.read((await store.store(imported)).id);
    for (const { tables } of [imported, again]) {
      expect([...tables.get('products')!.keys()]).toEqual(['200', '100']);
      expect((tables.get('products')!.get('200') as { variants: { item_id: string }[] }).variants.map(({ item_id }) => item_id)).toEqual([
        '9',
        '10',
        '3',
      ]);
    }
  }
});

test('__proto__ and similar names are ordinary keys', async () => {
  const record = '{"task_id": "__proto__", "title": "T", "description": null, "status": "pending"}';
  const imported = await load({
    ...tau2Mock,
    'db.json': `{"tasks": {"__proto__": ${record}, "constructor": ${record}}, "users": {}, "__proto__": {"polluted": true}}`,
    'split_tasks.json': '{"__proto__": ["done"]}',
  });
  expect([...imported.tables.get('tasks')!.keys()]).toEqual(['__proto__', 'constructor']);
  expect(Object.keys(imported.splits)).toEqual(['__proto__']);
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  const store = new BenchmarkDatabase('proto');
  expect([...(await store.read((await store.store(imported)).id)).tables.get('tasks')!.keys()]).toEqual(['__proto__', 'constructor']);
  const toml = await load({ ...tau2Telecom, 'user_db.toml': '[device]\n' });
  expect(toml.domain).toBe('telecom');
  expect(await refused({ ...tau2Telecom, 'user_db.toml': '["__proto__"]\nx = 1\n' })).toBe(
    'user_db.toml: __proto__: there is no such field',
  );
});

describe('refuses, with file, path and reason:', () => {
  const changed = (data: Data, file: string, change: (text: string) => string): Data => ({ ...data, [file]: change(data[file]!) });
  test.each<[string, Data, RegExp]>([
    [
      'no benchmark data',
      { 'a.txt': '' },
      /^there is no tau-bench or tau2-bench or BFCL Multi Turn or ACEBench Agent data here: expected a folder with flights.json, .* or db.json or db.toml or BFCL_v4_multi_turn_base.json or data_en\/data_agent_multi_turn.json$/,
    ],
    ['another database', { ...tau2Mock, 'db.json': '{"planets": {}}' }, /^db.json: its tables belong to no known domain/],
    ['a missing table of tau-bench', (({ 'users.json': _, ...rest }) => rest)(tau1Retail), /^the files: users.json is missing/],
    ['no tasks', (({ 'tasks.json': _, ...rest }) => rest)(tau2Mock), /there is no tasks.json/],
    ['no policy', (({ 'main_policy.md': _, ...rest }) => rest)(tau2Telecom), /there is no main_policy.md or policy.md/],
    [
      'truncated JSON',
      changed(tau2Retail, 'db.json', (text) => text.slice(0, -20)),
      /^db.json: it is not JSON: .+ \(it seems to be cut off\)$/,
    ],
    ['an empty file', { ...tau2Mock, 'tasks.json': ' ' }, /^tasks.json: it is empty$/],
    ['a pointer of Git LFS', { ...tau2Mock, 'db.json': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n' }, /Git LFS pointer/],
    ['bad TOML', { ...tau2Telecom, 'db.toml': '[[plans]\n' }, /^db.toml: it is not TOML: /],
    [
      'an invalid table',
      changed(tau2Mock, 'db.json', (text) => text.replace('"users":{', '"users":3,"x":{')),
      /^db.json: users: must be an object$/,
    ],
    [
      'a record of tau2',
      changed(tau2Retail, 'db.json', (text) => text.replace('"ada@example.com"', '7')),
      /^db.json: users.ada_1.email: must be a string$/,
    ],
    [
      'a record of tau1',
      changed(tau1Retail, 'users.json', (text) => text.replace('"ada@example.com"', '7')),
      /^users.json: ada_1.email: .*expected string/,
    ],
    ['a table of tau1', { ...tau1Retail, 'orders.json': '[1]' }, /^orders.json: expected an object of records by id$/],
    [
      'variants of tau1',
      { ...tau1Retail, 'products.json': '{"1": {"name": "A", "product_id": "1", "variants": 4}}' },
      /^products.json: 1.variants: expected an object$/,
    ],
    [
      'a record of telecom',
      changed(tau2Telecom, 'db.toml', (text) => text.replace('data_limit_gb = 5.0', 'data_limit_gb = "many"')),
      /^db.toml: plans.0.data_limit_gb: must be a number$/,
    ],
    [
      'the user’s database',
      { ...tau2Telecom, 'user_db.toml': '[device]\nbattery_level = "high"\n' },
      /^user_db.toml: device.battery_level: must be a whole number$/,
    ],
    [
      'the user’s database of mock',
      { ...tau2Mock, 'user_db.json': '{"notifications": {"n": {}}}' },
      /^user_db.json: notifications.n.notification_id: must be a string$/,
    ],
    [
      'a task of tau2',
      changed(tau2Retail, 'tasks.json', (text) => text.replace('"NL_ASSERTION"', '"LUCK"')),
      /^tasks.json: \[0\].evaluation_criteria.reward_basis\[1\]: /,
    ],
    [
      'a task of tau1',
      changed(tau1Retail, 'tasks_test.json', (text) => text.replace('"outputs":["10.5"]', '"outputs":[10.5]')),
      /^tasks_test.json: \[0\].outputs\[0\]: /,
    ],
    [
      'an id twice',
      changed(tau2Mock, 'tasks.json', (text) => `[${text.slice(1, -1)},${text.slice(1)}`),
      /^tasks.json: \[1\].id: 'done' is the id of an earlier task$/,
    ],
    ['splits', { ...tau2Mock, 'split_tasks.json': '{"base": "done"}' }, /^split_tasks.json: base: /],
    ['endless nesting', { ...tau2Mock, 'tasks.json': `${'['.repeat(200_000)}${']'.repeat(200_000)}` }, /^tasks.json: /],
  ])('%s', async (_, data, message) => {
    expect(await refused(data)).toMatch(message);
  });

  test('text that is not UTF-8', async () => {
    await expect(importBenchmark([...files(tau2Mock).slice(1), ['db.json', Uint8Array.of(0x7b, 0xff)]])).rejects.toThrow(
      'db.json: it is not text in UTF-8',
    );
  });

  test('a stream that ends with an error', async () => {
    const broken = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('the disk is gone')) });
    await expect(importBenchmark([...files(tau2Mock).slice(1), ['db.json', broken]])).rejects.toThrow(
      'db.json: it could not be read: the disk is gone',
    );
  });
});

describe('limits', () => {
  const limits = { fileBytes: 3000, totalBytes: 4000, files: 6 };
  const big: Data = { ...tau2Mock, 'tasks.json': tau2Mock['tasks.json']!.padEnd(5000) };
  const small: Data = { ...tau2Mock, 'tasks.json': tau2Mock['tasks.json']!.padEnd(2900), 'policy.md': 'p'.repeat(2000) };

  test('for files, compressed or not', async () => {
    expect(await refused(big, { limits })).toMatch(/^tasks.json: it is larger than/);
    expect(await refused(zipped(big), { limits })).toMatch(/^tasks.json: it is larger than/);
    await expect(
      importBenchmark([['tasks.json', new Blob(['x'.repeat(4000)])], ...files(tau2Mock).filter(([name]) => name !== 'tasks.json')], {
        limits,
      }),
    ).rejects.toThrow('tasks.json: it is larger than');
    expect(await refused(small, { limits })).toMatch(/the files together are larger than/);
    expect(await refused({ ...tau2Mock, a: '', b: '', c: '' }, { limits })).toMatch(/more than 6 files/);
    expect(await refused(zipped({ ...tau2Mock, a: '', b: '', c: '' }), { limits })).toMatch(/more than 6 files/);
    expect(await refused(tau2Retail, { limits: { rows: 1 } })).toBe('db.json: products: the table has 2 rows: at most 1 are allowed');
  });

  test('a zip that declares less than it holds', async () => {
    const zip = zipped({ ...tau2Mock, 'db.json': tau2Mock['db.json']!.padEnd(5_000_000) });
    const view = new DataView(zip.buffer, zip.byteOffset);
    // The size in the central directory, and the size in the local header.
    for (let at = 0; at + 46 < zip.length; at++) {
      const signature = view.getUint32(at, true);
      if (signature === 0x02014b50 && view.getUint32(at + 24, true) === 5_000_000) view.setUint32(at + 24, 300, true);
      if (signature === 0x04034b50 && view.getUint32(at + 22, true) === 5_000_000) view.setUint32(at + 22, 300, true);
    }
    expect(await refused(zip)).toBe('db.json: the zip declares 300 bytes, but the file has more');
  });

  test('a zip that is cut off or damaged', async () => {
    const zip = zipped(tau2Retail);
    expect(await refused(zip.slice(0, -30))).toMatch(/^the zip file: it is not a complete zip file/);
    expect(await refused(bytes('not a zip'))).toMatch(/^the zip file: it is not a complete zip file/);
    const damaged = zip.slice();
    damaged.fill(0xff, 60, 400);
    expect(await refused(damaged)).toMatch(/^(db.json|the zip file): /);
  });

  test('a million rows', async () => {
    const rows = Array.from(
      { length: 1_000_000 },
      (_, i) => `"task_${i}":{"task_id":"task_${i}","title":"T","description":null,"status":"pending"}`,
    ).join(',');
    const imported = await load({ ...tau2Mock, 'db.json': `{"tasks":{${rows}},"users":{}}` });
    expect(imported.tables.get('tasks')!.size).toBe(1_000_000);
    expect(LIMITS.rows).toBeGreaterThan(1_000_000);
  }, 120_000);
});

describe('storage', () => {
  test('reads each stored import once', async () => {
    const store = new BenchmarkDatabase('again');
    for (const data of [tau1Retail, tau1Airline, tau2Retail, tau2Mock, tau2Telecom]) {
      const imported = await load(data);
      const [first, second] = [await store.store(imported), await store.store(await load(data))];
      expect(second).toEqual(first);
      const again = await store.read(first.id);
      expect(again).toEqual(imported);
      expect(JSON.stringify([again.database, again.userDatabase])).toBe(JSON.stringify([imported.database, imported.userDatabase]));
    }
    expect((await store.list()).map(({ benchmark, domain }) => `${benchmark} ${domain}`).sort()).toEqual([
      'tau1 airline',
      'tau1 retail',
      'tau2 mock',
      'tau2 retail',
      'tau2 telecom',
    ]);
    const [one] = await store.list();
    await store.remove(one!.id);
    expect(await store.chunks.where('[benchmark+side+table+chunk]').between([one!.id], [one!.id, Dexie.maxKey]).count()).toBe(0);
    await expect(store.read(one!.id)).rejects.toThrow('import it again');
    expect(await store.list()).toHaveLength(4);
  });

  test('never holds a part of an import', async () => {
    const store = new BenchmarkDatabase('half');
    const rows = Array.from({ length: 9000 }, (_, i) => `"task_${i}":{"task_id":"task_${i}","title":"T","status":"pending"}`).join(',');
    const imported = await load({ ...tau2Mock, 'db.json': `{"tasks":{${rows}},"users":{}}` });
    const told: number[] = [];
    await expect(
      store.store(imported, (done) => {
        told.push(done);
        if (done > 5000) throw new Error('the tab was closed');
      }),
    ).rejects.toThrow('the tab was closed');
    expect(told.length).toBeGreaterThan(2);
    expect([await store.chunks.count(), await store.list()]).toEqual([0, []]);
    const full = new BenchmarkDatabase('full');
    full.chunks.hook('creating', () => {
      throw new DOMException('no room', 'QuotaExceededError');
    });
    await expect(full.store(imported)).rejects.toThrow('the browser has no room for this import');
    expect(await full.list()).toEqual([]);
    expect((await store.store(imported)).rows).toEqual({ tasks: 9000, users: 0 });
    expect((await store.read((await store.list())[0]!.id)).tables).toEqual(imported.tables);
  });
});

const data = resolve(import.meta.dirname, '../../../../shared/data');
const present = existsSync(resolve(data, 'expected/tau2_mock.json'));
if (!present) console.warn(`SKIPPED: imports of the original data: ${data} does not exist`);

describe.skipIf(!present)('the original data', () => {
  test.each([
    ['tau1', 'airline', 50],
    ['tau1', 'retail', 115],
    ['tau2', 'airline', 50],
    ['tau2', 'retail', 114],
    ['tau2', 'mock', 10],
    ['tau2', 'telecom', 134],
  ] as const)('%s %s', async (benchmark, domain, tasks) => {
    const root = resolve(data, benchmark === 'tau1' ? 'tau-bench' : 'tau2-bench');
    const all = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.\w+$/.test(path))
      .map((path) => [path, () => Promise.resolve(readFileSync(resolve(root, path)))] as const);
    const imported = await importBenchmark(all, { benchmark, domain });
    expect(imported.tasks).toHaveLength(tasks);
    const expected = JSON.parse(readFileSync(resolve(data, `expected/${benchmark}_${domain}.json`), 'utf8')) as {
      policy_sha256?: string;
      initial: { sha256_js?: string; agent?: { sha256_js: string }; user?: { sha256_js: string } | null };
    };
    const sha = (text: string) => createHash('sha256').update(text).digest('hex');
    const store = new BenchmarkDatabase(`original ${benchmark} ${domain}`);
    const again = await store.read((await store.store(imported)).id);
    for (const { tables, policy } of [imported, again]) {
      const world = new World('w', tables);
      const hashes = new StateHasher(exactDomain(domain, benchmark), world, sha).hashes(new Overlay(world));
      expect(hashes.agent).toBe(expected.initial.sha256_js ?? expected.initial.agent!.sha256_js);
      if (expected.initial.user) expect(hashes.user).toBe(expected.initial.user.sha256_js);
      if (expected.policy_sha256) expect(sha(policy)).toBe(expected.policy_sha256);
    }
  });
});
