/** @file `mua dpo`: preference optimisation on a file of pairs. The reference has the weights before step 1. */
import { readEachRow } from '../agent/conversation.ts';
import { readPreference } from '../agent/preference.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { InputError } from '../base/input-error.ts';
import { inMemory, type ModelParts } from '../exchange/model-folder.ts';
import { dpoConfig } from '../training/config.ts';
import { renderPair, scorePairs, trainDpo } from '../training/dpo.ts';
import { stepsOf } from '../training/sft.ts';
import type { EngineHost } from './engine-host.ts';
import type { SftOptions, SftResult, TrainingSink } from './messages.ts';
import { tuneModel } from './tune-model.ts';

/** @param jsonl the pairs @throws ConfigError for a setting; InputError if a pair cannot be read or is too long */
export async function dpoModel(
  host: EngineHost,
  given: ModelParts,
  jsonl: string,
  options: SftOptions,
  sink: TrainingSink,
): Promise<SftResult> {
  const config = dpoConfig(options.overrides);
  const tokenizer = await openTokenizer(inMemory(given));
  const notes: string[] = [];
  const read = readEachRow(
    jsonl,
    (value, where, note) => readPreference(value, where, { note }),
    (line) => notes.push(line),
  );
  for (const line of notes) await sink.note(`data: ${line}`);
  void sink.progress(0, 0, `encoding ${read.length} pairs`);
  const pairs = read.map((pair) => renderPair(tokenizer, pair, config.enable_thinking));
  const lengths = pairs.map(({ chosen, rejected }) => Math.max(chosen.tokens.length, rejected.tokens.length));
  const tooLong = lengths.findIndex((length) => length > config.max_model_len);
  if (tooLong >= 0) throw new InputError(`pair ${tooLong + 1} has ${lengths[tooLong]} tokens: max_model_len is ${config.max_model_len}`);
  return tuneModel(host, given, config, options, sink, {
    label: 'dpo',
    longest: lengths.reduce((max, length) => Math.max(max, length), 0),
    totalSteps: stepsOf(pairs.length, config),
    async begin(engine, checkpoint) {
      const start = checkpoint?.reference ?? (await engine.weights());
      if (checkpoint) engine.loadWeights(start);
      void sink.progress(0, 0, `scoring ${pairs.length} pairs with the reference`);
      const reference = await scorePairs(engine, pairs);
      if (checkpoint) engine.loadWeights(checkpoint.weights);
      return { steps: trainDpo(engine, pairs, reference, config, checkpoint?.step), reference: start };
    },
  });
}
