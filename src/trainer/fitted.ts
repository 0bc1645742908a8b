/** @file Settings with limits that fit the tokenizer of the model that is trained or plays. */
import { openTokenizer } from '../agent/tokenizer.ts';
import { Recent } from '../base/recent.ts';
import { digest } from '../base/sha256.ts';
import type { Environments } from '../environments/types.ts';
import { limitsOf } from '../evaluation/types.ts';
import { inMemory, type ModelParts } from '../exchange/model-folder.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { ModelFiles } from '../records/model.ts';
import type { GrpoConfig } from '../records/run.ts';
import { fitLimits, measuredSettings, type NeededTokens, neededTokens } from '../training/fit-limits.ts';
import { limitsFor } from '../training/presets.ts';

const TOKENIZER = ['tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'] as const;

/** The newest measurements. A measurement plays conversations, which takes seconds, and a page asks again after each change of a setting. */
const measurements = new Recent<string, Promise<NeededTokens | null>>(8);

async function needed(environments: Environments, files: ModelFiles, config: GrpoConfig): Promise<NeededTokens | null> {
  const hashes = await Promise.all(TOKENIZER.map((name) => files[name] && digest(files[name])));
  const key = JSON.stringify([hashes, measuredSettings(config)]);
  try {
    return await measurements.get(key, async () => neededTokens(environments, await openTokenizer(files), config));
  } catch (error) {
    measurements.delete(key);
    throw error;
  }
}

/** @param given the settings that were given @throws ConfigError if a given limit is too small; errors of the tokenizer */
export async function fitted(
  environments: Environments,
  model: ModelParts,
  config: GrpoConfig,
  given?: Record<string, unknown>,
): Promise<GrpoConfig> {
  // A model without a tokenizer is refused where conversations begin.
  if (!model['tokenizer.json']) return config;
  return fitLimits(config, await needed(environments, inMemory(model), config), given);
}

/** The same for the limits of an evaluation or of a conversation. None of them was given as a setting. */
export async function fittedLimits(
  environments: Environments,
  model: ModelParts,
  { domain, level }: Pick<GrpoConfig, 'domain' | 'level'>,
  limits: EpisodeLimits,
): Promise<EpisodeLimits> {
  return limitsOf(await fitted(environments, model, { ...limitsFor(domain, level), domain, level, ...limits }));
}
