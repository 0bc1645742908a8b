/** @file Describes what the exact result of a step depends on, apart from its checkpoint. */
import { version } from '../../package.json';
import { canonicalJson } from '../base/json.ts';
import { digest, sha256 } from '../base/sha256.ts';
import { type FileBytes, openBytes } from '../exchange/file-bytes.ts';
import type { ModelParts } from '../exchange/model-folder.ts';
import type { CheckpointOrigin } from '../records/run.ts';
import type { EngineHost } from './engine-host.ts';

/** @param files the files of the model from which the run started @param data the data of the domain that the run plays (`Domain.data`) */
export async function originOf(host: EngineHost, files: ModelParts, config: object, data?: string): Promise<CheckpointOrigin> {
  const { description, vendor, architecture } = await host.info();
  return {
    app: version,
    adapter: description || `${vendor} ${architecture}`,
    model: await filesDigest(files),
    config: sha256(new TextEncoder().encode(canonicalJson(config))),
    ...(data !== undefined && { import: data }),
  };
}

/** SHA-256 of a model's files. Equal files give equal digests. */
async function filesDigest(files: ModelParts): Promise<string> {
  const listed: [string, string][] = [];
  for (const name of Object.keys(files).sort()) listed.push([name, await fileDigest(files[name]!)]);
  return sha256(JSON.stringify(listed));
}

const PIECE = 2 ** 24;

/** SHA-256 of a file. If the file has several pieces, it is the SHA-256 of the digests of the pieces. */
async function fileDigest(file: FileBytes): Promise<string> {
  const { size, read } = await openBytes(file);
  const pieces: string[] = [];
  for (let from = 0; from === 0 || from < size; from += PIECE)
    pieces.push(await digest((await read(from, Math.min(PIECE, size - from))) as Uint8Array<ArrayBuffer>));
  return pieces.length === 1 ? pieces[0]! : sha256(pieces.join());
}
