/** @file What the bits of a step depend on beside its checkpoint. */
import { version } from '../../package.json';
import { canonicalJson } from '../base/json.ts';
import { digest, sha256 } from '../base/sha256.ts';
import type { ModelFiles } from '../records/model.ts';
import type { CheckpointOrigin } from '../records/run.ts';
import type { EngineHost } from './engine-host.ts';

/**
 * @param files of the model that the run started from
 * @param data of the domain that the run plays (`Domain.data`)
 */
export async function originOf(host: EngineHost, files: ModelFiles, config: object, data?: string): Promise<CheckpointOrigin> {
  const { description, vendor, architecture } = await host.info();
  return {
    app: version,
    adapter: description || `${vendor} ${architecture}`,
    model: await filesDigest(files),
    config: sha256(new TextEncoder().encode(canonicalJson(config))),
    ...(data !== undefined && { import: data }),
  };
}

/** SHA-256 of a model's files. Equal files have an equal digest. */
async function filesDigest(files: ModelFiles): Promise<string> {
  const listed: [string, string][] = [];
  for (const name of Object.keys(files).sort()) listed.push([name, await digest(files[name]!)]);
  return sha256(new TextEncoder().encode(JSON.stringify(listed)));
}
