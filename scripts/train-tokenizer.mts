/**
 * @file Trains a nano tokenizer on conversations and writes tokenizer.json and tokenizer_config.json.
 *
 *     npx tsx scripts/train-tokenizer.mts --data conversations.jsonl --out models/nano [--vocab-size 2304] [--digits 3] [--split-capitals]
 *
 * `--data` is chat JSONL from `mua synthesize`. The training text includes the policy and the tool schemas, as in an episode.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { trainTokenizer } from '../src/agent/bpe-trainer.ts';
import { QWEN, renderConversation, renderPieces } from '../src/agent/chat-template.ts';
import { parseConversations } from '../src/agent/conversation.ts';
import { loadTokenizer } from '../src/agent/tokenizer.ts';

function fail(message: string): never {
  console.error(`train-tokenizer: ${message}`);
  process.exit(2);
}

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    'vocab-size': { type: 'string', default: '2304' },
    digits: { type: 'string', default: '3' },
    'split-capitals': { type: 'boolean', default: false },
    'min-frequency': { type: 'string', default: '2' },
  },
});
if (!values.data || !values.out) fail('expected --data FILE.jsonl --out DIR');
const digits = Number(values.digits);
if (digits !== 1 && digits !== 2 && digits !== 3) fail(`--digits is ${values.digits}: expected 1, 2 or 3`);
const vocabSize = Number(values['vocab-size']);
const minFrequency = Number(values['min-frequency']);
if (!Number.isInteger(minFrequency) || minFrequency < 1) fail(`--min-frequency is ${values['min-frequency']}: expected a positive integer`);

try {
  const conversations = parseConversations(readFileSync(values.data, 'utf8'), (line) => console.warn(line));
  const trained = trainTokenizer(
    conversations.flatMap((conversation) => renderPieces(QWEN, conversation).map((piece) => piece.text)),
    { vocabSize, digits, splitCapitals: values['split-capitals'], minFrequency },
  );
  mkdirSync(values.out, { recursive: true });
  for (const [name, text] of Object.entries(trained.files)) writeFileSync(join(values.out, name), text);

  const tokenizer = loadTokenizer(trained.files);
  const rendered = conversations.map((conversation) => renderConversation(tokenizer, conversation));
  const lengths = rendered.map(({ tokens }) => tokens.length).sort((a, b) => a - b);
  const sampled = rendered.reduce((sum, { lossMask }) => sum + lossMask.filter(Boolean).length, 0) / rendered.length;
  const quantile = (q: number) => lengths[Math.min(lengths.length - 1, Math.floor(q * lengths.length))];
  console.error(
    `${trained.vocabSize} tokens; ${conversations.length} conversations: median ${quantile(0.5)}, p95 ${quantile(0.95)}, max ${lengths.at(-1)} tokens; ${sampled.toFixed(1)} trained`,
  );
} catch (error) {
  fail((error as Error).message);
}
