/** Which files of the Hub a name means. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { downloadFolder, findHubModel } from '../../../src/exchange/hub-model.ts';
import { type HubServer, startHubServer } from '../../support/hub-server.ts';

const bytes = (length: number) => new Uint8Array(length);
let hub: HubServer;
beforeAll(async () => {
  hub = await startHubServer({
    'a/folder': {
      'config.json': bytes(1),
      'model.safetensors': bytes(20),
      'extra.gguf': bytes(300),
      'model-00001-of-00002.safetensors': bytes(4000),
    },
    'a/one': { 'README.md': bytes(5), 'only-Q4_1.gguf': bytes(70) },
    'a/several': { 'm-Q4_K_M.gguf': bytes(80), 'm-Q8_0.gguf': bytes(90), 'config.json': bytes(2) },
    'a/none': { 'pytorch_model.bin': bytes(1) },
  });
});
afterAll(() => hub.close());

const find = (name: string) => findHubModel(name, hub.url);

test('safetensors come before GGUF files', async () => {
  expect(await find('a/folder')).toMatchObject({ name: 'a/folder', bytes: 21 });
});

test('a GGUF file is found by its repository, if it is the only one, or by its name', async () => {
  expect(await find('a/one')).toMatchObject({ name: 'a/one/only-Q4_1.gguf', bytes: 70, files: [{ path: 'only-Q4_1.gguf' }] });
  expect(await find('a/several/m-Q8_0.gguf')).toMatchObject({ name: 'a/several/m-Q8_0.gguf', bytes: 90 });
  expect(await find('a/folder/extra.gguf')).toMatchObject({ bytes: 300 });
});

test('what is missing is named', async () => {
  await expect(find('a/several')).rejects.toThrow('has several GGUF files: expected one of a/several/m-Q4_K_M.gguf, a/several/m-Q8_0.gguf');
  await expect(find('a/one/other.gguf')).rejects.toThrow('"a/one" has no other.gguf: expected one of a/one/only-Q4_1.gguf');
  await expect(find('a/none')).rejects.toThrow('"a/none" has neither config.json with *.safetensors nor a GGUF file');
});

test('two files of a repository with a long name have their own folders', async () => {
  const long = `${'o'.repeat(40)}/${'r'.repeat(40)}`;
  const folders = ['Q4_0', 'Q8_0'].map((type) => downloadFolder({ name: `${long}/${type}.gguf`, revision: 'abc' }));
  expect(new Set(folders).size).toBe(2);
});
