/**
 * Whether f16 would make the matmul of a frozen matrix faster than bf16: CPU seconds of each variant over those of bf16, with sums in f32,
 * and the error against float64. The variants rewrite the kernel's text. Runs on lavapipe.
 * Usage: `LP_NUM_THREADS=2 npx tsx tests/bench/half-matmul.mts [rows n k]`
 */
import { toBfloat16, toHalf } from '../../src/base/half.ts';
import { Gpu, type View } from '../../src/engine/gpu.ts';
import { registerMatmul, registerTileSpan } from '../../src/engine/kernels/matmul-register.ts';
import { matmulReference } from '../../src/engine/kernels/matmul.ts';
import { MATMUL_VARIANTS, type RegisterTile } from '../../src/engine/tuning.ts';
import { dawn } from '../../src/trainer/node/dawn.ts';
import { prepareLavapipe } from '../../src/trainer/node/lavapipe.ts';

const [rows = 256, n = 1536, k = 576] = process.argv.slice(2).map(Number);
const ROUNDS = 15;
if (!prepareLavapipe()) throw new Error('lavapipe is not installed (package mesa-vulkan-drivers, Mesa 24 or newer)');

const device = dawn();
const requestAdapter = device.requestAdapter.bind(device);
device.requestAdapter = async (options) => {
  const adapter = (await requestAdapter(options))!;
  const requestDevice = adapter.requestDevice.bind(adapter);
  adapter.requestDevice = (wanted) => requestDevice({ ...wanted, requiredFeatures: [...(wanted?.requiredFeatures ?? []), 'shader-f16'] });
  return adapter;
};
const gpu = await Gpu.create(device);

const values = (count: number, size: number) =>
  Float32Array.from({ length: count }, (_, i) => size * (((i * 2654435761) % 1000) / 500 - 1));
const [a, b] = [values(rows * k, 1), values(n * k, 1 / 32)];
const upload = (label: string, data: Float32Array<ArrayBuffer> | Uint16Array<ArrayBuffer>): View => {
  const view = gpu.buffer(label, data.byteLength);
  gpu.write(view, data);
  return view;
};
const views = { a: upload('a', a), aHalf: upload('a f16', toHalf(a)), b: upload('b', b), bHalf: upload('b f16', toHalf(b)) };
const bf16 = upload('b bf16', toBfloat16(b));
const LOAD = /fn load_b[^}]*\}/;
const loads = (body: string) => (wgsl: string) => wgsl.replace(LOAD, `fn load_b(i: u32) -> vec4f { ${body} }`);
const half = (wgsl: string) => `enable f16;\n${loads('return vec4f(b[i]);')(wgsl).replace('b: array<vec2u>', 'b: array<vec4h>')}`;
const halfInputs = (wgsl: string) =>
  half(wgsl)
    .replace('a: array<vec4f>', 'a: array<vec4h>')
    .replaceAll(/let x0 = a\[([^\]]*)\];/g, 'let x0 = vec4f(a[$1]);');
const VARIANTS: [name: string, format: 'f32' | 'bf16', a: View, b: View, rewrite: (wgsl: string) => string][] = [
  ['bf16', 'bf16', views.a, bf16, (wgsl) => wgsl],
  ['f32', 'f32', views.a, views.b, (wgsl) => wgsl],
  ['f16, unpacked', 'bf16', views.a, views.bHalf, loads('let w = b[i]; return vec4f(unpack2x16float(w.x), unpack2x16float(w.y));')],
  ['f16', 'bf16', views.a, views.bHalf, half],
  ['f16, inputs too', 'bf16', views.aHalf, views.bHalf, halfInputs],
];
const tile = MATMUL_VARIANTS.quads.rows.find(({ upTo }) => upTo >= rows)!.tile as RegisterTile;
const [tileRows, tileColumns] = registerTileSpan(tile);
const counts = gpu.uniform('counts', [rows, 0, 0, 0]);
const programs = VARIANTS.map(([name, format, x, weights, rewrite]) => {
  const kernel = registerMatmul({ form: 'nt', format, adapter: false }, tile);
  const c = gpu.buffer(`c ${name}`, rows * n * 4);
  const at = { a_at: 0, b_at: 0, c_at: 0, scale: 1, accumulate: 0 };
  const dims = { rows: { of: 'tokens' as const }, n, k, lda: k, ldb: k, ldc: n, ...at };
  const bound = { dims, counts, a: x, b: weights, c } as unknown as Parameters<typeof gpu.dispatch>[1];
  const dispatch = gpu.dispatch({ ...kernel, wgsl: rewrite(kernel.wgsl) }, bound as never, () => [
    Math.ceil(n / tileColumns),
    Math.ceil(rows / tileRows),
  ]);
  return { name, dispatch, c, seconds: [] as number[] };
});
await gpu.ready();
const repeats = Math.max(1, Math.round(1e9 / (2 * rows * n * k)));
for (let round = 0; round <= ROUNDS; round++) {
  for (const { dispatch, seconds } of programs) {
    const start = process.cpuUsage();
    gpu.run(Array<typeof dispatch>(repeats).fill(dispatch), { tokens: rows, rows: 0 });
    await gpu.device.queue.onSubmittedWorkDone();
    const { user, system } = process.cpuUsage(start);
    if (round > 0) seconds.push((user + system) / 1e6 / repeats);
  }
}
const expected = matmulReference(Float64Array.from(a), Float64Array.from(b), rows, { form: 'nt', n, k });
const largest = expected.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
console.log(`${gpu.info.description}: ${rows} × ${n} × ${k}`);
for (const { name, c, seconds } of programs) {
  const got = new Float32Array(await gpu.read(c));
  const error = got.reduce((most, x, i) => Math.max(most, Math.abs(x - expected[i]!)), 0);
  const ratios = seconds.map((took, round) => programs[0]!.seconds[round]! / took).sort((x, y) => x - y);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => ratios[Math.floor(part * ROUNDS)]!.toFixed(2));
  console.log(
    `${name.padEnd(16)} speed over bf16 ${middle} (quartiles ${low} to ${high}), error / largest ${(error / largest).toExponential(1)}`,
  );
}
process.exit(0);
