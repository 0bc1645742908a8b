/** The level glimpse, its model and its preset fit together: conversations are short enough to learn within a minute. */
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { QWEN, renderConversation, renderOpening } from '../../../src/agent/chat-template.ts';
import { loadTokenizer } from '../../support/tokenizers.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { loadModel } from '../../../src/exchange/model-folder.ts';
import { PRESETS } from '../../../src/training/presets.ts';
import { synthesize } from '../../../src/training/synthesize.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { GENERATED_DOMAINS, customerScripts, levelConditions } from '../../../src/domains/registry.ts';

const { config, model } = PRESETS.glimpse!;
const names = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
const files = Object.fromEntries(
  names.map((name) => [name, new Uint8Array(readFileSync(new URL(`../../../models/${model}/${name}`, import.meta.url)))]),
);

test('the model has 30 to 100 thousand parameters and knows every token of its tokenizer', () => {
  const { config: shape, weights } = loadModel(files);
  const parameters = [...weights.values()].reduce((sum, { data }) => sum + data.length, 0);
  expect(parameters).toBeGreaterThan(30_000);
  expect(parameters).toBeLessThan(100_000);
  expect(shape.vocab_size).toBe(loadTokenizer(files).vocabSize);
});

test('conversations with the preset’s customers are short and stay within its limits', async () => {
  const { conversations } = await synthesize(
    {
      environments: createEnvironments({ databaseName: 'glimpse', domains: GENERATED_DOMAINS }),
      users: new ScriptedUsers(customerScripts),
    },
    {
      domain: config.domain,
      level: config.level,
      count: 64,
      seed: config.seed,
      styles: ['careful'],
      conditions: levelConditions(config.domain, config.level),
    },
  );
  const tokenizer = loadTokenizer(files);
  const prompt = tokenizer.encode(renderOpening(QWEN, conversations[0]!.messages[0]!.content, conversations[0]!.tools)).length;
  expect(prompt).toBeLessThan(130);
  for (const conversation of conversations) {
    const { tokens, lossMask } = renderConversation(tokenizer, conversation);
    expect(tokens.length).toBeLessThan(config.max_model_len);
    expect(tokens.length - prompt).toBeLessThan(200);
    expect(lossMask.filter(Boolean).length).toBeLessThan(90);
    const turns = conversation.messages.filter(({ role }) => role === 'user' || role === 'tool').length - 1;
    expect(turns).toBeLessThanOrEqual(config.max_turns);
  }
});
