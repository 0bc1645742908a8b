/** @file The generated telecom domain: generated tasks and providers, with tau2-bench's rules. */
import { judgeByCriteria } from '../exact/criteria.ts';
import type { Json } from '../../records/json.ts';
import type { Task } from '../../records/task.ts';
import { initialStateOf, type TableDomain } from '../../environments/domain.ts';
import { inject } from '../attacks.ts';
import { makeAttacks } from './attacks.ts';
import { LEVELS, makeTelecomTasks, TASKS_PER_PROVIDER, type TelecomTask } from './generator.ts';
import { telecom } from './exact.ts';
import type { PhoneTrouble } from './scenario.ts';
import { executeAtGlimpse, GLIMPSE_DOMAIN } from './glimpse/domain.ts';
import { makeGlimpseTasks } from './glimpse/tasks.ts';
import { executeAtNano, NANO_POLICY, NANO_TOOLS } from './nano.ts';
import { POLICY } from './policy.ts';
import { makeProvider, parseProviderId, providerId } from './records.ts';

/** The generated tasks have this benchmark's rules of conversation and its form of tasks. */
const BENCHMARK = 'tau2';

const PROBLEMS: Record<TelecomTask['intent'], PhoneTrouble['problem']> = {
  service_issue: 'service',
  mobile_data_issue: 'data',
  mms_issue: 'mms',
};

/** Converts a generated task to the form that the environments use. */
export function telecomTask(task: TelecomTask): Task {
  const {
    id,
    level,
    split,
    world,
    persona,
    story: { intent, about, place, refuel },
    solvable,
    user_scenario,
    evaluation_criteria,
  } = task;
  const { reason_for_call, known_info, task_instructions } = user_scenario.instructions;
  return {
    id,
    domain: 'telecom',
    level,
    split,
    world,
    scenario: {
      persona: persona === 'Hard' ? 'on_request' : 'upfront',
      identity: { name: about.name, phone_number: about.phone_number },
      wishes: [],
      instruction: [user_scenario.persona, reason_for_call, known_info, task_instructions].filter(Boolean).join('\n'),
      benchmark: BENCHMARK,
      phone: { problem: PROBLEMS[intent], place, refuel, terse: persona === 'Hard' },
    },
    actions: evaluation_criteria.actions.map(({ requestor, name, arguments: args }) => ({ requestor, name, arguments: args })),
    noop: !solvable,
    benchmark: task,
  };
}

export const telecomTasks: TableDomain = {
  name: 'telecom',
  levels: [...LEVELS, 'glimpse'],
  version: 1,
  conditions: true,
  attacks: true,
  domain(level) {
    if (level === 'glimpse') return GLIMPSE_DOMAIN;
    if (!(LEVELS as readonly string[]).includes(level))
      throw new Error(`level: '${level}' is unknown; expected one of ${LEVELS.join(', ')}, glimpse`);
    return {
      name: 'telecom',
      level,
      policy: level === 'nano' ? NANO_POLICY : POLICY,
      tools: [...(level === 'nano' ? NANO_TOOLS : telecom.tools)],
      terminalTools: [],
      benchmark: BENCHMARK,
      userTools: [...telecom.userTools],
    };
  },
  worlds: { tasks: TASKS_PER_PROVIDER, id: (level, world) => providerId({ ...world, glimpse: level === 'glimpse' }) },
  tasks(query) {
    if (query.split === 'attacks') return makeAttacks(query);
    return query.level === 'glimpse' ? makeGlimpseTasks(query) : makeTelecomTasks(query).map(telecomTask);
  },
  world: (id) => telecom.load(makeProvider(parseProviderId(id)) as unknown as Json),
  initialize(rows, task) {
    telecom.initialize(rows, initialStateOf(task) ?? {});
    inject(rows, task);
  },
  execute(rows, call, level) {
    if (level === 'glimpse') return executeAtGlimpse(rows, call);
    return level === 'nano' ? executeAtNano(rows, call) : telecom.execute(rows, call);
  },
  judge: (played) => (played.task.benchmark ? judgeByCriteria(telecom, played.task.benchmark, played) : null),
};
