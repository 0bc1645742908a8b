/** Models that are read in pieces: from memory, a Blob, and addresses with ranges. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomWeights } from '../../../src/engine/parameters.ts';
import type { WeightSource } from '../../../src/engine/types.ts';
import { openBytes } from '../../../src/exchange/file-bytes.ts';
import { openModel, saveModel } from '../../../src/exchange/model-folder.ts';
import { writeSafetensors } from '../../../src/exchange/safetensors.ts';
import { TINY } from '../../support/tiny-config.ts';

const weights = randomWeights(TINY, 3);
const files = saveModel(TINY, weights, 'BF16');
const names = [...weights.keys()];
const shard = (from: number, to: number) => writeSafetensors(new Map([...weights].slice(from, to)));
const sharded = {
  'config.json': files['config.json']!,
  'a.safetensors': shard(0, 3),
  'b.safetensors': shard(3, names.length),
  'model.safetensors.index.json': new TextEncoder().encode(
    JSON.stringify({ weight_map: Object.fromEntries(names.map((name, i) => [name, i < 3 ? 'a.safetensors' : 'b.safetensors'])) }),
  ),
};
const served: Record<string, Uint8Array> = { ...files, ...sharded };

/** Answers ranges; `/whole/…` ignores them. */
const server = createServer((request, response) => {
  const [, mode, name] = request.url!.split('/');
  const file = served[name!]!;
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
  if (mode === 'whole' || first === undefined) return void response.end(file);
  const end = Math.min(Number(last) + 1, file.length);
  response.writeHead(206, { 'Content-Range': `bytes ${first}-${end - 1}/${file.length}` }).end(file.subarray(Number(first), end));
});
let at = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const tensor = async ({ read }: WeightSource, name: string, bytes: number, values: number) => {
  const parts = await Promise.all([read(name, 0, bytes), read(name, bytes, bytes * (values - 1))]);
  return parts.map((part) => [...part]);
};

test('memory, Blob and address give the same bytes', async () => {
  const name = 'model.layers.1.mlp.up_proj.weight';
  const file = files['model.safetensors']!;
  const size = weights.get(name)!.data.length;
  const [first, ...others] = await Promise.all(
    [file, new Blob([file]), { url: `${at}/ranges/model.safetensors` }].map(async (given) => {
      const { config, source } = await openModel({ ...files, 'model.safetensors': given });
      expect(config).toEqual(TINY);
      expect(source.tensors.get(name)).toMatchObject({ dtype: 'BF16', shape: weights.get(name)!.shape });
      return tensor(source, name, 2, size);
    }),
  );
  for (const other of others) expect(other).toEqual(first);
});

test('shards behind addresses', async () => {
  const given = {
    ...sharded,
    'a.safetensors': { url: `${at}/ranges/a.safetensors` },
    'b.safetensors': new Blob([sharded['b.safetensors']]),
  };
  const { source } = await openModel(given);
  expect([...source.tensors.keys()].sort()).toEqual([...names].sort());
  for (const name of names) {
    const { data } = weights.get(name)!;
    const bytes = await source.read(name, 0, data.byteLength);
    expect(new Float32Array(bytes.slice().buffer), name).toEqual(data);
  }
});

test('says which file or tensor is wrong', async () => {
  const { 'model.safetensors': file, ...rest } = files;
  await expect(openModel(rest)).rejects.toThrow('model.safetensors is missing');
  await expect(openModel({ ...files, 'model.safetensors': file!.subarray(0, 999) })).rejects.toThrow(/model\.safetensors: .*truncated/);
  await expect(openModel({ ...files, 'model.safetensors': new Blob([file!.subarray(0, 4)]) })).rejects.toThrow('file of 4 bytes');
  await expect(openModel({ ...sharded, 'b.safetensors': sharded['a.safetensors'] })).rejects.toThrow('is in more than one file');
  const part = writeSafetensors(new Map([...weights].slice(1)));
  await expect(openModel({ ...files, 'model.safetensors': part })).rejects.toThrow(`tensor ${names[0]} is missing`);
  await expect(openBytes({ url: `${at}/whole/model.safetensors` })).rejects.toThrow('HTTP 200 to a request for a range: expected 206');
});
