import { expect, test } from 'vitest';
import { Gpu } from '../../src/engine/gpu.ts';
import { defineKernel } from '../../src/engine/kernel.ts';
import { PAPER } from '../../src/training/defaults.ts';
import { grpoLoss, grpoTokenLoss, type GrpoLossConfig } from '../../src/training/grpo-loss.ts';
import { cases as verlCases, chainOf, configOf, relativeError } from '../support/verl-algorithms.ts';

const ADVANTAGES = [-1.5, -0.3, 0, 0.4, 2];
const LOGPROB = -1.2;
// Differences from the old and the reference log-prob. Each lies far inside one branch of the loss.
const TO_OLD = [-21, -2, -0.35, -0.1, 0, 0.1, 0.3, 1.5, 21];
const TO_REF = [-21, -3, -1, -0.2, 0.3, 1, 5, 21];

/** Runs the WGSL derivative on every case, as the engine does on rows. */
async function derivatives(
  gpu: Gpu,
  config: GrpoLossConfig,
  cases: readonly [number, number, number][],
  logprobs: readonly number[] = cases.map(() => LOGPROB),
): Promise<Float32Array> {
  const { wgsl, settings } = grpoLoss(config);
  const inputs = gpu.buffer('inputs', cases.length * 16);
  const out = gpu.buffer('out', cases.length * 8);
  gpu.write(inputs, Float32Array.from(cases.flatMap(([advantage, old, ref], i) => [advantage, old, ref, logprobs[i]!])));
  const kernel = defineKernel({
    label: 'token loss',
    reads: { inputs: 'vec4f' },
    writes: { out: 'vec2f' },
    body: `${wgsl}
    @compute @workgroup_size(1) fn main(@builtin(workgroup_id) wg: vec3u) {
      out[wg.x] = token_loss(inputs[wg.x].w, 0.5, inputs[wg.x].xyz, array<f32, 8>(${settings.map((s) => s.toExponential()).join()}));
    }`,
  });
  const program = [gpu.dispatch(kernel, { inputs, out }, () => [cases.length])];
  await gpu.ready();
  gpu.run(program, { tokens: 0, rows: 0 });
  return new Float32Array(await gpu.read(out, cases.length * 8));
}

test.each([
  ['vanilla', 'k1'],
  ['vanilla', 'abs'],
  ['vanilla', 'k2'],
  ['vanilla', 'low_var_kl'],
  ['gspo', 'low_var_kl'],
] as const)('the WGSL derivative of the policy loss %s with %s is that of its value', async (loss_mode, kl_loss_type) => {
  const gpu = await Gpu.create();
  const config = { ...PAPER, loss_mode, kl_loss_type, kl_loss_coef: 0.3, entropy_coeff: 0.01 };
  const cases = ADVANTAGES.flatMap((a) =>
    TO_OLD.flatMap((o) => TO_REF.map((r): [number, number, number] => [a, LOGPROB - o, LOGPROB - r])),
  );
  const got = await derivatives(gpu, config, cases);
  const value = (logprob: number, [a, o, r]: [number, number, number]) => {
    const parts = grpoTokenLoss(logprob, a, o, r, config);
    return parts.policy + config.kl_loss_coef * parts.kl!;
  };
  const h = 1e-6;
  cases.forEach((c, i) => {
    const expected = (value(LOGPROB + h, c) - value(LOGPROB - h, c)) / (2 * h);
    expect(Math.abs(got[2 * i]! - expected), JSON.stringify(c)).toBeLessThan(1e-4 * Math.max(1, Math.abs(expected)));
    expect(got[2 * i + 1]).toBeCloseTo(-0.01, 7);
  });
  gpu.destroy();
});

test.each(verlCases)('the WGSL derivative, with weights and advantages from rewards, is verl’s gradient: $name', async (expected) => {
  const gpu = await Gpu.create();
  const config = configOf(expected);
  const { tokens } = chainOf(config, expected.groups);
  const got = await derivatives(
    gpu,
    config,
    tokens.map(({ advantage, old, ref }) => [advantage, old, ref]),
    tokens.map(({ logprob }) => logprob),
  );
  const at = (rows: number[][]) => tokens.map(({ sequence, at }) => rows[sequence]![at]!);
  expect(
    relativeError(
      tokens.map(({ weight }, i) => weight * got[2 * i]!),
      at(expected.gradient),
    ),
  ).toBeLessThan(1e-5);
  expect(
    relativeError(
      tokens.map(({ weight }, i) => weight * got[2 * i + 1]!),
      at(expected.entropy_gradient),
    ),
  ).toBeLessThan(1e-6);
  gpu.destroy();
});
