/** The self-test of a whole model: it passes on this adapter, and a fault that is planted in one kernel makes it fail by name. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstFailure, passed } from '../../src/engine/check.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { modelTest } from '../../src/engine/model-test.ts';

let gpu: Gpu;
beforeAll(async () => void (gpu = await Gpu.create()));
afterAll(() => gpu.destroy());

/** The names of the checks that fail if `change` is applied to the WGSL of the kernels whose label matches. */
async function failing(label?: RegExp, change: (wgsl: string) => string = (wgsl) => wgsl): Promise<string[]> {
  const dispatch = gpu.dispatch.bind(gpu);
  let changed = 0;
  gpu.dispatch = (definition, ...rest) => {
    if (!label?.test(definition.label)) return dispatch(definition, ...rest);
    const wgsl = change(definition.wgsl);
    changed += Number(wgsl !== definition.wgsl);
    return dispatch({ ...definition, wgsl }, ...rest);
  };
  const checks = await modelTest(gpu);
  gpu.dispatch = dispatch;
  if (label) expect(changed, 'kernels with the fault').toBeGreaterThan(0);
  else expect(checks.length).toBeGreaterThan(30);
  return checks.filter((check) => !passed(check)).map(({ name }) => name);
}

test('this adapter passes', async () => {
  expect(await failing()).toEqual([]);
});

const GRADIENT = 'gradient of model.layers.1.';
test.each<[fault: string, label: RegExp, change: (wgsl: string) => string, first: string]>([
  [
    'the gradient of gate has the wrong sign',
    /^swiglu backward/,
    (wgsl) => wgsl.replace('dgateUp[gate_at] = sigmoid', 'dgateUp[gate_at] = -sigmoid'),
    `${GRADIENT}mlp.gate_proj.weight`,
  ],
  [
    'the gradient of queries has the wrong sign',
    /^attention dq/,
    (wgsl) => wgsl.replace(/(dqk\[[^\]]*\] = )/g, '$1-'),
    `${GRADIENT}self_attn.q_norm.weight`,
  ],
  ['f16 is truncated', /^kv/, (wgsl) => wgsl.replace('+ 0xfffu + ((size >> 13u) & 1u)', ''), 'rounding to f16'],
  [
    // Only matmuls over several rows exchange lanes. A decode step has one row.
    'the kernels for prefill are slightly off',
    /^matmul nt/,
    (wgsl) => (wgsl.includes('quadSwap') ? wgsl.replace('value * dims.scale', 'value * dims.scale * 1.000001') : wgsl),
    'bits of prefill and decode with keys in f32',
  ],
  ['AdamW ascends', /^adamw/, (wgsl) => wgsl.replace('- settings.rate', '+ settings.rate'), 'AdamW, in steps of the learning rate'],
  ['the clip is ignored', /^grad norm$/, (wgsl) => wgsl.replace('factor = min(', 'factor = max('), 'AdamW, in steps of the learning rate'],
  [
    'the derivative of the entropy is left out',
    /loss/,
    (wgsl) => wgsl.replace('vec2f(-1.0, 0.1)', 'vec2f(-1.0, 0.0)'),
    'gradient of model.norm.weight',
  ],
])('%s', async (_, label, change, first) => {
  expect((await failing(label, change))[0]).toBe(first);
});

test('a result that is not a number fails', () => {
  const check = { name: 'log-probs', error: NaN, most: 1 };
  expect(firstFailure([{ ...check, error: 1 }])).toBeNull();
  expect(firstFailure([check])).toBe('log-probs is off by NaN: expected at most 1');
});
