/** @file Measures the tokens of demonstrated conversations of retail. */
import { renderPieces } from '../src/agent/chat-template.ts';
import type { ChatTokenizer } from '../src/agent/tokenizer.ts';
import type { ConversationTokens } from '../src/bench/conversations.ts';
import { customerScripts, GENERATED_DOMAINS, levelConditions } from '../src/domains/registry.ts';
import { createEnvironments } from '../src/environments/index.ts';
import { synthesize } from '../src/training/synthesize.ts';
import { ScriptedUsers } from '../src/users/scripted.ts';

const COUNT = 128;
const stage = {
  environments: createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true }),
  users: new ScriptedUsers(customerScripts),
};

/** The rounded means of 128 conversations at a level. */
export async function meanTokens(tokenizer: ChatTokenizer, level: string): Promise<ConversationTokens> {
  const options = { domain: 'retail', level, count: COUNT, seed: 1, conditions: levelConditions('retail', level) };
  const { conversations } = await synthesize(stage, options);
  const tokens = { prompt: 0, after: 0, sampled: 0 };
  for (const conversation of conversations)
    for (const [i, { text, sampled }] of renderPieces(tokenizer.format, conversation, false).entries()) {
      const { length } = tokenizer.encode(text);
      tokens[i === 0 ? 'prompt' : 'after'] += length;
      if (sampled) tokens.sampled += length;
    }
  const mean = (sum: number) => Math.round(sum / COUNT);
  return { prompt: mean(tokens.prompt), after: mean(tokens.after), sampled: mean(tokens.sampled) };
}
