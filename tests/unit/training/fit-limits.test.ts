/** Limits that fit the tokenizer of a model. */
import 'fake-indexeddb/auto';
import { beforeAll, describe, expect, it } from 'vitest';
import { renderConversation } from '../../../src/agent/chat-template.ts';
import { GENERATED_DOMAINS, customerScripts, levelConditions } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { grpoConfig } from '../../../src/training/config.ts';
import { fitLimits, type NeededTokens, neededTokens } from '../../../src/training/fit-limits.ts';
import { PRESETS } from '../../../src/training/presets.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { nanoTokenizer, plainTokenizer } from '../../support/tokenizers.ts';

const environments = createEnvironments({ databaseName: 'fit-limits', domains: GENERATED_DOMAINS });
const { config } = PRESETS.glimpse!;
let needed: NeededTokens;
beforeAll(async () => {
  needed = (await neededTokens(environments, plainTokenizer(), config))!;
});

describe('with a tokenizer that is not ours', () => {
  it('the raised limits cut no demonstration, neither of the cold start nor of the run', async () => {
    const fitted = fitLimits(config, needed);
    expect(fitted.max_model_len).toBeGreaterThan(config.max_model_len);
    expect(fitted.response_length_one_turn).toBeGreaterThan(config.response_length_one_turn);
    const { domain, level } = config;
    for (const conditions of [undefined, levelConditions(domain, level)]) {
      const users = new ScriptedUsers(customerScripts);
      // The seed differs from the run's.
      const { conversations } = await synthesize(
        { environments, users },
        { domain, level, count: 32, seed: 7, ...(conditions && { conditions }) },
      );
      for (const conversation of conversations) {
        const { tokens, lossMask } = renderConversation(plainTokenizer(), conversation);
        expect(tokens.length).toBeLessThan(fitted.max_model_len);
        const longest = Math.max(
          ...lossMask
            .join('')
            .split('0')
            .map((turn) => turn.length),
        );
        expect(longest).toBeLessThanOrEqual(fitted.response_length_one_turn);
      }
    }
  });

  it('a given limit that is large enough stays', () => {
    const given = { max_model_len: String(needed.max_model_len) };
    expect(fitLimits(grpoConfig('glimpse', { max_model_len: needed.max_model_len }), needed, given).max_model_len).toBe(
      needed.max_model_len,
    );
  });

  it.each(['max_model_len', 'response_length_one_turn'] as const)('a given %s that cuts a demonstration is refused', (limit) => {
    const value = needed[limit] - 1;
    expect(() => fitLimits(grpoConfig('glimpse', { [limit]: value }), needed, { [limit]: value })).toThrow(
      `setting "${limit}" is ${value}: expected at least ${needed[limit]}, the tokens of the longest demonstration of retail glimpse with the tokenizer of the model`,
    );
  });

  it('the KV cache still holds one conversation', () => {
    const small = { ...config, kv_cache_tokens: 384 };
    const fitted = fitLimits(small, needed);
    expect(fitted.kv_cache_tokens).toBe(fitted.max_model_len);
  });
});

it('our own models keep the limits of the presets, and tasks without demonstrations keep theirs', async () => {
  expect(await neededTokens(environments, nanoTokenizer(), config)).toBeNull();
  expect(await neededTokens(environments, plainTokenizer(), { ...config, domain: 'airline' })).toBeNull();
  expect(fitLimits(config, null, { max_model_len: 1 })).toBe(config);
});
