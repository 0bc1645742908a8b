/** @file The settings for which weights are trained, in which format the other weights are stored, and the KV cache of the sampler. */
import { z } from 'zod';
import { KV_FORMATS } from '../../engine/kernels/kv-format.ts';
import { WEIGHT_FORMATS } from '../../engine/kernels/weight-format.ts';
import { LORA_TARGETS, targetModules } from '../../engine/lora.ts';
import { allTokens, natural, positive, settingGroup } from './setting.ts';

export const lora = settingGroup({
  id: 'lora',
  title: 'What is trained, and memory',
  settings: {
    lora_rank: {
      schema: natural.max(1024),
      default: 0,
      sft: 0,
      label: 'Rank of the adapters',
      help: 'LoRA trains small adapters and does not change the weights of the model. 0 trains all weights, or the adapter in the folder of the model.',
      trl: 'lora_r',
      verl: 'actor_rollout_ref.model.lora_rank',
    },
    lora_alpha: {
      schema: positive,
      default: 16,
      sft: 16,
      label: 'LoRA α',
      help: 'The adapters add α / rank · B·A to a weight matrix.',
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
      label: 'Layers with adapters',
      help: `all-linear, or names separated by commas: ${LORA_TARGETS.join(', ')}.`,
      trl: 'lora_target_modules',
      verl: 'actor_rollout_ref.model.target_modules',
    },
    precision: {
      schema: z.enum(WEIGHT_FORMATS),
      default: 'f32',
      sft: 'f32',
      label: 'Precision of the model',
      help: 'The format of the weights that are not trained: f32 (4 bytes per weight), bf16 (2), int8 (about 1) or int4 (about ½). Smaller formats need less memory but round the values. Only with adapters.',
      alias: 'model_dtype',
      valueAliases: { fp32: 'f32', float32: 'f32', bfloat16: 'bf16' },
    },
    kv_cache_dtype: {
      schema: z.enum(['auto', ...KV_FORMATS]),
      default: 'auto',
      label: 'Precision of the KV cache',
      help: 'The format of the keys and values of past tokens: f32 (4 bytes each) or f16 (2). auto: f32 if the precision of the model is f32, else f16. Training rounds its keys and values in the same way.',
    },
    kv_cache_tokens: {
      schema: allTokens,
      default: 0,
      label: 'Tokens in the KV cache',
      help: 'Limits the memory of the rollouts. If all conversations together have more tokens, some wait and compute their tokens again later. This takes longer and changes no result. 0: no conversation waits.',
    },
  },
});
