/**
 * @file A checkpoint holds everything that the next step needs. All random numbers are computed from counters, so only the
 * step must be stored for them.
 */
import { parseConfig } from '../engine/config.ts';
import { loraLayout, loraTensors } from '../engine/lora.ts';
import { modelParameters } from '../engine/parameters.ts';
import type { Engine, TensorMap } from '../engine/types.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { adapterConfig, loraOptions } from '../exchange/adapter-folder.ts';
import { inMemory, type ModelParts, readJson } from '../exchange/model-folder.ts';
import { openBytes } from '../exchange/file-bytes.ts';
import { readInPieces, readMetadata, readSafetensors, SafetensorsError, writeSafetensors } from '../exchange/safetensors.ts';
import type { CheckpointOrigin, CheckpointRow, GrpoConfig } from '../records/run.ts';
import type { RunDatabase } from '../storage/database.ts';
import { beginningWith } from '../base/key-range.ts';
import { digest } from '../base/sha256.ts';
import type { Interrupted } from './messages.ts';

const KEPT = 2;
const COUNTERS = 'counters';

/**
 * The approximate size of a checkpoint in bytes: the trained weights, AdamW's two moments and, for the KL loss, the reference
 * weights. All are float32.
 */
export function checkpointBytes(files: ModelParts, { use_kl_loss }: Pick<GrpoConfig, 'use_kl_loss'>): number {
  const config = parseConfig(readJson(inMemory(files), 'config.json'));
  const trained = hasAdapter(files)
    ? loraLayout(loraTensors(config, loraOptions(adapterConfig(files)))).parameters
    : modelParameters(config);
  const size = trained.reduce((sum, parameter) => sum + parameter.size, 0);
  return size * 4 * (use_kl_loss ? 4 : 3);
}

/** Reads the checkpoint of `step` from the engine. @param reference the weights before step 1, if the KL loss needs them */
export async function readCheckpoint(step: number, engine: Engine, reference: TensorMap | null): Promise<Checkpoint> {
  const optimizer = await engine.optimizerState();
  return { step, weights: await engine.weights(), reference, optimizer };
}

/** Makes the database row of a checkpoint. */
export async function checkpointRow(
  run: string,
  { step, optimizer: { step: optimizerStep, m, v }, ...tensors }: Checkpoint,
  origin: CheckpointOrigin,
): Promise<CheckpointRow> {
  const weights = writeSafetensors(tensors.weights);
  const reference = tensors.reference && writeSafetensors(tensors.reference);
  const optimizer = writeSafetensors(new Map([...prefixed('m.', m), ...prefixed('v.', v)]));
  return {
    run,
    step,
    savedAt: Date.now(),
    weights: new Blob([weights]),
    reference: reference && new Blob([reference]),
    optimizer: new Blob([optimizer]),
    state: { optimizerStep },
    sha256: { weights: await digest(weights), reference: reference && (await digest(reference)), optimizer: await digest(optimizer) },
    origin,
  };
}

/** Stores a checkpoint and deletes the older ones of its run, except for the newest two, in one transaction. */
export async function keepCheckpoint(db: RunDatabase, row: CheckpointRow): Promise<void> {
  await db.transaction('rw', db.checkpoints, async () => {
    await db.checkpoints.put(row);
    const steps = (await beginningWith(db.checkpoints, row.run).primaryKeys()).map(([, s]) => s);
    const old = steps.sort((a, b) => b - a).slice(KEPT);
    await db.checkpoints.bulkDelete(old.map((s): [string, number] => [row.run, s]));
  });
}

export interface Checkpoint {
  step: number;
  weights: TensorMap;
  reference: TensorMap | null;
  optimizer: { step: number; m: TensorMap; v: TensorMap };
}

export interface LoadedCheckpoint {
  /** Null if the run has no checkpoint. */
  checkpoint: Checkpoint | null;
  origin?: CheckpointOrigin;
  /** The steps of newer checkpoints that are damaged. */
  damaged: number[];
}

/** The newest undamaged checkpoint of a run. @throws Error if the run has checkpoints and all are damaged */
export async function loadCheckpoint(db: RunDatabase, run: string): Promise<LoadedCheckpoint> {
  const damaged: number[] = [];
  for (const row of await beginningWith(db.checkpoints, run).reverse().toArray()) {
    const files = await wholeFiles(row);
    if (files === null) {
      damaged.push(row.step);
      continue;
    }
    const moments = readSafetensors(files.optimizer);
    const checkpoint = {
      step: row.step,
      weights: readSafetensors(files.weights),
      reference: files.reference && readSafetensors(files.reference),
      optimizer: { step: row.state.optimizerStep, m: unprefixed('m.', moments), v: unprefixed('v.', moments) },
    };
    return { checkpoint, damaged, origin: row.origin };
  }
  if (damaged.length > 0) throw new Error(`the checkpoints of steps ${damaged.join(' and ')} are damaged: the run cannot go on`);
  return { checkpoint: null, damaged };
}

type CheckpointFiles = Record<'weights' | 'optimizer', Uint8Array<ArrayBuffer>> & { reference: Uint8Array<ArrayBuffer> | null };

/** The files of a checkpoint. Null if one of them is damaged or cannot be read. */
export async function wholeFiles(row: CheckpointRow): Promise<CheckpointFiles | null> {
  const { sha256 } = row;
  try {
    const files = {
      weights: await bytes(row.weights),
      reference: row.reference && (await bytes(row.reference)),
      optimizer: await bytes(row.optimizer),
    };
    for (const name of ['weights', 'reference', 'optimizer'] as const) {
      const file = files[name];
      if ((file && (await digest(file))) !== sha256[name]) return null;
    }
    return files;
  } catch {
    return null;
  }
}

/** The weights of a checkpoint as safetensors. @throws Error if the checkpoint is not stored, or is damaged */
export async function checkpointWeights(db: RunDatabase, run: string, step: number): Promise<Uint8Array<ArrayBuffer>> {
  const row = await db.checkpoints.get([run, step]);
  if (!row) throw new Error(`run "${run}" has no checkpoint of step ${step} any more`);
  const weights = await bytes(row.weights);
  if ((await digest(weights)) !== row.sha256.weights)
    throw new Error(`the checkpoint of step ${step} is damaged: its SHA-256 is not the one that was stored with it`);
  return weights;
}

/** The reason why a resumed run may differ from a run that was never stopped. '' if no reason is known. */
export function resumeNote({ checkpoint, damaged = [], origin }: Partial<LoadedCheckpoint>, now: CheckpointOrigin): string {
  const notes: string[] = [];
  if (damaged.length > 0)
    notes.push(`The checkpoint of step ${damaged.join(' and ')} is damaged: the run goes on from step ${checkpoint!.step}.`);
  const changed = (Object.keys(LABELS) as (keyof CheckpointOrigin)[]).filter(
    (field) => origin?.[field] !== undefined && origin[field] !== now[field],
  );
  if (changed.length > 0)
    notes.push(
      `Since the checkpoint, ${changed.map((field) => LABELS[field]).join(' and ')} changed: results may differ in their last bits.`,
    );
  return notes.join(' ');
}

const LABELS: Record<keyof CheckpointOrigin, string> = {
  app: 'the version of the playground',
  adapter: 'the GPU',
  model: 'the first model',
  config: 'the configuration',
  import: 'the imported data',
};

/**
 * A checkpoint as one safetensors file. Tensors are named `weights.…`, `reference.…`, `m.…` and `v.…`. The tensor `counters`
 * has the step, the optimizer's step, and the seconds of training up to this checkpoint. The origin is in the metadata of the
 * file.
 */
export function packCheckpoint(
  { step, weights, reference, optimizer }: Checkpoint,
  seconds: number,
  origin: CheckpointOrigin,
): Uint8Array<ArrayBuffer> {
  return writeSafetensors(
    new Map([
      ...prefixed('weights.', weights),
      ...(reference ? prefixed('reference.', reference) : []),
      ...prefixed('m.', optimizer.m),
      ...prefixed('v.', optimizer.v),
      [COUNTERS, { shape: [3], data: Float32Array.of(step, optimizer.step, seconds) }],
    ]),
    'F32',
    { ...origin },
  );
}

export type UnpackedCheckpoint = Checkpoint & { seconds: number; origin: CheckpointOrigin };

/** @throws SafetensorsError if the file is damaged */
export const unpackCheckpoint = (safetensors: Uint8Array): UnpackedCheckpoint =>
  checkpointOf(readSafetensors(safetensors), readMetadata(safetensors));

/** Reads a checkpoint in pieces, because it may have more bytes than an array can have. @throws as `unpackCheckpoint` */
export async function openCheckpoint(file: Interrupted['checkpoint']): Promise<UnpackedCheckpoint> {
  if (file instanceof Uint8Array) return unpackCheckpoint(file);
  const { tensors, metadata } = await readInPieces(await openBytes(file));
  return checkpointOf(tensors, metadata);
}

function checkpointOf(map: TensorMap, metadata: Record<string, string>): UnpackedCheckpoint {
  const reference = unprefixed('reference.', map);
  const [step, optimizerStep, seconds] = map.get(COUNTERS)?.data ?? [];
  if (step === undefined || optimizerStep === undefined || seconds === undefined)
    throw new SafetensorsError(`tensor ${COUNTERS} is missing or too short: expected a checkpoint of a run`);
  return {
    step,
    seconds,
    weights: unprefixed('weights.', map),
    reference: reference.size > 0 ? reference : null,
    optimizer: { step: optimizerStep, m: unprefixed('m.', map), v: unprefixed('v.', map) },
    origin: readOrigin(metadata),
  };
}

function readOrigin({ app, adapter, model, config, import: data }: Record<string, string>): CheckpointOrigin {
  if (!app || !adapter || !model || !config)
    throw new SafetensorsError('the metadata have no app, adapter, model or config: expected a checkpoint of a run');
  return { app, adapter, model, config, ...(data && { import: data }) };
}

const bytes = async (b: Blob) => new Uint8Array(await b.arrayBuffer());
const prefixed = (prefix: string, map: TensorMap) => [...map].map(([name, tensor]) => [prefix + name, tensor] as const);
const unprefixed = (prefix: string, map: TensorMap): TensorMap =>
  new Map([...map].filter(([name]) => name.startsWith(prefix)).map(([name, tensor]) => [name.slice(prefix.length), tensor]));

/**
 * Loads the weights and moments of a checkpoint into the engine. Returns the weights before step 1 if the KL loss needs them
 * as a reference.
 */
export async function restore(engine: Engine, checkpoint: Checkpoint | null, config: GrpoConfig): Promise<TensorMap | null> {
  if (checkpoint?.reference) engine.loadWeights(checkpoint.reference);
  const reference = config.algorithm === 'grpo' && config.use_kl_loss ? (checkpoint?.reference ?? (await engine.weights())) : null;
  if (reference) await engine.snapshotReference();
  if (checkpoint) {
    engine.loadWeights(checkpoint.weights);
    await engine.loadOptimizerState(checkpoint.optimizer);
  }
  return reference;
}
