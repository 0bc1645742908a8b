import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loraOptions, mergeAdapter, readAdapter, saveAdapter } from '../../../src/exchange/adapter-folder.ts';
import { exportFolder } from '../../../src/trainer/export-folder.ts';
import { loadModel } from '../../../src/exchange/model-folder.ts';
import { readSafetensors } from '../../../src/exchange/safetensors.ts';

const folder = async (name: string) => {
  const files = ['config.json', 'model.safetensors', 'adapter_config.json', 'adapter_model.safetensors'];
  const read = await Promise.all(files.map((file) => readFile(`tests/reference/fixtures/${name}/${file}`)));
  return Object.fromEntries(files.map((file, i) => [file, new Uint8Array(read[i]!)]));
};
const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));

test('an adapter of PEFT is read and written without a change; its rank becomes a multiple of 4 inside', async () => {
  const files = await folder('lora');
  const { config, tensors } = readAdapter(files);
  expect(config).toMatchObject({ r: 6, lora_alpha: 12, use_rslora: false });
  expect(loraOptions(config)).toMatchObject({ rank: 6, scale: 2 });
  expect(loraOptions({ ...config, use_rslora: true }).scale).toBeCloseTo(12 / Math.sqrt(6), 12);
  expect(tensors.get('base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight')!.shape).toEqual([8, 64]);
  expect(tensors.get('base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight')!.shape).toEqual([64, 8]);
  const written = saveAdapter(config, tensors, 'nano');
  expect(readSafetensors(written['adapter_model.safetensors']!)).toEqual(readSafetensors(files['adapter_model.safetensors']!));
  expect(readAdapter(written)).toEqual({ config, tensors });
  expect(JSON.parse(new TextDecoder().decode(written['adapter_config.json']))).toMatchObject({
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: 'nano',
    r: 6,
    target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
  });
});

test.each([
  [{ r: 0 }, 'adapter_config.json: r: is 0: expected at least 1'],
  [{ peft_type: 'IA3' }, 'adapter_config.json: peft_type: is "IA3": expected "LORA"'],
  [{ use_dora: true }, 'adapter_config.json: use_dora is true: expected false'],
  [{ bias: 'all' }, 'adapter_config.json: bias is "all": expected "none"'],
  [{ r: 5 }, 'lora_A.weight has shape [6,64]: expected [5, inputs]'],
])('a setting that would change the result is refused: %j', async (change, message) => {
  const files = await folder('lora');
  const peft = JSON.parse(new TextDecoder().decode(files['adapter_config.json'])) as object;
  expect(() => readAdapter({ ...files, 'adapter_config.json': json({ ...peft, ...change }) })).toThrow(message);
});

test('an adapter of another model is not merged', async () => {
  const [files, other] = [await folder('lora'), await folder('lora-qwen2')];
  const { weights } = loadModel(other);
  const adapter = readAdapter(files);
  const wide = new Map(adapter.tensors).set('base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight', {
    shape: [8, 32],
    data: new Float32Array(256),
  });
  expect(() => mergeAdapter(weights, { ...adapter, tensors: wide })).toThrow(
    'the adapter of [64, 32] does not fit model.layers.0.self_attn.q_proj.weight [64,64]',
  );
  const missing = new Map([...adapter.tensors].filter(([name]) => !name.includes('lora_B')));
  expect(() => mergeAdapter(weights, { ...adapter, tensors: missing })).toThrow('expected its lora_B');
});

test('a model is exported with its adapter merged, in f32 and bf16', async () => {
  const files = await folder('lora');
  const expected = mergeAdapter(loadModel(files).weights, readAdapter(files));
  const exact = await exportFolder(files, { format: 'hf', precision: 'f32' });
  expect(Object.keys(exact).filter((name) => name.startsWith('adapter'))).toEqual([]);
  expect(loadModel(exact).weights).toEqual(expected);
  expect([...expected.values()]).not.toEqual([...loadModel(files).weights.values()]);
  const rounded = await exportFolder(files, { format: 'hf', precision: 'bf16' });
  expect(JSON.parse(new TextDecoder().decode(rounded['config.json']))).toMatchObject({ model_type: 'qwen3', torch_dtype: 'bfloat16' });
  for (const [name, { data }] of loadModel(rounded).weights)
    data.forEach((value, i) => expect(Math.abs(value - expected.get(name)!.data[i]!)).toBeLessThanOrEqual(Math.abs(value) / 256));
  const alone = await exportFolder(files, { format: 'peft', precision: 'f32' });
  expect(Object.keys(alone)).toEqual(['adapter_config.json', 'adapter_model.safetensors']);
  await expect(exportFolder(exact, { format: 'peft', precision: 'f32' })).rejects.toThrow('adapter_config.json is missing');
  await expect(exportFolder(files, { format: 'hf', precision: 'f16' })).rejects.toThrow(
    'precision is f16: expected f32 or bf16 for format hf',
  );
  await expect(exportFolder(files, { format: 'onnx', precision: 'bf16' })).rejects.toThrow(
    'precision is bf16: expected f32 or f16 for format onnx',
  );
});
