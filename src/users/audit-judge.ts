/** @file Audits a simulated customer with a model. It looks for the mistakes that the rules of `audit.ts` cannot find in a task. */
import type { UserScenario } from '../records/task.ts';
import type { CustomerFaultKind, CustomerJudgement } from '../records/user.ts';
import { uncheckedKinds } from './audit.ts';
import type { UserSimulator, Utterance } from './types.ts';

/** The statements about which the judge is asked. If a statement is true, the customer made this mistake. */
const FAULT_STATEMENTS: Partial<Record<CustomerFaultKind, string>> = {
  ended_too_early:
    'The customer ended the conversation while something that its instruction wants was not done, not refused and not handed over, and the agent was still helping.',
  contradicted: 'The customer said something that contradicts its instruction.',
  told_everything:
    'The instruction says that the customer gives details only when the agent asks for them, and the first message of the customer gives all of them.',
};

/**
 * Asks the judge, in one request, about the mistakes that rules cannot find in this task. Null if `users` has no judge of
 * customers, or if rules can find all mistakes. If the judge fails, the episode is still valid, and `error` says why nothing
 * was checked.
 * @throws the signal's reason if aborted
 */
export async function judgeCustomer(
  users: UserSimulator,
  scenario: UserScenario,
  conversation: readonly Utterance[],
  signal?: AbortSignal,
): Promise<CustomerJudgement | null> {
  const { customerJudge: model } = users;
  const kinds = uncheckedKinds(scenario).filter((kind) => FAULT_STATEMENTS[kind]);
  if (!model || !users.judge || kinds.length === 0 || scenario.scripted) return null;
  const told: Utterance[] = [{ role: 'instruction', text: scenario.instruction }, ...conversation];
  try {
    const met = await users.judge(
      kinds.map((kind) => FAULT_STATEMENTS[kind]!),
      told,
      signal,
    );
    if (!met) return { model, checked: [], found: [], error: 'the judge gave no verdict' };
    return { model, checked: kinds, found: kinds.filter((_, i) => met[i]) };
  } catch (error) {
    signal?.throwIfAborted();
    return { model, checked: [], found: [], error: error instanceof Error ? error.message : String(error) };
  }
}
