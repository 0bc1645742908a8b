/** @file `mua sft`: supervised fine-tuning on a file of conversations. */
import { renderConversation } from '../agent/chat-template.ts';
import { parseConversations } from '../agent/conversation.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { InputError } from '../base/input-error.ts';
import { inMemory, type ModelParts } from '../exchange/model-folder.ts';
import { sftConfig } from '../training/config.ts';
import { type SftStep, stepsOf, trainSft } from '../training/sft.ts';
import type { EngineHost } from './engine-host.ts';
import type { SftOptions, SftResult, TrainingSink } from './messages.ts';
import { tuneModel } from './tune-model.ts';

/** @param jsonl the conversations @throws ConfigError for a setting; InputError if a conversation is too long */
export async function sftModel(
  host: EngineHost,
  given: ModelParts,
  jsonl: string,
  options: SftOptions,
  sink: TrainingSink,
): Promise<SftResult> {
  const config = sftConfig(options.overrides);
  const tokenizer = await openTokenizer(inMemory(given));
  const notes: string[] = [];
  const conversations = parseConversations(jsonl, (line) => notes.push(line));
  for (const line of notes) await sink.note(`data: ${line}`);
  void sink.progress(0, 0, `encoding ${conversations.length} conversations`);
  const examples = conversations.map((conversation) => renderConversation(tokenizer, conversation, config.enable_thinking));
  const tooLong = examples.findIndex(({ tokens }) => tokens.length > config.max_model_len);
  if (tooLong >= 0)
    throw new InputError(
      `conversation ${tooLong + 1} has ${examples[tooLong]!.tokens.length} tokens: max_model_len is ${config.max_model_len}`,
    );
  return tuneModel(host, given, config, options, sink, {
    label: 'sft',
    longest: examples.reduce((max, { tokens }) => Math.max(max, tokens.length), 0),
    totalSteps: stepsOf(examples.length, config),
    begin: async (engine, checkpoint) => ({ steps: metricsOf(trainSft(engine, examples, config, checkpoint?.step)), reference: null }),
  });
}

async function* metricsOf(steps: AsyncGenerator<SftStep>) {
  for await (const { step, loss, lr, gradNorm, tokens } of steps)
    yield { step, 'train/loss': loss, 'actor/lr': lr, 'actor/grad_norm': gradNorm, 'perf/total_num_tokens': tokens };
}
