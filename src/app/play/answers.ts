/** @file Lets several models answer the same message, several times each, and counts what they do. */
import type { ModelRef } from '../../records/model.ts';
import type { MessageNode, Trajectory } from '../../records/trajectory.ts';
import type { Request } from '../branches/play-request.ts';

/** How often each model answers. */
export const SAMPLES = 16;

/** What an agent did until the customer’s next turn: it asked a question before any change, or changed data first, or did neither. */
export type Reply = 'asked' | 'wrote' | 'neither';

export function replyOf(nodes: readonly MessageNode[]): Reply {
  if (nodes.some(({ toolResult }) => (toolResult?.changes.length ?? 0) > 0)) return 'wrote';
  const last = nodes.findLast(({ role, toolCall }) => role === 'assistant' && !toolCall);
  // “Sorry, I cannot do that. Anything else?” asks for no yes.
  const questions = (last?.content ?? last?.text ?? '').split(/(?<=[.?!])\s+/).filter((sentence) => !/\banything else\b/i.test(sentence));
  return questions.some((sentence) => sentence.includes('?')) ? 'asked' : 'neither';
}

/** The answers of a model to the customer's last message. */
export interface Answer {
  name: string;
  /** The messages of each answer; empty until all are complete. */
  samples: MessageNode[][];
}

/** The number of answers of each kind. */
export function tallyOf({ samples }: Pick<Answer, 'samples'>): Record<Reply, number> {
  const tally = { asked: 0, wrote: 0, neither: 0 };
  for (const nodes of samples) tally[replyOf(nodes)] += 1;
  return tally;
}

/**
 * Lets each model play the agent's next turn `SAMPLES` times, one model after another.
 * @param play plays several conversations to the customer's next turn
 * @param update is called with all answers each time that a model has answered
 * @throws what `play` throws
 */
export async function answersOf(
  models: readonly { name: string; ref: ModelRef }[],
  request: Request,
  play: (request: Request, progress: (done: number) => void) => Promise<Trajectory[]>,
  progress: (done: number, total: number) => void,
  update: (answers: Answer[]) => void,
): Promise<void> {
  const answers = models.map(({ name }): Answer => ({ name, samples: [] }));
  update([...answers]);
  for (const [i, { name, ref }] of models.entries()) {
    const played = await play({ ...request, model: ref, user: null, n: SAMPLES }, (done) =>
      progress(i * SAMPLES + done, models.length * SAMPLES),
    );
    const spoken = (nodes: readonly MessageNode[]) =>
      nodes.slice(request.prefix!.nodes.length).filter(({ role }) => role === 'assistant' || role === 'tool');
    answers[i] = { name, samples: played.map(({ nodes }) => spoken(nodes)) };
    update([...answers]);
  }
}
