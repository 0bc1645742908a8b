/**
 * What prompt-lookup drafts save: the bundled agent speaks the turns of demonstrated conversations, a few conversations at a time,
 * with and without drafts in turns. Usage:
 * `VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json npx tsx tests/bench/speculation.mts [model folder] [level]`
 */
import { readModel, nodeSession } from '../support/node-session.ts';
import { renderConversation } from '../../src/agent/chat-template.ts';
import { parseConversations } from '../../src/agent/conversation.ts';
import { loadTokenizer } from '../../src/agent/tokenizer.ts';
import { createEngine } from '../../src/engine/engine.ts';
import { Gpu } from '../../src/engine/gpu.ts';
import { readSafetensors } from '../../src/exchange/safetensors.ts';
import { parseConfig } from '../../src/engine/config.ts';
import { dawn } from '../support/dawn.ts';

const CONVERSATIONS = 16;
const ROUNDS = 3;
const [folder = 'models/nano-retail', level = 'nano'] = process.argv.slice(2);
const files = await readModel(folder);
const tokenizer = loadTokenizer(files);
const end = tokenizer.id('<|im_end|>');
const request = { domain: 'retail', level, count: CONVERSATIONS, seed: 42 };
const { jsonl } = await nodeSession().synthesize(request, {}, () => {});
const conversations = parseConversations(jsonl).map((conversation) => renderConversation(tokenizer, conversation));
const gpu = await Gpu.create(dawn());
const config = parseConfig(JSON.parse(new TextDecoder().decode(files['config.json'])));
const maxModelLen = Math.max(...conversations.map(({ tokens }) => tokens.length)) + 64;
const engines = await Promise.all(
  [false, true].map((speculate) =>
    createEngine(gpu, config, readSafetensors(files['model.safetensors']!), { maxModelLen, slots: 8, speculate }),
  ),
);

/** Samples each turn of the agent after what the demonstrator's conversation says until then. */
async function speak(engine: (typeof engines)[number], index: number): Promise<number[]> {
  const { tokens, lossMask } = conversations[index]!;
  const sampled: number[] = [];
  for (let t = 1; t < tokens.length; t++) {
    if (!lossMask[t] || lossMask[t - 1]) continue;
    const sequence = await engine.sampler.open({ seed: t, stream: index });
    engine.sampler.append(sequence, tokens.slice(0, t));
    sampled.push(...(await engine.sampler.generate(sequence, { maxNewTokens: 64, temperature: 1, stopTokenIds: [end] })).tokens);
    engine.sampler.close(sequence);
  }
  return sampled;
}

console.log(`${gpu.info.vendor} ${gpu.info.architecture}; ${folder}; tokens a second, median of ${ROUNDS} rounds`);
for (const together of [1, 2, 4, 8]) {
  const rates: number[][] = [[], []];
  const texts: string[] = ['', ''];
  for (let round = 0; round <= ROUNDS; round++) {
    for (const way of round % 2 ? [0, 1] : [1, 0]) {
      const start = performance.now();
      const sampled: number[][] = [];
      for (let first = 0; first < CONVERSATIONS; first += together)
        sampled.push(...(await Promise.all(Array.from({ length: together }, (_, i) => speak(engines[way]!, first + i)))));
      if (round > 0) rates[way]!.push((1000 * sampled.flat().length) / (performance.now() - start));
      texts[way] = JSON.stringify(sampled);
    }
  }
  if (texts[0] !== texts[1]) throw new Error('drafts changed the tokens');
  const [without, drafts] = rates.map((all) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!);
  console.log(
    `${together} at a time: ${without!.toFixed(0)} without drafts, ${drafts!.toFixed(0)} with: ${(drafts! / without!).toFixed(2)} times`,
  );
}
const { drafted, accepted } = engines[1]!.drafts;
console.log(`${accepted} of ${drafted} drafted tokens were right (${((100 * accepted) / drafted).toFixed(0)} %)`);
process.exit(0);
