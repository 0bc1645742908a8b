/**
 * Measures the mean tokens of demonstrated conversations of retail with a model's tokenizer. src/bench/conversations.ts holds the results.
 * Usage: npx tsx scripts/conversation-lengths.mts FOLDER…
 * A FOLDER has tokenizer.json and tokenizer_config.json, or is a GGUF file.
 */
import { renderPieces } from '../src/agent/chat-template.ts';
import { openTokenizer } from '../src/agent/tokenizer.ts';
import { findModel } from '../src/cli/files.ts';
import { tokenizerFiles } from '../src/cli/tokenizer-files.ts';
import { customerScripts, GENERATED_DOMAINS, levelConditions } from '../src/domains/registry.ts';
import { createEnvironments } from '../src/environments/index.ts';
import { synthesize } from '../src/training/synthesize.ts';
import { ScriptedUsers } from '../src/users/scripted.ts';

const COUNT = 128;
const stage = {
  environments: createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true }),
  users: new ScriptedUsers(customerScripts),
};

for (const folder of process.argv.slice(2)) {
  const { files } = await findModel(folder, { tokenizer: true });
  const tokenizer = await openTokenizer((await tokenizerFiles(files))!);
  for (const level of ['glimpse', 'nano', 'small', 'full']) {
    const options = { domain: 'retail', level, count: COUNT, seed: 1, conditions: levelConditions('retail', level) };
    const { conversations } = await synthesize(stage, options);
    const tokens = { prompt: 0, after: 0, sampled: 0 };
    for (const conversation of conversations)
      for (const [i, { text, sampled }] of renderPieces(tokenizer.format, conversation, false).entries()) {
        const { length } = tokenizer.encode(text);
        tokens[i === 0 ? 'prompt' : 'after'] += length / COUNT;
        if (sampled) tokens.sampled += length / COUNT;
      }
    const rounded = Object.entries(tokens).map(([name, value]) => `${name}: ${Math.round(value)}`);
    console.log(`${folder} ${level} { ${rounded.join(', ')} }`);
  }
}
