/** Adapters that PEFT 0.17.1 wrote (tests/reference/peft_adapters.py): those that are read give the weights of PEFT, all others are refused. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loraOptions, mergeAdapter, readAdapter, withTrained } from '../../../src/exchange/adapter-folder.ts';
import { loadModel } from '../../../src/exchange/model-folder.ts';
import { readSafetensors, writeSafetensors } from '../../../src/exchange/safetensors.ts';
import { loraLayout, loraTensors } from '../../../src/engine/lora.ts';
import { tensorProblems } from '../../../src/engine/parameters.ts';

const FIXTURES = 'tests/reference/fixtures';
const bytes = (path: string) => new Uint8Array(readFileSync(`${FIXTURES}/${path}`));
const json = <T>(path: string) => JSON.parse(readFileSync(`${FIXTURES}/${path}`, 'utf8')) as T;
const base = { 'config.json': bytes('lora/config.json'), 'model.safetensors': bytes('lora/model.safetensors') };
const CONFIG = 'adapter_config.json';
const WEIGHTS = 'adapter_model.safetensors';
const merged = json<Record<string, Record<string, [weighted: number, squares: number]>>>('peft/merged.json');
const refused = json<Record<string, { config: object; tensors: Record<string, number[]> }>>('peft/refused.json');
const adapter = (name: string) => ({ ...base, [CONFIG]: bytes(`peft/${name}/${CONFIG}`), [WEIGHTS]: bytes(`peft/${name}/${WEIGHTS}`) });
const encoded = (value: object) => new TextEncoder().encode(JSON.stringify(value));

test.each(Object.keys(merged))('%s: the merged weights are those of PEFT', (name) => {
  const { weights } = loadModel(base);
  const after = mergeAdapter(weights, readAdapter(adapter(name)));
  const changes = [...after].flatMap(([tensor, { data }]) => {
    const before = weights.get(tensor)!.data;
    let [weighted, squares] = [0, 0];
    data.forEach((value, i) => {
      weighted += (i + 1) * (value - before[i]!);
      squares += (value - before[i]!) ** 2;
    });
    return squares > 0 ? [[tensor, [weighted, squares]] as const] : [];
  });
  expect(changes.map(([tensor]) => tensor).sort()).toEqual(Object.keys(merged[name]!).sort());
  for (const [tensor, [weighted, squares]] of changes as [string, [number, number]][]) {
    const [expected, size] = merged[name]![tensor]!;
    // PEFT merges in f32: an element of a change of about 1 is off by 1e-7, and its weight is at most its index.
    expect(Math.abs(squares - size) / size).toBeLessThan(1e-5);
    expect(Math.abs(weighted - expected)).toBeLessThan(2e-3 * Math.sqrt(size) * 64);
  }
});

test.each(Object.keys(merged))('%s: the engine gets all tensors that it needs, and the file is written back as it was', (name) => {
  const files = adapter(name);
  const { config, tensors } = readAdapter(files);
  expect(tensorProblems(loraLayout(loraTensors(loadModel(base).config, loraOptions(config))).parameters, tensors)).toEqual([]);
  expect(readSafetensors(withTrained(files, tensors)[WEIGHTS] as Uint8Array)).toEqual(readSafetensors(files[WEIGHTS]));
});

test('the fixtures are complete', () => {
  expect(
    readdirSync(`${FIXTURES}/peft`)
      .filter((name) => !name.endsWith('.json'))
      .sort(),
  ).toEqual(Object.keys(merged).sort());
});

test.each(Object.entries(refused))('%s is refused by its name, with what to do', (name, { config, tensors }) => {
  const weights = writeSafetensors(
    new Map(
      Object.entries(tensors).map(([key, shape]) => [
        key,
        { shape, data: new Float32Array(shape.reduce((size, length) => size * length, 1)) },
      ]),
    ),
  );
  const read = () => readAdapter({ ...base, [CONFIG]: encoded(config), [WEIGHTS]: weights });
  const [field, value] = name.split(' ');
  expect(read).toThrow(new RegExp(`(${CONFIG}|${WEIGHTS}): ${field}.*${value ?? ''}`));
  if (field !== 'peft_type') expect(read).toThrow('Merge the adapter in PEFT');
});

test.each<[object, string | null]>([
  [{ bias: null, use_dora: null, modules_to_save: [], loftq_config: {}, layer_replication: null, some_new_thing: false }, null],
  [{ some_new_thing: 0.5 }, 'some_new_thing is 0.5'],
  [{ init_lora_weights: 'lora_ga' }, 'init_lora_weights is "lora_ga": expected true, because it changed the base weights'],
  [{ init_lora_weights: false }, null],
  [{ init_lora_weights: 'eva', eva_config: { rho: 2 } }, null],
  [{ loftq_config: { loftq_bits: 4 } }, 'loftq_config is {"loftq_bits":4}'],
  [{ fan_in_fan_out: true }, 'fan_in_fan_out is true: expected false'],
  [{ layer_replication: [[0, 1]] }, 'layer_replication is [[0,1]]'],
  [{ alora_invocation_tokens: [1] }, 'alora_invocation_tokens is [1]'],
  [{ task_type: 'SEQ_CLS' }, 'task_type is "SEQ_CLS": expected "CAUSAL_LM"'],
  [{ target_modules: ['q_proj'] }, 'model.layers.0.mlp.down_proj has an adapter: expected only the target_modules'],
  [{ target_modules: '.*\\.(q|down)_proj' }, null],
  [{ target_modules: '(?i)Q_PROJ' }, 'the pattern "(?i)Q_PROJ" cannot be compared'],
  [{ layers_to_transform: 0 }, 'model.layers.1.mlp.down_proj has an adapter'],
  [{ layers_to_transform: [0, 1], layers_pattern: ['h', 'layers'] }, null],
  [{ layers_to_transform: [0, 1], layers_pattern: 'h' }, 'model.layers.0.mlp.down_proj has an adapter'],
  [{ layers_pattern: 'h' }, null],
  [{ rank_pattern: { '(k|v)_proj': 8 } }, null],
  [{ rank_pattern: { '.*proj': 8 } }, 'rank_pattern gives model.layers.0.mlp.down_proj 8: expected 3 for all modules'],
])('%j', (change, message) => {
  const files = adapter('rslora');
  const config = { ...json<object>(`peft/rslora/${CONFIG}`), ...change };
  const read = () => readAdapter({ ...files, [CONFIG]: encoded(config) });
  if (message === null) expect(read()).toEqual(readAdapter(files));
  else expect(read).toThrow(message);
});

test('half of an adapter is refused', () => {
  const files = adapter('rslora');
  const tensors = readSafetensors(files[WEIGHTS]);
  tensors.delete('base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight');
  expect(() => readAdapter({ ...files, [WEIGHTS]: writeSafetensors(tensors) })).toThrow('model.layers.1.self_attn.q_proj has no lora_A');
});
