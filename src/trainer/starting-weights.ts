/** @file The weights from which a run starts. */
import { compactTemplate, responseTemplate } from '../agent/jinja-template.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { parseConfig } from '../engine/config.ts';
import { initialLora, loraLayout, loraTensors, targetModules } from '../engine/lora.ts';
import { hasAdapter } from '../exchange/adapter-files.ts';
import { adapterConfig, type LoraConfig, loraOptions, saveAdapter } from '../exchange/adapter-folder.ts';
import { inMemory, jsonFile, type ModelParts, readJson, withWeights } from '../exchange/model-folder.ts';
import type { GrpoConfig } from '../records/run.ts';
import { ConfigError } from '../training/config.ts';
import { freshWeights } from '../training/init-weights.ts';

/** The settings on which the starting weights depend. Imported runs may lack some of them. */
type Start = Pick<GrpoConfig, 'seed'> &
  Partial<Pick<GrpoConfig, 'init_weights' | 'lora_rank' | 'lora_alpha' | 'target_modules' | 'precision'>>;

/**
 * The model's files for the start of a run. If `init_weights` is not `model`, they get fresh weights made with the run's seed.
 * If the run trains adapters and the model has none, they get a new adapter.
 * @param base name of the model, which is written into the adapter
 * @throws ConfigError if `precision` or `lora_rank` does not fit what is trained
 */
export async function startingFiles(given: ModelParts, { init_weights = 'model', seed, ...lora }: Start, base = ''): Promise<ModelParts> {
  const config = parseConfig(readJson(inMemory(given), 'config.json'));
  const files = await withTemplate(
    init_weights === 'model' ? given : withWeights(given, freshWeights(config, { init: init_weights, seed })),
  );
  const { lora_rank: r = 0, lora_alpha = 1, target_modules = 'all-linear', precision = 'f32' } = lora;
  if (hasAdapter(files)) {
    const own = adapterConfig(files).r;
    if (r !== 0 && r !== own)
      throw new ConfigError(`setting "lora_rank" is ${r}: expected ${own}, the rank of the model's adapter, or 0 to train it as it is`);
    return files;
  }
  if (r === 0) {
    if (precision !== 'f32')
      throw new ConfigError(`setting "precision" is "${precision}": expected f32, as all weights are trained (lora_rank is 0)`);
    return files;
  }
  const adapter: LoraConfig = { r, lora_alpha, target_modules: targetModules(target_modules), use_rslora: false };
  const options = loraOptions(adapter);
  return { ...files, ...saveAdapter(adapter, initialLora(loraLayout(loraTensors(config, options)), options, seed), base) };
}

/**
 * The files with a chat template that writes tools as the run does, if the model's own template cannot. So other tools render
 * conversations as in training.
 */
async function withTemplate(files: ModelParts): Promise<ModelParts> {
  if (!files['tokenizer.json'] || !files['tokenizer_config.json']) return files;
  const { format, chatTemplate } = await openTokenizer(inMemory(files));
  const template = compactTemplate(format);
  if (!format.compact || chatTemplate === template) return files;
  const config = {
    ...(readJson(inMemory(files), 'tokenizer_config.json') as object),
    chat_template: template,
    response_template: responseTemplate(format),
  };
  return {
    ...files,
    'tokenizer_config.json': jsonFile(config),
    ...(files['chat_template.jinja'] && { 'chat_template.jinja': new TextEncoder().encode(template) }),
  };
}
