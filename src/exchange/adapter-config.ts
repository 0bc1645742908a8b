/**
 * @file Reads PEFT's `adapter_config.json`. Only settings whose meaning is known are accepted, because an unknown one may change the result.
 * Source: `LoraConfig` of PEFT 0.17 to 0.21.
 */
import * as z from 'zod/mini';
import { isObject } from '../base/json.ts';
import { shown } from '../base/input-error.ts';
import { LORA_TARGETS } from '../engine/lora.ts';
import type { LoraTarget } from '../engine/types.ts';
import { CONFIG, WEIGHTS } from './adapter-files.ts';
import { checked } from './checked.ts';
import { ModelFolderError } from './model-folder.ts';

/** The LoRA configuration, with PEFT's names. */
export interface LoraConfig {
  r: number;
  lora_alpha: number;
  target_modules: readonly LoraTarget[];
  /** The scale is lora_alpha / √r instead of lora_alpha / r. */
  use_rslora: boolean;
  /** The modules that have tensors, such as `model.layers.0.self_attn.q_proj`. Absent: the targets of all layers. */
  modules?: readonly string[];
}

const PEFT = z.looseObject({
  peft_type: z.literal('LORA'),
  r: z.int().check(z.minimum(1), z.maximum(1024)),
  lora_alpha: z.number(),
  use_rslora: z.nullish(z.boolean()),
});

/** Settings that say how an adapter was made or is trained by PEFT. They do not change what it computes. */
const HARMLESS = [
  ...['peft_type', 'r', 'lora_alpha', 'use_rslora', 'base_model_name_or_path', 'revision', 'auto_mapping', 'peft_version'],
  ...['inference_mode', 'lora_dropout', 'runtime_config', 'megatron_core', 'qalora_group_size', 'eva_config', 'ensure_weight_tying'],
  // These say which modules have tensors, and are compared with the tensors.
  ...['target_modules', 'exclude_modules', 'layers_to_transform', 'layers_pattern', 'rank_pattern', 'alpha_pattern'],
];

/** Values of other settings that are accepted, beside those that mean that the setting is off. */
const ACCEPTED: Record<string, readonly unknown[]> = {
  task_type: ['CAUSAL_LM'],
  bias: ['none'],
  // These initial values leave the base weights as they are, so that the stored tensors are the whole change.
  init_lora_weights: [true, 'gaussian', 'orthogonal', 'eva'],
};

const CHANGED_BASE = 'it changed the base weights before training, so the tensors alone are not the whole change';
/** Why a setting is refused. */
const REASONS: Record<string, string> = {
  init_lora_weights: CHANGED_BASE,
  loftq_config: CHANGED_BASE,
  corda_config: CHANGED_BASE,
  lora_ga_config: CHANGED_BASE,
  use_dora: 'DoRA scales each row of the weights',
  bias: 'the biases were trained too',
  lora_bias: 'the adapter has biases',
  modules_to_save: 'these modules were trained as a whole',
  trainable_token_indices: 'the embeddings of these tokens were trained too',
  fan_in_fan_out: 'the weights are stored the other way round',
  layer_replication: 'the layers of the model are repeated',
  target_parameters: 'the adapter changes parameters that are no linear maps',
  alora_invocation_tokens: 'the adapter acts only after these tokens',
  task_type: 'the adapter belongs to a model that does not generate text',
};
const ADVICE = 'Merge the adapter in PEFT (merge_and_unload, save_pretrained) and use the merged model';

/** What is done with each setting, for the documents. */
export const adapterSettings = (): string[][] => [
  [HARMLESS.filter((name) => !/pattern|modules|layers/.test(name)).join(', '), 'read, or without an effect on the result'],
  ['target_modules, exclude_modules, layers_to_transform, layers_pattern', 'must fit the tensors, which say what is adapted'],
  ['rank_pattern, alpha_pattern', 'refused if they give a module another rank or alpha'],
  ...Object.entries(ACCEPTED).map(([name, values]) => [
    name,
    `${values.map((value) => `\`${JSON.stringify(value)}\``).join(', ')}, others refused`,
  ]),
  ['any other setting', 'refused unless it is off'],
];

const refused = (field: string, value: unknown, expected: string): ModelFolderError =>
  new ModelFolderError(
    `${CONFIG}: ${field} is ${shown(value, 60)}: expected ${expected}${REASONS[field] ? `, because ${REASONS[field]}` : ''}. ${ADVICE}`,
  );

const isOff = (value: unknown) =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * @param tensors the names of the tensors in `adapter_model.safetensors`
 * @throws ModelFolderError that names the field or the tensor and says what to do
 */
export function parseAdapterConfig(json: unknown, tensors: readonly string[] | undefined): LoraConfig {
  const { r, lora_alpha, use_rslora } = checked<z.output<typeof PEFT>>(PEFT, json, CONFIG);
  const fields = json as Record<string, unknown>;
  for (const [field, value] of Object.entries(fields)) {
    if (HARMLESS.includes(field) || isOff(value) || ACCEPTED[field]?.includes(value)) continue;
    throw refused(field, value, ACCEPTED[field] ? JSON.stringify(ACCEPTED[field][0]) : typeof value === 'boolean' ? 'false' : 'null');
  }
  const modules = tensors && modulesOf(tensors);
  for (const module of modules ?? []) {
    if (!isTargeted(module, fields))
      throw new ModelFolderError(
        `${WEIGHTS}: ${module} has an adapter: expected only the target_modules of ${CONFIG}, as PEFT ignores others`,
      );
    for (const [field, usual] of [['rank_pattern', r] as const, ['alpha_pattern', lora_alpha] as const]) {
      const own = patternValue(fields[field], module);
      if (own !== undefined && own !== usual)
        throw new ModelFolderError(`${CONFIG}: ${field} gives ${module} ${shown(own)}: expected ${usual} for all modules. ${ADVICE}`);
    }
  }
  const named = modules ? modules.map((module) => module.split('.').at(-1)!) : namedTargets(fields.target_modules);
  const target_modules = LORA_TARGETS.filter((name) => named.includes(name));
  if (target_modules.length === 0)
    throw new ModelFolderError(
      modules
        ? `${WEIGHTS} has no adapter: expected tensors of lora_A and lora_B`
        : `${CONFIG}: target_modules is ${shown(fields.target_modules)}: expected names among ${LORA_TARGETS.join(', ')}`,
    );
  return { r, lora_alpha, target_modules, use_rslora: use_rslora ?? false, ...(modules && { modules }) };
}

/** The name of one of the two tensors of a module. */
export const tensorName = (module: string, matrix: 'A' | 'B'): string => `base_model.model.${module}.lora_${matrix}.weight`;
const TENSOR = /^base_model\.model\.(model\.layers\.\d+\.(?:self_attn\.[qkvo]_proj|mlp\.(?:gate|up|down)_proj))\.lora_[AB]\.weight$/;

/** The modules that have tensors. @throws ModelFolderError for a tensor that is not of a linear map of a layer, or lacks its other half */
function modulesOf(tensors: readonly string[]): string[] {
  const modules = new Set<string>();
  for (const name of tensors) {
    const module = TENSOR.exec(name)?.[1];
    if (module === undefined)
      throw new ModelFolderError(
        `${WEIGHTS}: tensor ${name.slice(0, 200)} is not supported: expected lora_A and lora_B of ${LORA_TARGETS.join(', ')}. ${ADVICE}`,
      );
    modules.add(module);
  }
  for (const module of modules)
    for (const matrix of ['A', 'B'] as const)
      if (!tensors.includes(tensorName(module, matrix)))
        throw new ModelFolderError(`${WEIGHTS}: ${module} has no lora_${matrix}: expected its lora_A and its lora_B`);
  return [...modules];
}

const namedTargets = (value: unknown): string[] =>
  value === 'all-linear' ? [...LORA_TARGETS] : (Array.isArray(value) ? value : [value]).map((name) => String(name).split('.').at(-1)!);

/** Whether PEFT adapts the module (`check_target_module_exists`). */
function isTargeted(module: string, fields: Record<string, unknown>): boolean {
  const { target_modules: targets, exclude_modules: excluded, layers_to_transform: layers, layers_pattern: before } = fields;
  if (!isOff(excluded) && matches(module, excluded)) return false;
  if (targets === undefined || targets === null || targets === 'all-linear') return true;
  if (!matches(module, targets)) return false;
  if (isOff(layers) || typeof targets === 'string') return true;
  const names = isOff(before) ? ['[^.]*'] : [before].flat().map((name) => pattern(String(name), module));
  const found = names.map((name) => new RegExp(`^.*\\.${name}\\.(\\d+)\\.`).exec(module)).find((match) => match !== null);
  const layer = Number(found?.[1]);
  return Array.isArray(layers) ? layers.includes(layer) : layers === layer;
}

/** A list has names or ends of names, a text is a regular expression for the whole name. */
function matches(module: string, names: unknown): boolean {
  if (typeof names === 'string') return new RegExp(`^(?:${pattern(names, module)})$`).test(module);
  return Array.isArray(names) && names.some((name) => module === name || module.endsWith(`.${String(name)}`));
}

/** The expression of Python. @throws ModelFolderError if it means something else, or nothing, in JavaScript */
function pattern(python: string, module: string): string {
  try {
    new RegExp(python);
    return python;
  } catch {
    throw new ModelFolderError(
      `${CONFIG}: the pattern ${shown(python)} cannot be compared with ${module}: expected names, or a regular expression that JavaScript also reads. ${ADVICE}`,
    );
  }
}

/** The value of the first pattern that matches the end of the module's name (PEFT's `get_pattern_key`). */
function patternValue(patterns: unknown, module: string): unknown {
  if (!isObject(patterns)) return undefined;
  const key = Object.keys(patterns).find((own) => new RegExp(`^(?:.*\\.)?(?:${pattern(own, module)})$`).test(module));
  return key === undefined ? undefined : patterns[key];
}
