/** @file A model's next turns in conversations that others had. */
import { END_OF_TEXT, generationPrompt, type RenderableConversation, renderConversation } from '../agent/chat-template.ts';
import { mapConcurrently } from '../agent/rollouts.ts';
import { openTokenizer } from '../agent/tokenizer.ts';
import { parseConfig } from '../engine/config.ts';
import { inMemory, type ModelParts, readJson } from '../exchange/model-folder.ts';
import type { Precision } from '../records/model.ts';
import type { ToolSchema } from '../records/task.ts';
import { type EngineHost, slotsWithin } from './engine-host.ts';
import type { Progress } from './messages.ts';

/** The turns to ask for. */
export interface AnswerRequest {
  conversations: {
    messages: RenderableConversation['messages'];
    /** The index of its tools in `tools`. */
    tools: number;
    /** How many messages are heard before each turn, and the turn's number, which is its random stream. */
    turns: { heard: number; stream: number }[];
  }[];
  tools: (readonly ToolSchema[])[];
  /** Most tokens of a turn. */
  max_new_tokens: number;
  temperature: number;
  seed: number;
}

/** A turn as the model wrote it, or why it was not asked. `cut`: the model did not end its turn. */
export type Answer = { text: string; cut: boolean } | { error: string };

export interface AnswerSink {
  progress(...progress: Parameters<Progress>): void | Promise<void>;
  /** Gets each turn as soon as it has ended. If this function fails, the work ends. */
  answer(stream: number, answer: Answer): void | Promise<void>;
}

/** Most turns that are sampled at once. */
const AT_ONCE = 64;

/** Renders each conversation with the model's own template and tokenizer, and samples one turn. @throws errors of the sink */
export async function answerTurns(host: EngineHost, model: ModelParts, request: AnswerRequest, sink: AnswerSink, precision: Precision) {
  const files = inMemory(model);
  const tokenizer = await openTokenizer(files);
  const { max_position_embeddings: limit } = parseConfig(readJson(files, 'config.json'));
  const { format } = tokenizer;
  const begun = tokenizer.encode(generationPrompt(format));
  const ends = [format.end, END_OF_TEXT].flatMap((token) => (tokenizer.has(token) ? tokenizer.id(token) : []));
  const asked = request.conversations.map(({ messages, tools, turns }) =>
    turns.map(({ heard, stream }) => {
      const before = { messages: messages.slice(0, heard), tools: request.tools[tools]! };
      return { stream, prompt: [...renderConversation(tokenizer, before).tokens, ...begun] };
    }),
  );
  const longest = asked.flat().reduce((most, { prompt }) => Math.max(most, prompt.length), 0);
  const maxModelLen = Math.min(limit, longest + request.max_new_tokens);
  const slots = Math.min(AT_ONCE, asked.length, slotsWithin(model, maxModelLen));
  const { sampler } = await host.open(model, { maxModelLen, slots }, { precision });
  const params = { maxNewTokens: request.max_new_tokens, temperature: request.temperature, stopTokenIds: ends };
  const answer = async ({ stream, prompt }: { stream: number; prompt: number[] }): Promise<Answer> => {
    if (prompt.length >= limit) return { error: `the conversation has ${prompt.length} tokens: the model reads at most ${limit}` };
    const sequence = await sampler.open({ seed: request.seed, stream });
    try {
      sampler.append(sequence, prompt);
      const { tokens, finishReason } = await sampler.generate(sequence, params);
      return { text: tokenizer.decode(tokens), cut: finishReason !== 'stop' };
    } finally {
      sampler.close(sequence);
    }
  };
  let done = 0;
  const total = asked.flat().length;
  // The turns of a conversation follow each other, so that each one finds the messages before it in the KV cache.
  await mapConcurrently(asked, slots, async (turns) => {
    for (const turn of turns) {
      await sink.answer(turn.stream, await answer(turn));
      await sink.progress(++done, total, 'turns');
    }
  });
}
