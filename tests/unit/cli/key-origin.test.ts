/** MUA_USER_KEY goes only to the server for which the visitor gave it, not to one that a folder names. */
import { afterEach, expect, test, vi } from 'vitest';
import { checkKeyOrigin, keyProof } from '../../../src/cli/key-origin.ts';

afterEach(() => vi.unstubAllEnvs());

test('a folder needs the proof of the same key and the same origin', () => {
  vi.stubEnv('MUA_USER_KEY', 'sk-one');
  const proof = keyProof('MUA_USER_KEY', 'https://api.example/v1')!;
  expect(proof).not.toContain('sk-one');
  const check = (address: string, own?: string) => () => checkKeyOrigin('MUA_USER_KEY', 'run', address, own, 'expected --user URL');
  expect(check('https://api.example/other', proof)).not.toThrow();
  for (const address of ['https://evil.example/v1', 'http://api.example/v1', 'https://api.example:8443/v1', 'https://api.example.evil/v1'])
    expect(check(address, proof), address).toThrow(/it was not started with this MUA_USER_KEY for http.*: expected --user URL/);
  expect(check('https://api.example/v1')).toThrow('so the key is not sent there');
  expect(check('scripted')).not.toThrow();
  // These customers play on this computer: nothing is sent.
  for (const local of ['learned', 'hub:owner/name@q4', 'folder:/models/customer@q8']) expect(check(local), local).not.toThrow();
  expect(check('HTTPS://evil.example/v1'), 'an address in capitals').toThrow('so the key is not sent there');
  vi.stubEnv('MUA_USER_KEY', 'sk-two');
  expect(check('https://api.example/v1', proof)).toThrow('MUA_USER_KEY');
  vi.stubEnv('MUA_USER_KEY', '');
  expect(check('https://evil.example/v1', proof)).not.toThrow();
});
