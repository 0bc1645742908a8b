/**
 * GFLOP/s of every matmul variant at the shapes of a small model. Usage:
 * `VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json npx tsx tests/bench/matmul.mts [variant…]`
 */
import { Gpu } from '../../src/engine/gpu.ts';
import { matmul, type MatmulForm } from '../../src/engine/kernels/matmul.ts';
import { MATMUL_VARIANTS } from '../../src/engine/tuning.ts';
import { dawn } from '../../src/trainer/node/dawn.ts';

const gpu = await Gpu.create(dawn());
const SHAPES: [MatmulForm, number, number, number][] = [
  ['nt', 2048, 128, 384],
  ['nn', 2048, 128, 384],
  ['tn', 2048, 128, 384],
  ['nt', 1, 128, 384],
  ['nt', 8, 128, 384],
  ['nt', 32, 128, 384],
  ['nt', 2048, 128, 2048],
  ['nn', 2048, 2048, 128],
  ['tn', 2048, 2048, 128],
];
const asked = process.argv.slice(2);
const names = (Object.keys(MATMUL_VARIANTS) as (keyof typeof MATMUL_VARIANTS)[]).filter((name) =>
  asked.length > 0 ? asked.includes(name) : (!gpu.info.software || name !== 'shared') && (name !== 'quad' || gpu.info.subgroupSize >= 4),
);
const random = (label: string, floats: number) => {
  const view = gpu.buffer(label, floats * 4);
  gpu.write(
    view,
    Float32Array.from({ length: floats }, () => Math.random() - 0.5),
  );
  return view;
};
const wait = () => gpu.device.queue.onSubmittedWorkDone();

console.log(
  `${gpu.info.vendor} ${gpu.info.architecture} ${gpu.info.description}; default ${names.find((name) => MATMUL_VARIANTS[name] === gpu.tuning.matmul)}`,
);
console.log('form  rows x k x n          ' + names.map((name) => name.padStart(9)).join('') + '   (GFLOP/s, best of 5)');
for (const [form, rows, k, n] of SHAPES) {
  const counts = gpu.uniform('counts', [rows, rows, 0, 0]);
  const a = random('a', rows * (form === 'tn' ? n : k));
  const b = random('b', form === 'tn' ? rows * k : n * k);
  const c = gpu.buffer('c', (form === 'tn' ? n * k : rows * n) * 4);
  const flops = 2 * rows * k * n;
  const rates: string[] = [];
  for (const name of names) {
    const repeats = Math.max(1, Math.round((gpu.info.software ? 3e8 : 3e11) / flops));
    const once = matmul(gpu, { a, b, c, counts }, { form, rows: { of: 'tokens' }, n, k }, MATMUL_VARIANTS[name]);
    await gpu.ready();
    const program = Array.from({ length: Math.min(repeats, 2000) }, () => once).flat();
    let best = Infinity;
    for (let trial = 0; trial < 6; trial++) {
      const start = performance.now();
      gpu.run(program, { tokens: rows, rows });
      await wait();
      if (trial > 0) best = Math.min(best, performance.now() - start);
    }
    rates.push(((flops * Math.min(repeats, 2000)) / best / 1e6).toFixed(2));
  }
  console.log(`${form}    ${`${rows} x ${k} x ${n}`.padEnd(20)}  ${rates.map((rate) => rate.padStart(9)).join('')}`);
}
process.exit(0);
