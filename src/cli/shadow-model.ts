/** @file Asks a model of this computer for its own turn at each recorded turn: one turn each, which nothing executes. */
import { parseTurn } from '../agent/tool-call.ts';
import { groupBy } from '../base/group-by.ts';
import { openTurns, scoredTurn, type ShadowOptions, turnPlace } from '../evaluation/shadow/ask.ts';
import { messagesOf, type RecordedConversation } from '../evaluation/shadow/turns.ts';
import type { Precision } from '../records/model.ts';
import type { ShadowTurn } from '../records/shadow.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Answer, AnswerRequest } from '../trainer/answers.ts';
import type { BackendName } from './backend.ts';
import type { ModelFolder } from './files.ts';
import { runJob } from './job.ts';
import type { ProgressBar } from './progress.ts';

/** Most tokens in one turn. */
const MOST_TOKENS = 512;

export interface ShadowModel {
  model: ModelFolder;
  precision: Precision;
  on: BackendName | undefined;
}

type Options = Pick<ShadowOptions, 'rules' | 'tools' | 'temperature' | 'seed' | 'isDone' | 'onTurn'>;
type OpenTurn = ReturnType<typeof openTurns> extends Generator<infer T> ? T : never;

/** Each turn is given to `onTurn` as soon as it is sampled. */
export async function askModel(
  conversations: readonly RecordedConversation[],
  { model, precision, on }: ShadowModel,
  options: Options,
  progress: ProgressBar,
): Promise<void> {
  const turns = new Map([...openTurns(conversations, options)].map((open) => [open.stream, open]));
  if (turns.size === 0) return;
  const { temperature, seed } = options;
  const request = { ...requestOf([...turns.values()], options.tools), max_new_tokens: MOST_TOKENS, temperature, seed };
  await runJob({
    on,
    request: { command: 'answer', request, precision },
    model,
    onAnswer: (stream, answer) => options.onTurn(turnOf(turns.get(stream)!, answer, options)),
    progress,
  });
}

function requestOf(turns: readonly OpenTurn[], known: readonly ToolSchema[]): Pick<AnswerRequest, 'conversations' | 'tools'> {
  const tools: (readonly ToolSchema[])[] = [];
  const places = new Map<string, number>();
  const placeOf = (own: readonly ToolSchema[]): number => {
    const key = JSON.stringify(own);
    if (!places.has(key)) places.set(key, tools.push(own) - 1);
    return places.get(key)!;
  };
  const conversations = [...groupBy(turns, ({ conversation }) => conversation)].map(([conversation, own]) => ({
    messages: messagesOf(conversation).map(({ role, text, calls = [] }) => ({
      role,
      content: text,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ name, arguments: args, exact }) => ({ function: { name, arguments: exact ?? args } })),
      }),
    })),
    tools: placeOf(conversation.tools ?? known),
    turns: own.map(({ turn, stream }) => ({ heard: turn.heard.length, stream })),
  }));
  return { conversations, tools };
}

function turnOf(open: OpenTurn, answer: Answer, options: Options): ShadowTurn {
  if ('error' in answer)
    return { ...turnPlace(open.conversation, open.turn), kind: 'failed', candidate: null, writes: [], requests: [], error: answer.error };
  const { content, calls, error } = parseTurn(answer.text, null, Infinity);
  const why = answer.cut ? `the turn does not end within ${MOST_TOKENS} tokens, or within the model's context` : error;
  const candidate = { content, calls: why === undefined ? calls : [], ...(why !== undefined && { error: why }) };
  return scoredTurn(open.conversation, open.turn, candidate, options);
}
