/**
 * Measures the mean tokens of demonstrated conversations of retail with a model's tokenizer. src/bench/conversations.ts holds the results.
 * Usage: npx tsx scripts/conversation-lengths.mts FOLDER…
 * A FOLDER has tokenizer.json and tokenizer_config.json, or is a GGUF file.
 */
import { openTokenizer } from '../src/agent/tokenizer.ts';
import { findModel } from '../src/cli/files.ts';
import { tokenizerFiles } from '../src/cli/tokenizer-files.ts';
import { meanTokens } from './measured-conversations.ts';

for (const folder of process.argv.slice(2)) {
  const { files } = await findModel(folder, { tokenizer: true });
  const tokenizer = await openTokenizer((await tokenizerFiles(files))!);
  for (const level of ['glimpse', 'nano', 'small', 'full']) console.log(folder, level, await meanTokens(tokenizer, level));
}
