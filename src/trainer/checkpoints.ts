/** @file A checkpoint holds all state that the next step needs. The random numbers depend on counters, so they need only the step. */
import type { Engine, TensorMap } from '../engine/types.ts';
import { readSafetensors, SafetensorsError, writeSafetensors } from '../exchange/safetensors.ts';
import type { CheckpointRow, GrpoConfig } from '../records/run.ts';
import type { RunDatabase } from '../storage/database.ts';
import { beginningWith } from '../base/key-range.ts';

const KEPT = 2;
const COUNTERS = 'counters';

/** Writes the checkpoint of `step` and deletes all but the newest two checkpoints, in one transaction. */
export async function saveCheckpoint(
  db: RunDatabase,
  run: string,
  step: number,
  engine: Engine,
  reference: TensorMap | null,
): Promise<void> {
  const { step: optimizerStep, m, v } = await engine.optimizerState();
  const moments: TensorMap = new Map([...prefixed('m.', m), ...prefixed('v.', v)]);
  const row: CheckpointRow = {
    run,
    step,
    savedAt: Date.now(),
    weights: blob(await engine.weights()),
    reference: reference && blob(reference),
    optimizer: blob(moments),
    state: { optimizerStep },
  };
  await db.transaction('rw', db.checkpoints, async () => {
    await db.checkpoints.put(row);
    const steps = (await beginningWith(db.checkpoints, run).primaryKeys()).map(([, s]) => s);
    const old = steps.sort((a, b) => b - a).slice(KEPT);
    await db.checkpoints.bulkDelete(old.map((s): [string, number] => [run, s]));
  });
}

export interface Checkpoint {
  step: number;
  weights: TensorMap;
  reference: TensorMap | null;
  optimizer: { step: number; m: TensorMap; v: TensorMap };
}

/** The newest checkpoint of a run, or null if the run has no checkpoint. */
export async function loadCheckpoint(db: RunDatabase, run: string): Promise<Checkpoint | null> {
  const row = await beginningWith(db.checkpoints, run).last();
  if (!row) return null;
  const moments = await tensors(row.optimizer);
  return {
    step: row.step,
    weights: await tensors(row.weights),
    reference: row.reference && (await tensors(row.reference)),
    optimizer: { step: row.state.optimizerStep, m: unprefixed('m.', moments), v: unprefixed('v.', moments) },
  };
}

/** The weights of a checkpoint as safetensors. @throws if the checkpoint is not stored */
export async function checkpointWeights(db: RunDatabase, run: string, step: number): Promise<Uint8Array<ArrayBuffer>> {
  const row = await db.checkpoints.get([run, step]);
  if (!row) throw new Error(`run "${run}" has no checkpoint of step ${step} any more`);
  return bytes(row.weights);
}

/**
 * A checkpoint as one safetensors file: tensors named `weights.…`, `reference.…`, `m.…` and `v.…`, and `counters` with the step,
 * the optimizer's step, and the seconds that the run took up to here.
 */
export function packCheckpoint({ step, weights, reference, optimizer }: Checkpoint, seconds: number): Uint8Array<ArrayBuffer> {
  return writeSafetensors(
    new Map([
      ...prefixed('weights.', weights),
      ...(reference ? prefixed('reference.', reference) : []),
      ...prefixed('m.', optimizer.m),
      ...prefixed('v.', optimizer.v),
      [COUNTERS, { shape: [3], data: Float32Array.of(step, optimizer.step, seconds) }],
    ]),
  );
}

/** @throws SafetensorsError if the file is damaged */
export function unpackCheckpoint(safetensors: Uint8Array): Checkpoint & { seconds: number } {
  const map = readSafetensors(safetensors);
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
  };
}

const blob = (map: TensorMap) => new Blob([writeSafetensors(map)]);
const bytes = async (b: Blob) => new Uint8Array(await b.arrayBuffer());
const tensors = async (b: Blob) => readSafetensors(await bytes(b));
const prefixed = (prefix: string, map: TensorMap) => [...map].map(([name, tensor]) => [prefix + name, tensor] as const);
const unprefixed = (prefix: string, map: TensorMap): TensorMap =>
  new Map([...map].filter(([name]) => name.startsWith(prefix)).map(([name, tensor]) => [name.slice(prefix.length), tensor]));

/** Loads a checkpoint's weights and moments into the engine. Returns the weights before step 1 if the KL loss needs a reference. */
export async function restore(
  engine: Engine,
  checkpoint: Awaited<ReturnType<typeof loadCheckpoint>>,
  config: GrpoConfig,
): Promise<TensorMap | null> {
  if (checkpoint?.reference) engine.loadWeights(checkpoint.reference);
  const reference = config.algorithm === 'grpo' && config.use_kl_loss ? (checkpoint?.reference ?? (await engine.weights())) : null;
  if (reference) await engine.snapshotReference();
  if (checkpoint) {
    engine.loadWeights(checkpoint.weights);
    await engine.loadOptimizerState(checkpoint.optimizer);
  }
  return reference;
}
