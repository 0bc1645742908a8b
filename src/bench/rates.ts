/** @file Measures the speeds of a device that limit a workload: of a plain matmul, of a copy, and of many small dispatches. */
import type { Gpu } from '../engine/gpu.ts';
import { matmul } from '../engine/kernels/matmul.ts';
import { type AdapterStore, untunedKey } from '../engine/first-contact.ts';
import { isObject } from '../base/json.ts';

/** The speeds that decide how long a step takes. */
export interface Speed {
  /** Operations per second of a plain matmul in f32. */
  operations: number;
  /** Bytes per second that a copy reads and writes. */
  bytes: number;
  /** Seconds of a dispatch with next to no work, in a submit with many. */
  dispatch: number;
}

const PROBED = { software: { m: 2048, k: 128, n: 384 }, hardware: { m: 4096, k: 1024, n: 4096 } };
const SMALL = { m: 16, k: 64, n: 64 };

/**
 * Measures the speeds of a device in a second or two, or takes them from the store, where they are kept for this adapter and driver.
 * Nothing else may use the device meanwhile.
 */
export async function probe(gpu: Gpu, store?: AdapterStore): Promise<Speed> {
  const key = `speed ${untunedKey(gpu)}`;
  const stored = await store?.load(key).catch(() => undefined);
  if (isSpeed(stored)) return stored;
  const speed = {
    operations: 1e9 * (await matmulRate(gpu, PROBED[gpu.info.software ? 'software' : 'hardware'])),
    bytes: 1e9 * (await copyRate(gpu, 64 * 2 ** 20)),
    dispatch: (2 * SMALL.m * SMALL.k * SMALL.n) / (1e9 * (await matmulRate(gpu, SMALL, SMALL_REPEATS))),
  };
  await store?.save(key, speed).catch(() => {});
  return speed;
}

const SMALL_REPEATS = 500;

const isSpeed = (value: unknown): value is Speed =>
  isObject(value) && ['operations', 'bytes', 'dispatch'].every((name) => Number.isFinite(value[name]) && (value[name] as number) > 0);

/**
 * GFLOP/s of y = x·Wᵀ. Each submit runs several matmuls, and the fastest of five submits counts.
 * @param submitted the matmuls of a submit. Default: enough for some milliseconds
 */
export async function matmulRate(gpu: Gpu, { m, n, k }: { m: number; n: number; k: number }, submitted?: number): Promise<number> {
  const counts = gpu.uniform('counts', [m, 0, 0, 0]);
  const [a, b, c] = [gpu.buffer('a', m * k * 4), gpu.buffer('b', n * k * 4), gpu.buffer('c', m * n * 4)];
  const flops = 2 * m * n * k;
  const repeats = submitted ?? Math.max(1, Math.round((gpu.info.software ? 5e8 : 1e11) / flops));
  const once = matmul(gpu, { a, b, c, counts }, { form: 'nt', rows: { of: 'tokens' }, n, k });
  const program = Array.from({ length: repeats }, () => once).flat();
  await gpu.ready();
  const runs = await times(5, async () => async () => {
    gpu.run(program, { tokens: m, rows: 0 });
    await gpu.device.queue.onSubmittedWorkDone();
  });
  for (const view of [counts, a, b, c]) gpu.destroyBuffer(view);
  return (flops * repeats) / fastest(runs) / 1e6;
}

/** GB/s of copies from buffer to buffer. A byte counts twice, as it is read and written. The fastest of five submits counts. */
export async function copyRate({ device, info }: Gpu, size = (info.software ? 64 : 256) * 2 ** 20): Promise<number> {
  const repeats = info.software ? 4 : 64;
  const usage = GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const [from, to] = [0, 1].map((i) => device.createBuffer({ label: `bench copy ${i}`, size, usage })) as [GPUBuffer, GPUBuffer];
  const runs = await times(5, async () => async () => {
    const encoder = device.createCommandEncoder();
    for (let i = 0; i < repeats; i++) encoder.copyBufferToBuffer(from, 0, to, 0, size);
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
  });
  from.destroy();
  to.destroy();
  return (2 * size * repeats) / fastest(runs) / 1e6;
}

interface Run {
  ms: number;
  /** CPU seconds of this process, or null in a browser. A software GPU of Node computes in this process. */
  cpu_s: number | null;
  /** What `count` returned after the run. */
  counted: number;
}

/** Measures `runs` repetitions. One more repetition, before them, warms up and is not counted. */
export async function times(
  runs: number,
  prepare: (repetition: number) => Promise<() => Promise<unknown>>,
  signal?: AbortSignal,
  count = () => 0,
): Promise<Run[]> {
  const measured: Run[] = [];
  for (let repetition = 0; repetition <= runs; repetition++) {
    signal?.throwIfAborted();
    const work = await prepare(repetition);
    count();
    const [start, cpu] = [performance.now(), cpuSeconds()];
    await work();
    const [ms, counted] = [performance.now() - start, count()];
    if (repetition > 0) measured.push({ ms, cpu_s: cpu === null ? null : cpuSeconds()! - cpu, counted });
  }
  return measured;
}

const fastest = (runs: readonly Run[]) => Math.min(...runs.map(({ ms }) => ms));

const cpuSeconds = (): number | null => {
  if (!('process' in globalThis)) return null;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
