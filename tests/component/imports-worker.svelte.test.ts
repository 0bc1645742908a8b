/** Files of strangers are read in a worker, which is ended by Cancel and by a time limit. */
import { expect, test } from 'vitest';
import { readBundleFile, readExperimentFile, readForeignFiles } from '../../src/app/clients/imports-worker.ts';
import { inWorker } from '../../src/app/clients/in-worker.ts';

const hanging = () => new Worker(URL.createObjectURL(new Blob(['for (;;);'], { type: 'text/javascript' })));
const { signal } = new AbortController();

test('a worker that never answers is ended by Cancel at once, and by its limit; the page goes on', async () => {
  const abort = new AbortController();
  const reading = inWorker(hanging(), 'the reading of the file', () => new Promise(() => {}), { signal: abort.signal });
  setTimeout(() => abort.abort(new Error('cancelled')), 50);
  await expect(reading).rejects.toThrow('cancelled');
  await expect(inWorker(hanging(), 'it', () => new Promise(() => {}), { signal: abort.signal })).rejects.toThrow('cancelled');
  await expect(inWorker(hanging(), 'it', () => new Promise(() => {}), { limitMs: 100 })).rejects.toThrow('it took longer than 0.1 s');
});

test('what the worker reads, and its reasons for a refusal, arrive', async () => {
  const row = { prompt: [{ role: 'user', content: 'hi' }], completion: [{ role: 'assistant', content: 'hello' }], reward: 1 };
  const seen: number[] = [];
  const { rollouts } = await readForeignFiles([new File([JSON.stringify(row)], 'a.jsonl')], (done) => seen.push(done), signal);
  expect(rollouts[0]!.trajectory.reward).toBe(1);
  expect(seen).toEqual([0]);
  await expect(readBundleFile(new Blob(['no zip']), () => {}, signal)).rejects.toThrow('it is not a complete zip file');
  await expect(readExperimentFile(new File(['{'], 'x.json'))).rejects.toThrow('x.json: is not JSON');
});
