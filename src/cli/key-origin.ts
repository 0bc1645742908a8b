/**
 * @file Binds a key of the environment to a server. A folder of results names the servers of its customer and its agent, and folders come
 * from strangers too. So the folder also has a hash of the server and the key. Only a command that had the key can have written it.
 */
import { createHash } from 'node:crypto';
import { UsageError } from './errors.ts';

/** The variable that has the key of the server of the customer, the agent, the judge or the simulated tools. */
export type KeyName = 'MUA_USER_KEY' | 'MUA_AGENT_KEY' | 'MUA_JUDGE_KEY' | 'MUA_ANSWER_KEY';

/** The hash to store with the address of a server. Undefined without a key. */
export function keyProof(name: KeyName, address: string): string | undefined {
  const { [name]: key } = process.env;
  return key
    ? createHash('sha256')
        .update(`${new URL(address).origin}\n${key}`)
        .digest('hex')
    : undefined;
}

/**
 * @param address of the server, or the name of a customer that has none
 * @throws UsageError if the folder would send the key to a server that never got it
 */
export function checkKeyOrigin(name: KeyName, directory: string, address: string, proof: string | undefined, remedy: string): void {
  if (!URL.canParse(address)) return;
  const { protocol, origin } = new URL(address);
  const expected = keyProof(name, address);
  if (!/^https?:$/.test(protocol) || expected === undefined || proof === expected) return;
  throw new UsageError(
    `--resume is "${directory}": it was not started with this ${name} for ${origin}, so the key is not sent there: ${remedy}`,
  );
}
