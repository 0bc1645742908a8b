/** What an import becomes: a run or an evaluation. The worker that reads the files is replaced. */
import 'fake-indexeddb/auto';
import { expect, test, vi } from 'vitest';
import { reports } from '../../../src/app/library/reports.ts';
import { RunImport } from '../../../src/app/share/run-import.svelte.ts';
import { readForeign } from '../../../src/formats/read-foreign.ts';

vi.mock('../../../src/app/clients/imports-worker.ts', () => ({
  readForeignFiles: async ([file]: File[]) => ({ ...(await readForeign(file!.name, await bytesOf(file!))), trials: true }),
  readBundleFile: async () => ({ manifest: { created: '2026-01-01', app_version: '1' }, run: { name: 'own' } }),
}));
const bytesOf = async (file: File) => new Uint8Array(await file.arrayBuffer());

const ROW = { prompt: [{ role: 'user', content: 'hi' }], completion: [{ role: 'assistant', content: 'hello' }], reward: 1 };
const trials = () => new File([JSON.stringify(ROW)], 'a.jsonl');

test('after the trials of another tool, a bundle is imported as a run', async () => {
  const job = new RunImport();
  await job.fromFiles([trials()]);
  expect([job.problem, job.as]).toEqual(['', 'evaluation']);
  await job.fromFiles([new File([''], 'own.mua.zip')]);
  expect([job.problem, job.as]).toEqual(['', 'run']);
});

test('if the storage fails, the answers of the visitor stay, so that another try stores the same', async () => {
  const job = new RunImport();
  const stored = vi.fn().mockRejectedValueOnce(new Error('the disk is full')).mockResolvedValueOnce(undefined);
  const library = { storeEvaluations: stored, storeRun: vi.fn() };
  await job.fromFiles([trials()]);
  job.say({ success: 'reward>=2' });
  expect(await job.store(library)).toBeNull();
  expect([job.problem, job.as]).toEqual(['the disk is full', 'evaluation']);
  const id = await job.store(library);
  const [[first], [second]] = stored.mock.calls;
  expect(second[0].row.id).toBe(id);
  for (const [{ row }] of [first, second]) expect(row.foreign.success).toBe('reward>=2');
  expect(library.storeRun).not.toHaveBeenCalled();
});

const HEAD = { version: 1, domain: 'retail', agent: { baseUrl: 'http://localhost:1/v1', model: 'm' }, temperature: 0, seed: 1, conversations_sha256: 'a'.repeat(64), turns: 2 }; // prettier-ignore
const shadow = (seed: number) => `${JSON.stringify({ shadow: { ...HEAD, seed } })}\n`;

test('a shadow is recognised whatever its name is, from files and from an address, and stored once', async () => {
  const job = new RunImport();
  await job.fromFiles([new File([shadow(1)], 'a.json'), new File([shadow(2)], 'b.jsonl'), new File([shadow(1)], 'c')]);
  expect([job.problem, job.read, job.reports.length]).toEqual(['', null, 2]);
  expect(await job.storeReports()).toBe(true);
  expect(await reports().list()).toHaveLength(2);
  expect(job.reports).toEqual([]);
  vi.stubGlobal('fetch', async () => new Response(shadow(3)));
  await job.fromUrl(new URL('https://example.org/files/s.jsonl?x'));
  vi.unstubAllGlobals();
  expect([job.problem, job.reports.map(({ row }) => row.file)]).toEqual(['', ['s.jsonl']]);
});

test('a shadow beside other files, and a wrong one, are refused', async () => {
  const job = new RunImport();
  await job.fromFiles([new File([shadow(1)], 's.jsonl'), trials()]);
  expect([job.problem, job.reports]).toEqual([expect.stringContaining('a.jsonl is no shadow and no reliability card') as string, []]);
  await job.fromFiles([new File([shadow(-1)], 's.jsonl')]);
  expect([job.problem, job.reports]).toEqual(['s.jsonl: line 1, shadow.seed: is -1: expected at least 0', []]);
});
