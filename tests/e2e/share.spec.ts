/** Shares runs and models: an exported run is the same in another browser. Hostile files are refused, and nothing of them is stored. */
import { readFileSync } from 'node:fs';
import { expect, type Page } from '@playwright/test';
import { writeRun } from '../../src/formats/write-run.ts';
import { unzipSync, zipSync } from 'fflate';
import { sha256 } from '../../src/base/sha256.ts';
import { readRunBundle } from '../../src/exchange/run-bundle.ts';
import { mua } from '../support/mua.ts';
import { bundledTokenizer } from '../support/tokenizers.ts';
import { inspect, watch } from './page-checks.ts';
import { store } from './storage.ts';
import { test } from './test.ts';

const RECORDED = 'public/recorded/run.mua.zip';
const bundled = new Uint8Array(readFileSync(RECORDED));

/** The number of rows in each table of this browser's storage. */
const stored = (page: Page) =>
  page.evaluate(async () => {
    const names = ['runs', 'metrics', 'rollouts', 'trajectories', 'models'];
    // Opening a missing database would create it.
    const known = (await indexedDB.databases()).some(({ name }) => name === 'mua-runs');
    if (!known) return Object.fromEntries(names.map((name) => [name, 0]));
    const db = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('mua-runs');
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error!);
    });
    const counts = await Promise.all(
      names.map(
        (name) =>
          new Promise<[string, number]>((resolve) => {
            const request = db.transaction(name).objectStore(name).count();
            request.onsuccess = () => resolve([name, request.result]);
          }),
      ),
    );
    db.close();
    return Object.fromEntries(counts);
  });
const NOTHING = { runs: 0, metrics: 0, rollouts: 0, trajectories: 0, models: 0 };

const choose = (page: Page, name: string, file: Uint8Array) =>
  page.getByLabel('Choose files').setInputFiles({ name, mimeType: 'application/zip', buffer: Buffer.from(file) });

/** The tokens of a rollout as the page shows them. */
async function tokens(page: Page, run: string, id: string): Promise<string[]> {
  await page.goto(`/#/runs/${run}/rollouts/${encodeURIComponent(id)}?view=rendered`);
  await expect(page.locator('.t').first()).toBeVisible();
  return page.locator('.t').allTextContents();
}

test('the recorded run, exported and imported in a fresh profile, is the same', async ({ page, browser, baseURL }, testInfo) => {
  const problems = watch(page);
  const { run, rollouts, trajectories } = await readRunBundle(bundled);
  await page.goto('/#/runs/recorded');
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await inspect(page, 'share');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the run (.mua.zip)' }).click();
  const file = testInfo.outputPath('run.mua.zip');
  await (await download).saveAs(file);
  expect((await download).suggestedFilename()).toBe(`${run.name}.mua.zip`);
  const exported = await readRunBundle(new Uint8Array(readFileSync(file)));
  expect(exported.trajectories).toEqual(trajectories);

  const lines = page.waitForEvent('download');
  await chooseFormat(page, 'Rollouts, JSONL');
  await page.getByRole('button', { name: 'Download', exact: true }).click();
  const jsonl = testInfo.outputPath('rollouts.jsonl');
  await (await lines).saveAs(jsonl);
  const [first] = readFileSync(jsonl, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(Object.keys(first!)).toEqual(
    expect.arrayContaining(['prompt', 'completion', 'reward', 'score', 'completion_ids', 'completion_mask', 'logprobs']),
  );
  const before = await tokens(page, 'recorded', trajectories[0]!.id);

  const other = await browser.newContext({ baseURL });
  const fresh = await other.newPage();
  const freshProblems = watch(fresh);
  await fresh.goto('/#/runs');
  await fresh.getByLabel('Import a run').setInputFiles(file);
  await expect(fresh.getByRole('heading', { name: run.name, level: 2 })).toBeVisible();
  await inspect(fresh, 'import');
  expect(await stored(fresh)).toEqual(NOTHING);
  await fresh.getByRole('button', { name: 'Import it' }).click();
  await expect(fresh).toHaveURL(/#\/runs\/[0-9a-f-]{36}$/);
  await expect(fresh.getByRole('heading', { name: run.name, level: 1 })).toBeVisible();
  await expect(fresh.getByText('Imported', { exact: true })).toBeVisible();
  await expect(fresh.getByRole('button', { name: 'Resume' })).toHaveCount(0);
  expect(await stored(fresh)).toMatchObject({ runs: 1, rollouts: rollouts.length, trajectories: trajectories.length });
  const id = /runs\/([0-9a-f-]{36})/.exec(fresh.url())![1]!;
  expect(await tokens(fresh, id, trajectories[0]!.id)).toEqual(before);
  expect(before.length).toBeGreaterThan(100);
  await other.close();
  expect([...problems, ...freshProblems]).toEqual([]);
});

/** Chooses the format whose text begins with `format`. */
async function chooseFormat(page: Page, format: string): Promise<void> {
  const select = page.getByLabel('For other tools');
  const labels = await select.locator('option').allTextContents();
  await select.selectOption({ label: labels.find((label) => label.startsWith(format))! });
}

test('metrics.jsonl has every step, and nothing that leaves the browser has a key', async ({ page }) => {
  const problems = watch(page);
  const key = 'sk-not-to-be-seen-0123456789';
  const { run, metrics, rollouts, trajectories } = await readRunBundle(bundled);
  await page.goto('/#/runs');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  // The key is in many fields of this run. A careless endpoint could have put it there.
  const user = { mode: 'endpoint', baseUrl: `https://${key}@user.example/v1?key=${key}`, model: 'm', apiKey: key };
  const trajectory = { ...trajectories[0]!, error: `401 for bearer ${key}` };
  await store(page, {
    runs: [{ ...run, id: 'keyed', status: 'failed', message: `refused: ${key}`, request: { ...run.request, user } }],
    metrics: metrics.map((values) => ({ run: 'keyed', step: values.step, values })),
    rollouts: [{ ...rollouts.find(({ id }) => id === trajectory.id), run: 'keyed' }],
    trajectories: [{ ...trajectory, run: 'keyed' }],
  });
  await page.goto('/#/runs/keyed');
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const saved = async (name: string) => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name, exact: true }).click();
    return readFileSync(await (await download).path());
  };
  const written = async (format: string) => {
    await chooseFormat(page, format);
    return saved('Download');
  };
  const lines = (await written('Metrics, JSONL'))
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { step: number });
  expect(lines.map(({ step }) => step)).toEqual(metrics.map(({ step }) => step).sort((a, b) => a - b));
  expect(lines[0]).toEqual(metrics.find(({ step }) => step === lines[0]!.step));
  const files = Object.values(unzipSync(new Uint8Array(await saved('Download the run (.mua.zip)')))).map((bytes) =>
    new TextDecoder().decode(bytes),
  );
  expect(files.length).toBeGreaterThan(3);
  const others = [];
  for (const format of ['Rollouts, JSONL', 'Chats', 'Inspect']) others.push((await written(format)).toString());
  expect(others[2]).toContain('401 for bearer');
  for (const text of [JSON.stringify(lines), ...others, ...files]) expect(text).not.toContain(key);
  expect(problems).toEqual([]);
});

test('conversations of other tools become a run to read, without what their files lack', async ({ page }) => {
  const problems = watch(page);
  const content = await readRunBundle(bundled);
  const rollouts = new Map(content.rollouts.map((rollout) => [rollout.id, rollout]));
  const dump = new TextDecoder()
    .decode(await writeRun('verl', { ...content, rollouts, tokenizer: bundledTokenizer(content.run.request.model) }))
    .trim()
    .split('\n');
  // verl writes one file for each step.
  const stepOf = (line: string) => (JSON.parse(line) as { step: number }).step;
  const dumped = [...new Set(dump.map(stepOf))].map((step) => ({
    name: `${step}.jsonl`,
    mimeType: 'application/jsonl',
    buffer: Buffer.from(dump.filter((line) => stepOf(line) === step).join('\n')),
  }));
  const bad = { name: 'x.jsonl', mimeType: '', buffer: Buffer.from('{"a": 1}') };
  const reason = page.getByText('x.jsonl: line 1: has the fields a: expected rows of TRL');
  await page.goto('/#/import');
  await page.getByLabel('Choose files').setInputFiles([bad]);
  await expect(reason).toBeVisible();
  await expect(page.getByText('Nothing was stored.')).toBeVisible();
  // Beside good files, a file that cannot be read is named and left out.
  await page.getByLabel('Choose files').setInputFiles([...dumped, bad]);
  await expect(page.getByRole('note').filter({ has: reason })).toBeVisible();
  await expect(page.getByText(`${dump.length}, ${dump.length} with a reward and 0 with tokens`)).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await stored(page)).toEqual(NOTHING);
  await page.getByLabel('Choose files').setInputFiles(dumped);
  await expect(page.getByText(`${dump.length}, ${dump.length} with a reward and 0 with tokens`)).toBeVisible();
  await page.getByRole('button', { name: 'Import it' }).click();
  await expect(page.getByText('Recorded by verl')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Tool mix' })).toBeVisible();
  for (const absent of ['Gradient norm', 'Response length', 'Entropy, trained tokens'])
    await expect(page.getByRole('heading', { name: absent })).toHaveCount(0);
  await inspect(page, 'imported-verl');
  await expect(page.getByRole('link', { name: 'Change a setting' })).toHaveCount(0);
  await page.getByRole('link', { name: 'Rollouts', exact: true }).click();
  const last = Math.max(...dump.map(stepOf));
  const { id, nodes } = content.trajectories.find((own) => rollouts.get(own.id)!.step === last)!;
  await page.getByRole('link', { name: id, exact: true }).click();
  const said = nodes.find(({ role }) => role === 'user')!.text;
  await expect(page.getByText(said.slice(0, 30)).first()).toBeVisible();
  await expect(page.getByText('advantage not recorded').first()).toBeVisible();
  await expect(page.getByRole('link', { name: /^Fork at/ })).toHaveCount(0);
  await inspect(page, 'imported-verl-rollout');
  expect(problems).toEqual([]);
});

for (const [engine, label] of [
  ['trl', 'TRL'],
  ['verifiers', 'verifiers'],
  ['verl', 'verl'],
  ['skyrl', 'SkyRL'],
] as const)
  test(`the folder to train with ${label} is the one that the command line writes`, async ({ page }, testInfo) => {
    const problems = watch(page);
    await page.goto('/#/runs/recorded');
    await page.getByRole('button', { name: 'Share', exact: true }).click();
    await chooseFormat(page, `Train with ${label}`);
    await inspect(page, `share-${engine}`);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    const files = Object.entries(unzipSync(new Uint8Array(readFileSync(await (await download).path()))));
    const text = new Map(files.map(([name, bytes]) => [name.replace(`mua-${engine}/`, ''), new TextDecoder().decode(bytes)]));
    const [, flags] = /^\.\/mua env-serve (.+) --max-sessions 256$/m.exec(text.get('README.md')!)!;
    const out = testInfo.outputPath(engine);
    const { code, stderr } = await mua('export', '--format', engine, '--model', 'Qwen/Qwen3-0.6B', '--out', out, ...flags!.split(' '));
    expect(code, stderr).toBe(0);
    expect(text.size).toBeGreaterThan(3);
    for (const [name, own] of text) expect(own, name).toBe(readFileSync(`${out}/${name}`, 'utf8'));
    const rows = [...text].find(([name]) => name.endsWith('rows.jsonl'))![1];
    expect(rows.trim().split('\n')).toHaveLength(1000);
    expect(problems).toEqual([]);
  });

test('hostile files are refused with a reason, and nothing is stored', async ({ page }) => {
  const problems = watch(page);
  const files = unzipSync(bundled);
  const changed = { ...files, 'metrics.jsonl': new TextEncoder().encode('{"step":1}\n') };
  const manifest = JSON.parse(new TextDecoder().decode(files['manifest.json'])) as {
    format_version: number;
    files: Record<string, object>;
  };
  const broken = new TextEncoder().encode(new TextDecoder().decode(files['trajectories.jsonl']).replace(/"parent":\d+/, '"parent":99999'));
  const withManifest = (contents: Record<string, Uint8Array>, change: object) =>
    zipSync({ ...contents, 'manifest.json': new TextEncoder().encode(JSON.stringify({ ...manifest, ...change })) });
  const hostile: [string, Uint8Array, string][] = [
    ['cut.mua.zip', bundled.slice(0, 5000), 'not a complete zip file'],
    ['changed.mua.zip', zipSync(changed), 'metrics.jsonl: it has'],
    ['newer.mua.zip', withManifest(files, { format_version: 2 }), 'this page reads versions up to 1'],
    [
      'graph.mua.zip',
      withManifest(
        { ...files, 'trajectories.jsonl': broken },
        { files: { ...manifest.files, 'trajectories.jsonl': { sha256: sha256(broken), bytes: broken.length } } },
      ),
      'is 99999: expected null or the id of an earlier node',
    ],
    [
      '<img src=x onerror=alert(1)>.zip',
      zipSync({ '../../<script>alert(2)</script>': bundled.slice(0, 9) }),
      'it names a file outside of itself: ../../<script>alert(2)</script>',
    ],
  ];
  await page.goto('/#/import');
  await inspect(page, 'import-empty');
  for (const [name, file, reason] of hostile) {
    await choose(page, name, file);
    await expect(page.getByText(reason), name).toBeVisible();
    await expect(page.getByText('Nothing was stored.')).toBeVisible();
    await expect(page.getByRole('button', { name: 'Import it' })).toHaveCount(0);
  }
  await inspect(page, 'import-refused');
  expect(await stored(page)).toEqual(NOTHING);
  expect(problems).toEqual([]);
});

test('a published run is fetched when it is asked for, and a dropped one is read', async ({ page, baseURL }) => {
  const problems = watch(page);
  const { run } = await readRunBundle(bundled);
  const fetched: string[] = [];
  page.on('request', (request) => request.url().endsWith('.mua.zip') && fetched.push(request.url()));
  await page.goto(`/#/import?src=${encodeURIComponent(`${baseURL}recorded/run.mua.zip`)}`);
  await expect(page.getByText('Nothing has been fetched yet')).toBeVisible();
  await inspect(page, 'import-source');
  expect(fetched).toEqual([]);
  await page.getByRole('button', { name: 'Fetch it' }).click();
  await expect(page.getByRole('heading', { name: run.name, level: 2 })).toBeVisible();
  expect(fetched).toHaveLength(1);
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await stored(page)).toEqual(NOTHING);

  await page.goto(`/#/import?src=${encodeURIComponent('http://host.example/run.mua.zip')}`);
  await expect(page.getByText('the address begins with http:')).toBeVisible();

  await page.goto('/#/settings');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  const transfer = await page.evaluateHandle(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], 'dropped.mua.zip'));
      return data;
    },
    [...bundled],
  );
  await page.dispatchEvent('main', 'dragover', { dataTransfer: transfer });
  await expect(page.getByText('Drop a run, conversations of another program, or a model folder to import it')).toBeVisible();
  await page.dispatchEvent('main', 'drop', { dataTransfer: transfer });
  await expect(page.getByRole('heading', { name: run.name, level: 2 })).toBeVisible();
  expect(problems).toEqual([]);
});

test('a link with the address of a published run opens one conversation of it on another machine', async ({ page, browser, baseURL }) => {
  const problems = watch(page);
  const { trajectories } = await readRunBundle(bundled);
  const { id } = trajectories[1]!;
  await page.goto(`/#/runs/recorded/rollouts/${encodeURIComponent(id)}`);
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const address = page.getByLabel('Web address of the file, if you publish it');
  await address.fill('example.org/run.mua.zip');
  await expect(page.getByText(/^There is no link: .* is no whole address/)).toBeVisible();
  await address.fill(`${baseURL}recorded/run.mua.zip`);
  await inspect(page, 'share-link');
  const link = (await page.getByRole('dialog').getByRole('link', { name: 'this link' }).first().getAttribute('href'))!;
  expect(link).toContain('#/import?src=http');
  expect(new URLSearchParams(link.split('?')[1]).get('open')).toBe(`rollouts/${id}`);

  const other = await browser.newContext({ baseURL });
  const fresh = await other.newPage();
  const freshProblems = watch(fresh);
  await fresh.goto(link);
  await fresh.getByRole('button', { name: 'Fetch it' }).click();
  await expect(fresh.getByText(`The link opens rollout ${id}.`)).toBeVisible();
  await inspect(fresh, 'import-link');
  await fresh.getByRole('button', { name: 'Import it' }).click();
  await expect(fresh).toHaveURL(/#\/runs\/[0-9a-f-]{36}\/rollouts\/./);
  await expect(fresh.getByRole('heading', { level: 1 })).toHaveText(`Rollout ${id}`);
  await expect(fresh.getByRole('region', { name: 'Outcome' })).toBeVisible();

  await fresh.goto(link.replace(/open=.*/, 'open=rollouts%2Fnone'));
  await fresh.getByRole('button', { name: 'Fetch it' }).click();
  await expect(fresh.getByText('The file has no rollout none, so the link opens the run.')).toBeVisible();
  await fresh.getByRole('button', { name: 'Import it' }).click();
  await expect(fresh).toHaveURL(/#\/runs\/[0-9a-f-]{36}$/);
  await other.close();
  expect([...problems, ...freshProblems]).toEqual([]);
});

test('models: what is bundled, a folder brought in, chosen for a run, exported and deleted', async ({ page }) => {
  const problems = watch(page);
  await page.goto('/#/models');
  const bundledModel = page.getByRole('article', { name: 'nano-retail', exact: true });
  await expect(bundledModel.getByText(/parameters/)).toBeVisible();
  await bundledModel.getByText('Model card').click();
  await expect(bundledModel.locator('pre')).toContainText('nano-retail');
  await inspect(page, 'models');

  await page
    .getByLabel('Choose files or a zip')
    .setInputFiles({ name: 'config.json', mimeType: 'application/json', buffer: Buffer.from('{"model_type":"gemma3"}') });
  await expect(page.getByText('model_type is "gemma3"')).toBeVisible();
  expect(await stored(page)).toEqual(NOTHING);
  await page.getByLabel('Choose a folder').setInputFiles('models/nano-retail');
  await expect(page.getByText('nano-retail is imported: choose it for a run.')).toBeVisible();
  const imported = page.getByRole('article').filter({ hasText: 'Imported' });
  await inspect(page, 'models-imported');

  const download = page.waitForEvent('download');
  await imported.getByRole('button', { name: 'Export nano-retail' }).click();
  await inspect(page, 'export', { fullPage: false });
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  expect((await download).suggestedFilename()).toBe('nano-retail.zip');
  const folder = unzipSync(new Uint8Array(readFileSync(await (await download).path())));
  expect(sha256(folder['nano-retail/model.safetensors']!)).toBe(
    sha256(new Uint8Array(readFileSync('models/nano-retail/model.safetensors'))),
  );
  const onnxDownload = page.waitForEvent('download');
  await imported.getByRole('button', { name: 'Export nano-retail' }).click();
  await page.getByRole('radio', { name: 'ONNX, float16' }).check();
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  const onnxFolder = unzipSync(new Uint8Array(readFileSync(await (await onnxDownload).path())));
  expect(Object.keys(onnxFolder).sort()).toEqual(
    ['config.json', 'generation_config.json', 'onnx/model_fp16.onnx', 'tokenizer.json', 'tokenizer_config.json', 'README.md']
      .map((name) => `nano-retail/${name}`)
      .sort(),
  );

  await imported.getByRole('link', { name: 'Use nano-retail for a run' }).click();
  await expect(page).toHaveURL(/#\/\?setup=1&model=[0-9a-f-]{36}$/);
  await expect(page.getByRole('button', { name: 'Start training' })).toBeVisible();
  await page.goto('/#/models');
  await imported.getByRole('button', { name: 'Delete nano-retail' }).click();
  await inspect(page, 'delete', { fullPage: false });
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(imported).toHaveCount(0);
  expect(await stored(page)).toEqual(NOTHING);
  expect(problems).toEqual([]);
});
