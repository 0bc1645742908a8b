/** @file `mua sft`: supervised fine-tuning on a file of conversations. The sink receives the results and stores them. */
import { renderConversation } from '../agent/chat-template.ts';
import { parseConversations } from '../agent/conversation.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { trainedFiles } from '../exchange/adapter-folder.ts';
import { inMemory, type ModelParts } from '../exchange/model-folder.ts';
import type { StepMetrics } from '../records/run.ts';
import { sftConfig } from '../training/config.ts';
import { stepsOf, trainSft } from '../training/sft.ts';
import { CheckpointClock } from './checkpoint-clock.ts';
import { packCheckpoint, readCheckpoint, resumeNote } from './checkpoints.ts';
import type { EngineHost } from './engine-host.ts';
import { CHECKPOINT_SHARE, openFolder } from './folder-sink.ts';
import type { SftOptions, SftResult, TrainingSink } from './messages.ts';
import { originOf } from './origin.ts';

/** @param jsonl the conversations @throws ConfigError for a setting; Error if a conversation is too long */
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
    throw new Error(`conversation ${tooLong + 1} has ${examples[tooLong]!.tokens.length} tokens: max_model_len is ${config.max_model_len}`);
  const longest = examples.reduce((max, { tokens }) => Math.max(max, tokens.length), 0);
  const { files, firstModel, checkpoint, seconds } = await openFolder(given, config, options);
  void sink.progress(0, 0, 'opening the model');
  const engine = await host.open(files, { maxModelLen: longest, slots: 1 }, config);
  if (checkpoint) await engine.loadOptimizerState(checkpoint.optimizer);
  const origin = await originOf(host, firstModel, config);
  const note = checkpoint?.origin && resumeNote({ origin: checkpoint.origin }, origin);
  if (note) await sink.note(note);
  const clock = new CheckpointClock({ every: 0, share: CHECKPOINT_SHARE });
  const history: StepMetrics[] = [...(options.interrupted?.metrics ?? [])];
  const total = stepsOf(examples.length, config);
  void sink.progress(checkpoint?.step ?? 0, total, 'sft');
  for await (const { step, totalSteps, loss, lr, gradNorm, tokens } of trainSft(engine, examples, config, checkpoint?.step)) {
    const metrics = { step, 'train/loss': loss, 'actor/lr': lr, 'actor/grad_norm': gradNorm, 'perf/total_num_tokens': tokens };
    history.push(metrics);
    void sink.progress(step, totalSteps, 'sft', metrics);
    await sink.step(metrics, []);
    if (step < totalSteps && clock.isDue(step))
      await clock.time(async () => sink.checkpoint(step, packCheckpoint(await readCheckpoint(step, engine, null), seconds(), origin)));
  }
  return {
    model: trainedFiles(files, await engine.weights()),
    losses: history.map((metrics) => metrics['train/loss']!),
    tokens: history.reduce((all, metrics) => all + metrics['perf/total_num_tokens']!, 0),
    seconds: seconds(),
  };
}
