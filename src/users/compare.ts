/** @file Asks a judge which of two answers to a prompt is better. */
import type { UserRequest } from '../records/user.ts';
import { UserError, type UserSimulator, type Utterance } from './types.ts';

export interface Comparison {
  /** A sentence that is true of a good answer. */
  wish: string;
  prompt: string;
  /** The answers, in the order in which the judge reads them. */
  answers: readonly [string, string];
}

/**
 * Asks the judge of `users` about two statements: that the first answer is better, and that the second is better. Returns the
 * place of the better answer. `tie`: the judge confirms both statements or neither. Prompt and answers are quoted as JSON, so
 * that an answer cannot pass for a line of the judge's prompt.
 * @throws UserError if the judge fails or gives no verdict
 */
export async function compareAnswers(
  users: UserSimulator,
  { wish, prompt, answers }: Comparison,
  signal?: AbortSignal,
  requests?: UserRequest[],
): Promise<0 | 1 | 'tie'> {
  const conversation: Utterance[] = [
    { role: 'user', text: JSON.stringify(prompt) },
    ...answers.map((answer, i): Utterance => ({ role: 'assistant', text: `Answer ${i + 1}: ${JSON.stringify(answer)}` })),
  ];
  const better = (a: number, b: number) => `Answer ${a} fits this sentence better than answer ${b}: “${wish}”`;
  const met = (await users.judge?.([better(1, 2), better(2, 1)], conversation, signal, requests)) ?? null;
  if (met?.length !== 2) throw new UserError('the judge gave no verdict on two answers', 'bad_response');
  return met[0] === met[1] ? 'tie' : met[0] ? 0 : 1;
}
