/**
 * @file The expert of generated telecom tasks. It makes the gold calls of the agent, and asks the customer in words for the
 * gold calls of the customer. It reads the solution from the task, which an agent cannot do.
 */
import type { GoldAction } from '../../src/records/benchmark-task.ts';
import type { Tau2Task } from '../../src/benchmarks/tau2/task.ts';
import type { ChatMessage } from '../../src/records/conversation.ts';
import type { Task, ToolCall } from '../../src/records/task.ts';
import type { Act, Expert } from '../../src/agent/acts.ts';

const CHECKS = { service: 'check_status_bar', data: 'run_speed_test', mms: 'can_send_mms' } as const;
const HANDOVER = 'YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.';

/** @throws if the task is not a generated telecom task */
export function createTelecomExpert({ benchmark, scenario }: Pick<Task, 'benchmark' | 'scenario'>): Expert {
  if (!benchmark || !('user_scenario' in benchmark) || !scenario.phone) throw new Error('task: expected a generated telecom task');
  const plan = planOf(benchmark as Tau2Task, scenario.identity.phone_number!, CHECKS[scenario.phone.problem as keyof typeof CHECKS]);
  return {
    act(messages: readonly ChatMessage[]): Act {
      const first = messages.findIndex(({ role }) => role === 'user');
      const done = messages.slice(first).filter(({ role }) => role === 'assistant').length;
      return plan[Math.min(done, plan.length - 1)]!;
    },
  };
}

/** The expert repeats the last act until the customer ends the conversation. */
function planOf({ evaluation_criteria }: Tau2Task, phone_number: string, check: string): Act[] {
  const actions = evaluation_criteria?.actions ?? [];
  const end = actions.some(({ name }) => name === 'transfer_to_human_agents') ? HANDOVER : `Please use ${check}.`;
  return [
    { say: 'What is your name and your phone number?' },
    { call: { name: 'get_customer_by_phone', arguments: { phone_number } } },
    ...actions.flatMap(actsFor),
    { say: end },
  ];
}

function actsFor({ name, arguments: args, requestor }: GoldAction): Act[] {
  const call: ToolCall = { name, arguments: args };
  if (requestor !== 'user')
    return [
      ...(name === 'refuel_data'
        ? [{ say: `May I add ${String(args.gb_amount)} GB of data to your line, at the price of your plan?` }]
        : []),
      { call },
    ];
  const values = Object.values(args).map(String);
  return [
    ...(name === 'make_payment' ? [{ say: 'Please use check_payment_request.' }] : []),
    { say: `Please use ${name}${values.length ? ` with ${values.join(' and ')}` : ''}.` },
  ];
}
