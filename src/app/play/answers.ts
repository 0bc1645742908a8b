/** @file Lets several models answer the same message. */
import type { LiveAct } from '../../agent/live.ts';
import type { ModelRef } from '../../records/model.ts';
import type { MessageNode, Trajectory } from '../../records/trajectory.ts';
import type { Request } from '../branches/play-request.ts';

/** A model's answer to the customer's last message. */
export interface Answer {
  name: string;
  /** The messages of the answer; empty until it is complete. */
  nodes: MessageNode[];
  /** The part of the answer that is sampled so far. */
  acts: readonly LiveAct[];
}

/**
 * Lets each model play the agent's next turn, one after another.
 * @param play plays one conversation and shows its acts until it ends
 * @param update is called with all answers each time that one has changed
 * @throws what `play` throws
 */
export async function answersOf(
  models: readonly { name: string; ref: ModelRef }[],
  request: Request,
  play: (request: Request, show: (acts: LiveAct[]) => void) => Promise<Trajectory[]>,
  update: (answers: Answer[]) => void,
): Promise<void> {
  const answers = models.map(({ name }): Answer => ({ name, nodes: [], acts: [] }));
  const change = (i: number, answer: Partial<Answer>) => {
    answers[i] = { ...answers[i]!, ...answer };
    update([...answers]);
  };
  for (const [i, { ref }] of models.entries()) {
    const [played] = await play({ ...request, model: ref, user: null }, (acts) => change(i, { acts }));
    const spoken = played!.nodes.slice(request.prefix!.nodes.length).filter(({ role }) => role === 'assistant' || role === 'tool');
    change(i, { nodes: spoken, acts: [] });
  }
}
