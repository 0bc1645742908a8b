/**
 * @file Measures the speed of this device. First it measures the ceilings: the operations per second of a plain matmul, and the bytes per
 * second of a copy. Then it measures training, prefill and decoding with two models. Each speed is compared with the roofline of the same
 * run (Williams et al. 2009): a workload's operations per second can be at most those of the matmul, and at most its operations per byte
 * times the bytes per second of the copy.
 */
import { hash32 } from '../base/random.ts';
import { createEngine } from '../engine/engine.ts';
import type { Gpu } from '../engine/gpu.ts';
import { LORA_TARGETS } from '../engine/lora.ts';
import { groupsOf, modelTensors } from '../engine/parameters.ts';
import type { Engine, WeightSource } from '../engine/types.ts';
import { sftLoss } from '../training/grpo-loss.ts';
import { grpoStep } from './grpo-step.ts';
import { copyRate, matmulRate, times } from './rates.ts';
import {
  ADAMW,
  type BenchModel,
  benchModels,
  chosenWorkloads,
  DECODE_BATCHES,
  decodeWork,
  grpoLength,
  grpoPrefill,
  grpoWork,
  prefillWork,
  trainWork,
  type Work,
} from './workloads.ts';
import type { Measured } from './report.ts';

const MATMULS = [
  { m: 512, k: 512, n: 512 },
  { m: 2048, k: 128, n: 384 },
  { m: 2048, k: 256, n: 1024 },
];
const LARGE_MATMULS = [
  { m: 4096, k: 1024, n: 4096 },
  { m: 4096, k: 4096, n: 4096 },
];

interface Job {
  name: string;
  work: Work;
  /** The tokens that the sampler must prefill. Absent if the workload does not count them. */
  needed?: number;
  /** Prepares a repetition, and returns the function to time. */
  prepare: (engine: Engine, repetition: number) => Promise<() => Promise<unknown>>;
}

/**
 * Runs the bench.
 * @param names names of workloads; an empty list means all
 * @throws InputError for an unknown workload; the reason of the signal if it is aborted
 */
export async function bench(
  gpu: Gpu,
  names: readonly string[],
  progress: (done: number, total: number, label: string) => void,
  signal?: AbortSignal,
): Promise<Measured> {
  const chosen = chosenWorkloads(names);
  const matmuls = gpu.info.software ? MATMULS : [...MATMULS, ...LARGE_MATMULS];
  const total = matmuls.length + 1 + chosen.length;
  let done = 0;
  const next = (label: string) => {
    signal?.throwIfAborted();
    progress(done++, total, label);
  };
  const rates: Measured['ceilings']['matmul'] = [];
  for (const shape of matmuls) {
    next(`matmul ${shapeName(shape)}`);
    rates.push({ shape: shapeName(shape), gflops: await matmulRate(gpu, shape) });
  }
  next('copy');
  const ceilings = { matmul: rates, gflops: Math.max(...rates.map(({ gflops }) => gflops)), gb_per_s: await copyRate(gpu) };
  const report: Measured = { ceilings, workloads: [] };
  for (const model of benchModels(gpu.info.software)) {
    const jobs = jobsOf(model).filter(({ name }) => chosen.includes(name));
    if (jobs.length === 0) continue;
    const { config, precision, rank, kvBytes, prefill, train, decode } = model;
    const grpo = chosen.includes(`grpo-${model.name}`) ? model.grpo : undefined;
    const batch = Math.max(...DECODE_BATCHES);
    const perSequence = 16 * Math.ceil((decode.prompt + decode.tokens + 1) / 16);
    const engine = await createEngine(gpu, config, noise(model), {
      maxModelLen: Math.max(prefill + 1, train.length, grpo ? grpoLength(grpo) : 0),
      slots: batch,
      kvTokens: Math.max(grpo ? grpo.kvTokens : batch * perSequence, prefill + 16),
      precision,
      kvFormat: kvBytes === 2 ? 'f16' : 'f32',
      ...(rank > 0 && { lora: { rank, scale: 2, targets: LORA_TARGETS } }),
    });
    try {
      for (const { name, work, needed, prepare } of jobs) {
        next(name);
        let prefilled = engine.tokensPrefilled;
        const runs = await times(
          3,
          (repetition) => prepare(engine, repetition),
          signal,
          () => {
            const before = prefilled;
            return (prefilled = engine.tokensPrefilled) - before;
          },
        );
        const { ms, cpu_s, counted } = runs.reduce((best, run) => (run.ms < best.ms ? run : best));
        report.workloads.push({
          name,
          reduced: model.reduced,
          ...speed(work, ms, ceilings),
          cpu_s,
          ...(needed !== undefined && { prefilled: counted, needed }),
          all_ms: runs.map((run) => run.ms),
        });
      }
    } finally {
      engine.destroy();
    }
  }
  progress(total, total, 'done');
  return report;
}

const shapeName = ({ m, k, n }: { m: number; k: number; n: number }) => `${m}x${k}x${n}`;

/** The speed of a workload that took `ms`. `share` is its share of the speed that the roofline allows. */
function speed({ tokens, computed, flops, bytes }: Work, ms: number, ceilings: { gflops: number; gb_per_s: number }) {
  const gflops = flops / ms / 1e6;
  const byBytes = (flops / bytes) * ceilings.gb_per_s;
  return {
    ms,
    tokens,
    tokens_per_s: (1000 * tokens) / ms,
    computed_tokens: computed,
    flops,
    bytes,
    gflops,
    share_of_matmul: gflops / ceilings.gflops,
    bound: byBytes < ceilings.gflops ? ('bytes' as const) : ('operations' as const),
    share: gflops / Math.min(byBytes, ceilings.gflops),
  };
}

function jobsOf(model: BenchModel): Job[] {
  const { name, config, train, prefill, decode, grpo } = model;
  const tokensOf = (stream: number, count: number) => Array.from({ length: count }, (_, t) => hash32(stream, t) % config.vocab_size);
  const open = async ({ sampler }: Engine, stream: number, count: number) => {
    const sequence = await sampler.open({ seed: 1, stream });
    sampler.append(sequence, tokensOf(stream, count));
    return {
      generate: (maxNewTokens: number) => sampler.generate(sequence, { maxNewTokens, temperature: 1, stopTokenIds: [] }),
      close: () => sampler.close(sequence),
    };
  };
  return [
    {
      name: `train-${name}`,
      work: trainWork(model),
      prepare: async (engine) => {
        const sequences = Array.from({ length: train.batch }, (_, i) => ({
          tokens: tokensOf(i, train.length),
          lossMask: Array.from({ length: train.length }, () => 1),
          weight: 1 / (train.batch * train.length),
        }));
        return async () => {
          await engine.accumulate(sequences, sftLoss);
          await engine.step(ADAMW);
        };
      },
    },
    {
      name: `prefill-${name}`,
      work: prefillWork(model),
      prepare: async (engine, repetition) => {
        // Each repetition has another prompt, because equal prompts would share their pages of the KV cache.
        const sequence = await open(engine, 1000 + repetition, prefill);
        return async () => {
          await sequence.generate(1);
          sequence.close();
        };
      },
    },
    ...DECODE_BATCHES.map((batch): Job => ({
      name: `decode-${name}-${batch}`,
      work: decodeWork(model, batch),
      prepare: async (engine, repetition) => {
        const sequences = await Promise.all(
          Array.from({ length: batch }, (_, i) => open(engine, 2000 + repetition * batch + i, decode.prompt)),
        );
        await Promise.all(sequences.map(({ generate }) => generate(1)));
        return async () => {
          await Promise.all(sequences.map(({ generate }) => generate(decode.tokens)));
          for (const { close } of sequences) close();
        };
      },
    })),
    ...(grpo === undefined
      ? []
      : [
          {
            name: `grpo-${name}`,
            work: grpoWork(model, grpo),
            needed: grpoPrefill(grpo),
            prepare: async (engine: Engine, repetition: number) => () => grpoStep(engine, grpo, repetition),
          },
        ]),
  ];
}

/** A source of untrained weights, made piece by piece: matrices are noise, norms are 1. */
function noise({ config, precision }: BenchModel): WeightSource {
  const wide = precision === 'f32';
  const dtype = wide ? 'F32' : 'BF16';
  const tensors = new Map(
    groupsOf(modelTensors(config))
      .flat()
      .map(({ name, shape }) => [name, { dtype, shape }] as const),
  );
  /** Noise as bf16 bits, which are the upper half of a value's f32 bits. The values are ±0.016 to ±0.03. */
  const block = Uint16Array.from({ length: 2 ** 15 }, (_, i) => ((hash32(1, i) & 1) << 15) | (0x3c80 + (hash32(2, i) & 0x7f)));
  return {
    tensors,
    read: (name, _from, bytes) => {
      const values = wide ? new Uint32Array(bytes / 4) : new Uint16Array(bytes / 2);
      const isNorm = tensors.get(name)!.shape.length === 1;
      for (let i = 0; i < values.length; i++) values[i] = (isNorm ? 0x3f80 : block[i % block.length]!) * (wide ? 2 ** 16 : 1);
      return new Uint8Array(values.buffer);
    },
  };
}
