/**
 * @file Binds MUA_USER_KEY to a server. A folder of results names the server of its customer, and folders come from strangers too. So
 * the folder also has a hash of the server and the key. Only a command that had the key can have written it.
 */
import { createHash } from 'node:crypto';
import { UsageError } from './errors.ts';

/** The hash to store with the address of a server. Undefined without a key. */
export function keyProof(address: string): string | undefined {
  const { MUA_USER_KEY: key } = process.env;
  return key
    ? createHash('sha256')
        .update(`${new URL(address).origin}\n${key}`)
        .digest('hex')
    : undefined;
}

/** @throws UsageError if the folder would send the key to a server that never got it */
export function checkKeyOrigin(directory: string, address: string, proof: string | undefined, remedy: string): void {
  if (!URL.canParse(address) || proof === keyProof(address) || keyProof(address) === undefined) return;
  throw new UsageError(
    `--resume is "${directory}": it was not started with this MUA_USER_KEY for ${new URL(address).origin}, so the key is not sent there: ${remedy}`,
  );
}
