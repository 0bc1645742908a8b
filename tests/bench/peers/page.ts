/** @file Runs the comparison. The engines take turns in one page, so that a slow machine slows all of them. */
import { Gpu } from '../../../src/engine/gpu.ts';
import { randomWeights } from '../../../src/engine/parameters.ts';
import { jaxMatmul, jaxTraining, openJax } from './jax.ts';
import { onnxDecoding } from './onnx.ts';
import { ourDecoding, ourMatmul, ourTraining } from './ours.ts';
import { openTensorFlow, tensorFlowTraining } from './tfjs.ts';
import { batchOf, DECODE_MODEL, MODEL, SHAPE, stepFlops } from './workload.ts';

export interface Row {
  task: string;
  name: string;
  /** The time of the fastest round. `median_ms` is the median over the rounds. */
  best_ms: number;
  median_ms: number;
  tokens_per_s?: number;
  gflops?: number;
  /** The mean loss of every step, the warm-up first. The losses of all engines must agree, because all do the same work. */
  losses?: number[];
}

declare global {
  interface Window {
    compareTraining(rounds: number): Promise<Row[]>;
    compareDecoding(rounds: number): Promise<{ rows: Row[]; sameTokens: number }>;
  }
}

const MATMULS = [
  [512, 512, 512],
  [2048, 128, 384],
  [2048, 256, 1024],
] as const;
const MATMUL_REPEATS = 4;
const DECODE_BATCH = 32;
const DECODE_STEPS = 32;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function row(task: string, name: string, times: number[]): Row {
  const sorted = times.toSorted((a, b) => a - b);
  return { task, name, best_ms: sorted[0]!, median_ms: sorted[sorted.length >> 1]! };
}

/** Measures matmuls and training steps in the same rounds, so that their speeds can be compared. */
window.compareTraining = async (rounds) => {
  await openJax();
  await openTensorFlow();
  const gpu = await Gpu.create();
  const weights = randomWeights(MODEL, 1);
  const matmuls = await Promise.all(
    MATMULS.flatMap(([m, k, n]) =>
      [ourMatmul(gpu, m, k, n), jaxMatmul(m, k, n)].map(async (peer) => ({
        peer: await peer,
        task: `matmul ${m}x${k}x${n}`,
        flops: 2 * m * k * n,
        times: [] as number[],
      })),
    ),
  );
  const trainers = [
    await ourTraining(gpu, MODEL, weights, SHAPE),
    jaxTraining(MODEL, weights, 'webgpu', SHAPE),
    jaxTraining(MODEL, weights, 'wasm', SHAPE),
    tensorFlowTraining(MODEL, weights),
  ].map((peer) => ({
    peer,
    times: [] as number[],
    losses: [] as number[],
  }));
  for (let round = 0; round <= rounds; round++) {
    // The first round compiles kernels and does not count.
    const keep = (times: number[], ms: number) => void (round > 0 && times.push(ms));
    for (const { peer, times } of matmuls) keep(times, (await timed(() => peer.run(MATMUL_REPEATS))) / MATMUL_REPEATS);
    const batch = batchOf(round, MODEL.vocab_size, SHAPE);
    for (const { peer, times, losses } of trainers) {
      const ms = await timed(async () => losses.push(await peer.step(batch)));
      keep(times, ms);
      console.log(`step ${round} ${peer.name} ${ms.toFixed(0)} ms loss ${losses.at(-1)!.toFixed(5)}`);
    }
  }
  const rows = [
    ...matmuls.map(({ peer, task, flops, times }): Row => {
      const result = row(task, peer.name, times);
      return { ...result, gflops: flops / result.median_ms / 1e6 };
    }),
    ...trainers.map(({ peer, times, losses }): Row => {
      const result = row('train', peer.name, times);
      return {
        ...result,
        tokens_per_s: (SHAPE.batch * SHAPE.length * 1000) / result.median_ms,
        gflops: stepFlops() / result.median_ms / 1e6,
        losses,
      };
    }),
  ];
  for (const { peer } of [...matmuls, ...trainers]) peer.dispose();
  gpu.destroy();
  return rows;
};

window.compareDecoding = async (rounds) => {
  const gpu = await Gpu.create();
  const weights = randomWeights(DECODE_MODEL, 1);
  const prompts = Array.from({ length: DECODE_BATCH }, (_, i) => (i * 61 + 5) % DECODE_MODEL.vocab_size);
  const peers = [
    await ourDecoding(gpu, DECODE_MODEL, weights, DECODE_BATCH, DECODE_STEPS + 8),
    await onnxDecoding(DECODE_MODEL, weights, 'webgpu'),
    await onnxDecoding(DECODE_MODEL, weights, 'wasm'),
  ];
  const times = peers.map((): number[] => []);
  const tokens: number[][][] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const [i, peer] of peers.entries()) {
      const ms = await timed(async () => (tokens[i] = await peer.decode(prompts, DECODE_STEPS)));
      if (round > 0) times[i]!.push(ms);
      console.log(`round ${round} ${peer.name} ${ms.toFixed(0)} ms`);
    }
  }
  const rows = peers.map((peer, i): Row => {
    const result = row(`decode ${DECODE_BATCH} x ${DECODE_STEPS}`, peer.name, times[i]!);
    return { ...result, tokens_per_s: (DECODE_BATCH * DECODE_STEPS * 1000) / result.median_ms };
  });
  const [ours, ...others] = tokens as [number[][], ...number[][][]];
  const same = ours.filter((sequence, i) => others.every((theirs) => sequence.join() === theirs[i]!.join())).length;
  for (const peer of peers) await peer.dispose();
  gpu.destroy();
  return { rows, sameTokens: same / DECODE_BATCH };
};
