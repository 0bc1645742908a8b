/** @file Which weights are trained, how the others are held, and the KV cache of the sampler. */
import { z } from 'zod';
import { KV_FORMATS } from '../../engine/kernels/kv-format.ts';
import { WEIGHT_FORMATS } from '../../engine/kernels/weight-format.ts';
import { LORA_TARGETS, targetModules } from '../../engine/lora.ts';
import { natural, positive, settingGroup } from './setting.ts';

export const lora = settingGroup({
  id: 'lora',
  title: 'What is trained, and memory',
  settings: {
    lora_rank: {
      schema: natural.max(1024),
      default: 0,
      sft: 0,
      label: 'Rank of the adapters',
      help: 'LoRA trains small adapters beside the weights of the model, which stay as they are. 0 trains all weights, or the adapter that the model came with.',
      trl: 'lora_r',
      verl: 'actor_rollout_ref.model.lora_rank',
    },
    lora_alpha: {
      schema: positive,
      default: 16,
      sft: 16,
      label: 'LoRA α',
      help: 'The adapters change a product by α / rank · B·A.',
      verl: 'actor_rollout_ref.model.lora_alpha',
    },
    target_modules: {
      schema: z.string().check(({ value, issues }) => {
        try {
          targetModules(value);
        } catch {
          issues.push({ code: 'custom', input: value, message: `expected all-linear, or names among ${LORA_TARGETS.join(', ')}` });
        }
      }),
      default: 'all-linear',
      sft: 'all-linear',
      label: 'Maps with adapters',
      help: `all-linear, or names with commas between them: ${LORA_TARGETS.join(', ')}.`,
      trl: 'lora_target_modules',
      verl: 'actor_rollout_ref.model.target_modules',
    },
    precision: {
      schema: z.enum(WEIGHT_FORMATS),
      default: 'f32',
      sft: 'f32',
      label: 'Precision of the model',
      help: 'How the weights that are not trained are held: f32 (4 bytes a weight), bf16 (2), int8 (about 1) or int4 (about ½). With less, a larger model fits, and its values are rounded. Only with adapters.',
      alias: 'model_dtype',
      valueAliases: { fp32: 'f32', float32: 'f32', bfloat16: 'bf16' },
    },
    kv_cache_dtype: {
      schema: z.enum(['auto', ...KV_FORMATS]),
      default: 'auto',
      label: 'Precision of the KV cache',
      help: 'How the keys and values of past tokens are held: f32 (4 bytes each) or f16 (2). auto: f16, or f32 if the precision of the model is f32. Training rounds its keys and values in the same way.',
    },
    kv_cache_tokens: {
      schema: natural,
      default: 0,
      label: 'Tokens in the KV cache',
      help: 'Limits the memory of the rollouts. If all conversations together need more, some wait and compute their tokens again: this takes longer and changes no result. 0: no conversation waits.',
    },
  },
});
