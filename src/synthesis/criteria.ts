/** @file The rubric of the model that judges conversations. The person's queue shows the same sentences. */
import type { Criterion } from '../records/grades.ts';

/** What must hold of a conversation that is trained on. */
export const STATEMENTS: Record<Criterion, string> = {
  goal_done:
    'Everything that the customer asked for and that the policy allows is done, and the tool results show it. What the policy forbids is refused.',
  nothing_else_changed:
    'The agent changed nothing that the customer did not ask for, and used no other details than the customer wants in the end.',
  asked_before_each_write:
    'Before each call that changes data, the agent said what it will change, with all details, and the customer then said yes.',
  arguments_told_or_found: 'The customer told, or an earlier tool result shows, each argument of each call. The agent guessed none.',
  told_the_truth:
    'What the agent says about the data and about what it did agrees with the tool results. It claims nothing that is not done.',
  communicated: 'The agent told the customer what they have to know: what was done, amounts that change, and why something is refused.',
  policy_kept: 'The agent kept every rule of the policy.',
  customer_stayed_in_role:
    'The customer speaks only as a customer: it does not speak as the agent, does not call tools, and does not contradict itself.',
  tools_consistent: 'The tool results do not contradict each other, or what the calls before changed.',
  natural: 'The words of both sides could come from real people in such a conversation.',
};
