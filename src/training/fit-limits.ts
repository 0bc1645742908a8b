/**
 * @file The limits of presets count tokens of our own tokenizers. Another tokenizer can need more tokens for the same words. So the
 * demonstrations of the domain are measured with the model's tokenizer, and the limits are raised until none is cut.
 */
import { messagesOf } from '../agent/players.ts';
import { renderPieces } from '../agent/chat-template.ts';
import { isOwnTemplate } from '../agent/jinja-template.ts';
import { mapConcurrently } from '../agent/rollouts.ts';
import type { ChatTokenizer } from '../agent/tokenizer.ts';
import { hash32 } from '../base/random.ts';
import { customerScripts, isDemonstrated } from '../domains/registry.ts';
import { COLD_START, conditionsOf } from '../environments/conditions.ts';
import type { Environments } from '../environments/types.ts';
import type { EpisodeLimits } from '../records/episode.ts';
import type { GrpoConfig } from '../records/run.ts';
import { ScriptedUsers } from '../users/scripted.ts';
import { ConfigError, habitsOf } from './config.ts';
import { ownName } from './settings/index.ts';
import { demonstrators } from './synthesize.ts';

type Limit = 'max_model_len' | 'response_length_one_turn';
export type NeededTokens = Pick<EpisodeLimits, Limit>;

/** The number of tasks whose demonstrations are measured, for the customers of training, of evaluation and of the cold start. */
const MEASURED = 48;
/** A raised limit leaves room: a model's own words are less regular. In tokens, limits are multiples of `step`. */
const ROOM: Record<Limit, { factor: number; step: number }> = {
  max_model_len: { factor: 1.25, step: 64 },
  response_length_one_turn: { factor: 1.5, step: 16 },
};

/** The settings on which it depends which demonstrations are measured. */
export const measuredSettings = (config: GrpoConfig) => ({
  domain: config.domain,
  level: config.level,
  seed: config.seed,
  enable_thinking: config.enable_thinking,
  habits: habitsOf(config),
  customers: [conditionsOf(config, 'train'), conditionsOf(config, 'val'), COLD_START],
});

/**
 * The smallest limits that cut no measured demonstration. Null for our own models, for which the presets were measured, and for
 * tasks without demonstrations.
 */
export async function neededTokens(environments: Environments, tokenizer: ChatTokenizer, config: GrpoConfig): Promise<NeededTokens | null> {
  const { domain, level, seed, enable_thinking, habits, customers } = measuredSettings(config);
  if (isOwnTemplate(tokenizer.chatTemplate) || !isDemonstrated(domain, level)) return null;
  const users = new ScriptedUsers(customerScripts);
  const play = await demonstrators({ environments, users }, domain, level, { habits });
  const needed = { max_model_len: 0, response_length_one_turn: 0 };
  for (const conditions of customers) {
    const tasks = await environments.tasks({ domain, level, split: 'train', seed, count: MEASURED, conditions });
    await mapConcurrently(tasks, 16, async (task, i) => {
      const { trajectory, tools } = await play(task, hash32(seed, i));
      const pieces = renderPieces(tokenizer.format, { messages: messagesOf(trajectory.nodes), tools }, enable_thinking);
      let whole = 1;
      for (const { text, sampled } of pieces) {
        const { length } = tokenizer.encode(text);
        whole += length;
        if (sampled) needed.response_length_one_turn = Math.max(needed.response_length_one_turn, length);
      }
      needed.max_model_len = Math.max(needed.max_model_len, whole);
    });
  }
  return needed;
}

/**
 * `config` with limits that cut no demonstration. A limit that was `given` as a setting is not changed.
 * @throws ConfigError if a given limit is too small
 */
export function fitLimits(config: GrpoConfig, needed: NeededTokens | null, given: Record<string, unknown> = {}): GrpoConfig {
  if (!needed) return config;
  const explicit = new Set(
    Object.keys(given)
      .filter((name) => given[name] !== undefined)
      .map(ownName),
  );
  const fitted = { ...config };
  for (const [limit, { factor, step }] of Object.entries(ROOM) as [Limit, (typeof ROOM)[Limit]][]) {
    if (config[limit] >= needed[limit]) continue;
    if (explicit.has(limit))
      throw new ConfigError(
        `setting "${limit}" is ${config[limit]}: expected at least ${needed[limit]}, the tokens of the longest demonstration of ${config.domain} ${config.level} with the tokenizer of the model`,
      );
    fitted[limit] = Math.ceil((needed[limit] * factor) / step) * step;
  }
  if (fitted.kv_cache_tokens > 0) fitted.kv_cache_tokens = Math.max(fitted.kv_cache_tokens, fitted.max_model_len);
  return fitted;
}
