/**
 * @file Start-up check of the kernels chosen for this device: the matmul variants differ most between devices and
 * drivers, so each form is compared with float64 on a small odd shape before any result is trusted.
 */
import type { Gpu } from './gpu.ts';
import { matmul } from './kernels/matmul.ts';

const ROWS = 37;
const N = 20;
const K = 28;
const TOLERANCE = 1e-4;

/** null when all is well, else which kernel is wrong and by how much. */
export async function selfTest(gpu: Gpu): Promise<string | null> {
  const counts = gpu.uniform('counts', [ROWS, 0, 0, 0]);
  const views = [counts];
  const upload = (data: Float32Array<ArrayBuffer>) => {
    const view = gpu.buffer('self-test', data.byteLength);
    gpu.write(view, data);
    views.push(view);
    return view;
  };
  const x = values(ROWS * K, 1);
  const w = values(N * K, 2);
  const dy = values(ROWS * N, 3);
  const cases = [
    { form: 'nt', a: x, b: w, size: ROWS * N, n: N, k: K, expected: (i: number, j: number) => dot(K, (t) => x[i * K + t]! * w[j * K + t]!), width: N },
    { form: 'nn', a: dy, b: w, size: ROWS * K, n: K, k: N, expected: (i: number, j: number) => dot(N, (t) => dy[i * N + t]! * w[t * K + j]!), width: K },
    { form: 'tn', a: dy, b: x, size: N * K, n: N, k: K, expected: (i: number, j: number) => dot(ROWS, (t) => dy[t * N + i]! * x[t * K + j]!), width: K },
  ] as const;
  try {
    for (const { form, a, b, size, n, k, expected, width } of cases) {
      const c = upload(new Float32Array(size));
      const program = matmul(gpu, { a: upload(a), b: upload(b), c, counts }, { form, rows: { of: 'tokens' }, n, k });
      await gpu.ready();
      gpu.run(program, { tokens: ROWS, rows: 0 });
      const got = new Float32Array(await gpu.read(c, size * 4));
      const error = got.reduce((max, value, at) => Math.max(max, Math.abs(value - expected(Math.floor(at / width), at % width))), 0);
      if (!(error < TOLERANCE)) return `matmul ${form} is off by ${error}`;
    }
    return null;
  } finally {
    for (const view of views) gpu.destroyBuffer(view);
  }
}

const dot = (length: number, term: (t: number) => number) => {
  let sum = 0;
  for (let t = 0; t < length; t++) sum += term(t);
  return sum;
};

/** Fixed pseudo-random values in [-1, 1). */
function values(length: number, seed: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length }, (_, i) => (((i * 2654435761 + seed * 40503) >>> 8) % 2000) / 1000 - 1);
}
