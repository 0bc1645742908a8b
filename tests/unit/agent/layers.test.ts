/** How the layers of a domain are checked together. */
import { expect, test, vi } from 'vitest';
import { type LayerCheck, layersOf, type SafetyCheck } from '../../../src/agent/layers.ts';
import { domainOf } from '../../../src/domains/registry.ts';
import type { Layer } from '../../../src/records/layers.ts';

const CONVERSATION = { events: [], tools: null, policy: null };
const FOUND: Layer = { findings: [{ rule: 'r', sentence: null, message: 3, detail: '' }], occasions: { r: 1 } };

test('safety reads the policy that was found, which is checked once', () => {
  const policy = vi.fn<LayerCheck>(() => FOUND);
  const safety = vi.fn<SafetyCheck>(() => ({ findings: [], occasions: {} }));
  const layers = layersOf(CONVERSATION, { name: 'd', layers: { policy, safety } });
  expect(policy).toHaveBeenCalledTimes(1);
  expect(safety.mock.calls).toEqual([[CONVERSATION, FOUND]]);
  expect(layers.communication).toEqual({ na: 'The domain d has no rules of the layer communication.' });
});

test('where the check of the policy fails, safety is not applicable, because it would miss findings', () => {
  const policy = () => {
    throw new Error('a fault');
  };
  const safety = vi.fn<SafetyCheck>();
  const failed = { na: 'The check failed' };
  const layers = layersOf(CONVERSATION, { name: 'd', layers: { policy, safety } }, () => failed);
  expect([layers.policy, layers.safety, safety.mock.calls.length]).toEqual([failed, failed, 0]);
  expect(() => layersOf(CONVERSATION, { name: 'd', layers: { policy } })).toThrow('a fault');
});

test('without a policy to check, safety is checked alone', () => {
  const safety: SafetyCheck = (_, policy) => ({ findings: 'na' in policy ? [] : policy.findings, occasions: { s: 1 } });
  expect(layersOf(CONVERSATION, { name: 'd', layers: { safety } }).safety).toEqual({ findings: [], occasions: { s: 1 } });
});

test.each(['retail', 'airline', 'telecom'])('the real layers of %s are found of an empty conversation', async (name) => {
  const layers = layersOf(CONVERSATION, { name, layers: await domainOf(name)!.layers!() });
  for (const layer of Object.values(layers)) expect(layer).toMatchObject({ findings: [] });
});
