/** Loads the reference models and values that tests/reference/qwen3.py writes, in the browser. */
import { type LoraConfig, readAdapter } from '../../src/exchange/adapter-folder.ts';
import { loadModel } from '../../src/exchange/model-folder.ts';
import { readSafetensors } from '../../src/exchange/safetensors.ts';
import type { ModelConfig } from '../../src/records/model.ts';
import type { AdamWParams, TensorMap } from '../../src/engine/types.ts';
import type { GrpoLossConfig } from '../../src/training/grpo-loss.ts';

const urls = import.meta.glob<string>('../reference/fixtures/*/*', { query: '?url', import: 'default', eager: true });

export interface ReferenceSequence {
  tokens: number[];
  loss_mask: number[];
  logprobs: number[];
  entropies: number[];
  logprobs_temperature: number[];
  entropies_temperature: number[];
  advantage: number;
  old_logprobs: number[];
  ref_logprobs: number[];
}

export interface Figures {
  sequences: ReferenceSequence[];
  temperature: number;
  sft: { loss: number };
  grpo: { config: GrpoLossConfig; loss: number };
  adamw: { params: AdamWParams; losses: number[]; grad_norms: number[] };
  greedy: { prompt: number[]; tokens: number[] };
}

export interface Fixture {
  config: ModelConfig;
  weights: TensorMap;
  figures: Figures;
  sftGradients: TensorMap;
  grpoGradients: TensorMap;
}

async function file(model: string, name: string): Promise<Uint8Array> {
  const response = await fetch(urls[`../reference/fixtures/${model}/${name}`]!);
  return new Uint8Array(await response.arrayBuffer());
}

export async function loadFixture(model: string): Promise<Fixture> {
  const [config, weights, figures, sft, grpo] = await Promise.all(
    ['config.json', 'model.safetensors', 'figures.json', 'sft-gradients.safetensors', 'grpo-gradients.safetensors'].map((name) =>
      file(model, name),
    ),
  );
  return {
    ...loadModel({ 'config.json': config!, 'model.safetensors': weights! }),
    figures: JSON.parse(new TextDecoder().decode(figures)) as Figures,
    sftGradients: readSafetensors(sft!),
    grpoGradients: readSafetensors(grpo!),
  };
}

/** The gradients of four tensors by TRL's DPOTrainer (tests/engines/trl_dpo.py). */
export const loadDpoGradients = async (name: string): Promise<TensorMap> =>
  readSafetensors(await file('dpo', `${name}-gradients.safetensors`));

interface FormatFigures {
  loss: number;
  logprobs: number[][];
  base_logprobs: number[][];
}

/** What tests/reference/lora.py writes. */
export interface LoraFixture {
  config: ModelConfig;
  weights: TensorMap;
  adapter: { config: LoraConfig; tensors: TensorMap };
  figures: {
    sequences: Pick<ReferenceSequence, 'tokens' | 'loss_mask'>[];
    formats: Record<'f32' | 'bf16' | 'int8' | 'int4', FormatFigures>;
  };
  /** The gradients of the adapters. */
  gradients: Record<'f32' | 'int4', TensorMap>;
}

export async function loadLoraFixture(model: string): Promise<LoraFixture> {
  const names = ['config.json', 'model.safetensors', 'adapter_config.json', 'adapter_model.safetensors'];
  const read = await Promise.all(names.map((name) => file(model, name)));
  const files = Object.fromEntries(names.map((name, i) => [name, read[i]!]));
  const gradients = async (format: string) => readSafetensors(await file(model, `gradients-${format}.safetensors`));
  return {
    ...loadModel({ 'config.json': files['config.json']!, 'model.safetensors': files['model.safetensors']! }),
    adapter: readAdapter(files),
    figures: JSON.parse(new TextDecoder().decode(await file(model, 'figures.json'))) as LoraFixture['figures'],
    gradients: { f32: await gradients('f32'), int4: await gradients('int4') },
  };
}
