/** Loads the reference models and values that tests/reference/qwen3.py writes, in the browser. */
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
