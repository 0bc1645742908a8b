/**
 * A training step of LoRA with the shape of SmolLM2-135M, beside jax-js, in Node on one adapter. All engines compute in f32, from the
 * same random weights. Each round also measures the ceiling: the fastest plain matmul. jax-js needs minutes for its first step, because
 * it compiles its kernels. Usage: npm run bench:peers:lora [-- --layers 30 --batch 1 --length 128 --rounds 3 --peers webgpu,wasm]
 */
import { parseArgs } from 'node:util';
import { trainWork } from '../../../src/bench/workloads.ts';
import { Gpu } from '../../../src/engine/gpu.ts';
import { LORA_TARGETS } from '../../../src/engine/lora.ts';
import { randomWeights } from '../../../src/engine/parameters.ts';
import { dawn } from '../../../src/trainer/node/dawn.ts';
import { prepareLavapipe } from '../../../src/trainer/node/lavapipe.ts';
import { SMOLLM2_135M } from '../../../src/training/pretrained.ts';
import { ourMatmul, ourTraining } from './ours.ts';
import { batchOf } from './workload.ts';

const { values } = parseArgs({
  options: {
    layers: { type: 'string', default: '30' },
    batch: { type: 'string', default: '1' },
    length: { type: 'string', default: '128' },
    rounds: { type: 'string', default: '3' },
    peers: { type: 'string', default: 'webgpu' },
  },
});
const [layers, rounds] = [Number(values.layers), Number(values.rounds)];
const shape = { batch: Number(values.batch), length: Number(values.length) };
const config = { ...SMOLLM2_135M.config, num_hidden_layers: layers };
const [rank, scale] = [16, 2];
const MATMULS: [number, number, number][] = [
  [512, 512, 512],
  [128, 576, 1536],
];
const REPEATS = 16;

/** Node has these methods of iterators since version 22, and jax-js uses them. */
const iterators = Object.getPrototypeOf(Object.getPrototypeOf([].values())) as Record<string, unknown>;
iterators.map ??= function* <T, U>(this: Iterable<T>, change: (value: T) => U) {
  for (const value of this) yield change(value);
};
iterators.filter ??= function* <T>(this: Iterable<T>, keep: (value: T) => boolean) {
  for (const value of this) if (keep(value)) yield value;
};
iterators.toArray ??= function <T>(this: Iterable<T>) {
  return [...this];
};

prepareLavapipe();
Object.defineProperty(globalThis, 'navigator', { value: { gpu: dawn(), userAgent: 'Node' }, configurable: true });
const { jaxTraining, openJax } = await import('./jax.ts');
await openJax();
const gpu = await Gpu.create(dawn());
const weights = randomWeights(config, 1);
const ours = await ourTraining(gpu, config, weights, shape, { rank, scale, targets: LORA_TARGETS });
const adapters = await ours.trained();
const devices = (['webgpu', 'wasm'] as const).filter((device) => values.peers.split(',').includes(device));
const peers = [ours, ...devices.map((device) => jaxTraining(config, weights, device, shape, { adapters, scale }))];
const matmuls = await Promise.all(
  MATMULS.map(async (sizes) => ({ flops: 2 * sizes[0] * sizes[1] * sizes[2], peer: await ourMatmul(gpu, ...sizes) })),
);
const { flops, tokens } = trainWork({
  ...{ name: '', reduced: '', config, precision: 'f32', rank, kvBytes: 4, train: shape, prefill: 1, decode: { prompt: 1, tokens: 1 } },
});

/** Seconds by the clock, and CPU seconds of this process, in which a software GPU computes. Other processes hardly change the latter. */
interface Took {
  clock: number;
  cpu: number;
}
async function timed(work: () => Promise<unknown>): Promise<Took> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(used);
  return { clock: (performance.now() - start) / 1000, cpu: (user + system) / 1e6 };
}
/** Operations of a plain matmul in a CPU second: the best of all sizes. */
async function ceiling(): Promise<number> {
  const rates: number[] = [];
  for (const { flops: each, peer } of matmuls) rates.push((REPEATS * each) / (await timed(() => peer.run(REPEATS))).cpu);
  return Math.max(...rates);
}
const spread = (numbers: readonly number[]): string => {
  const sorted = numbers.toSorted((a, b) => a - b);
  return `${sorted[sorted.length >> 1]!.toFixed(2)} (${sorted[0]!.toFixed(2)} to ${sorted.at(-1)!.toFixed(2)})`;
};

console.log(`${gpu.info.description}: ${layers} layers, ${shape.batch} × ${shape.length} tokens, ${(flops / 1e9).toFixed(1)} GFLOP a step`);
const times = peers.map((): Took[] => []);
const shares: number[] = [];
for (let round = 0; round <= rounds; round++) {
  const batch = batchOf(round, config.vocab_size, shape);
  const before = await ceiling();
  for (const [i, peer] of peers.entries()) {
    let loss = NaN;
    const took = await timed(async () => (loss = await peer.step(batch)));
    const { clock, cpu } = took;
    console.log(
      `round ${round}  ${peer.name.padEnd(14)}  ${clock.toFixed(2)} s, ${cpu.toFixed(2)} CPU s, ${(tokens / clock).toFixed(1)} tokens/s, loss ${loss.toFixed(6)}`,
    );
    // The first round compiles kernels and does not count.
    if (round > 0) times[i]!.push(took);
    if (round > 0 && i === 0) shares.push(flops / cpu / Math.max(before, await ceiling()));
  }
}
for (const [i, peer] of peers.entries()) {
  console.log(`${peer.name.padEnd(14)}  ${spread(times[i]!.map(({ clock }) => tokens / clock))} tokens/s`);
  if (i === 0) continue;
  for (const by of ['clock', 'cpu'] as const)
    console.log(
      `ours is ${spread(times[i]!.map((took, round) => took[by] / times[0]![round]![by]))} times as fast as ${peer.name} (${by})`,
    );
}
console.log(`ours reaches ${spread(shares)} of the fastest plain matmul (cpu)`);
process.exit(0);
