/** Our rewards against the rewards of the original Python code, on recorded conversations and on gold actions. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Benchmark } from '../../../src/records/benchmark-task.ts';
import type { Tau1Task } from '../../../src/benchmarks/tau1/task.ts';
import type { Tau2Task } from '../../../src/benchmarks/tau2/task.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ImportedBenchmark } from '../../../src/benchmarks/imported-benchmark.ts';
import { exactDomain } from '../../support/exact-domains.ts';
import type { ExactDomain } from '../../../src/domains/exact/types.ts';
import { World } from '../../../src/environments/overlay.ts';
import type { Conversation, ConversationCall, Turn } from '../../../src/benchmarks/recorded-conversation.ts';
import { sameObservation } from '../../../src/benchmarks/same-observation.ts';
import { rescore } from '../../../src/benchmarks/rescore.ts';
import { tau1Reward } from '../../../src/benchmarks/tau1/reward.ts';
import { tau2Reward } from '../../../src/benchmarks/tau2/reward.ts';
import { importBenchmark } from '../../../src/benchmarks/import/import.ts';
import { readResults } from '../../../src/benchmarks/recorded-results.ts';

interface Rewards {
  reward: number;
  r_actions?: number;
  r_outputs?: number;
  outputs?: Record<string, boolean>;
}
interface Tau1Expected {
  tasks: {
    index: number;
    outputs: string[];
    actions: { name: string; kwargs: Record<string, Json>; observation?: string }[];
    rewards: Record<string, Rewards>;
  }[];
}
interface Evaluation {
  reward: number;
  db_match: boolean;
  breakdown: Record<string, number>;
  env_assertions: boolean[];
  action_reward: number;
  action_checks: boolean[];
  communicate_reward: number;
}
interface Tau2Expected {
  tools: { agent_types: Types; user_types?: Types };
  tasks: {
    id: string;
    communicate_info: string[] | null;
    actions: (ConversationCall & { content: string })[];
    evaluations: Record<string, Evaluation>;
  }[];
}
type Types = Record<string, { mutates_state: boolean }>;

const data = resolve(import.meta.dirname, '../../../../shared/data');
const present = existsSync(resolve(data, 'expected/tau1_airline.json'));
if (!present) console.warn(`SKIPPED: tests against the originals' reference rewards: ${data} does not exist`);
const reference = test.skipIf(!present);
const expected = <T>(name: string) => JSON.parse(readFileSync(resolve(data, `expected/${name}.json`), 'utf8')) as T;

async function load<Task extends Tau1Task | Tau2Task>(
  name: string,
  benchmark: Benchmark,
): Promise<{ domain: ExactDomain; world: World; data: ImportedBenchmark<Task> }> {
  const folder = resolve(data, benchmark === 'tau1' ? 'tau-bench' : 'tau2-bench', name);
  const imported = (await importBenchmark(
    readdirSync(folder).map((file) => [file, readFileSync(resolve(folder, file))] as const),
  )) as ImportedBenchmark<Task>;
  expect([imported.benchmark, imported.domain]).toEqual([benchmark, name]);
  return { domain: exactDomain(name, benchmark), world: new World(name, imported.tables), data: imported };
}

const counts = new Map<string, [matched: number, total: number]>();
/** Counts a comparison. Returns the differences. */
function compare(kind: string, where: string, ours: unknown, wanted: unknown): string[] {
  const count = counts.get(kind) ?? [0, 0];
  counts.set(kind, count);
  count[1]++;
  const same = JSON.stringify(ours) === JSON.stringify(wanted);
  if (same) count[0]++;
  return same ? [] : [`${where}: expected ${JSON.stringify(wanted)}, ours ${JSON.stringify(ours)}`];
}
afterAll(() => {
  for (const [kind, [matched, total]] of counts) console.log(`${kind}: ${matched} of ${total}`);
});

const called = (call: ConversationCall): Turn => ({ kind: 'called', call });
const said = (text: string): Turn => ({ kind: 'said', role: 'assistant', text });

/** The variants of a gold run in the reference data. */
function variants<Call extends ConversationCall>(calls: readonly Call[], writes: (call: Call) => boolean): Record<string, Call[]> {
  const last = calls.findLastIndex(writes),
    first = calls.findIndex(writes);
  return {
    empty: [],
    drop_last_write: calls.filter((_, i) => i !== last),
    writes_reversed: calls.filter(writes).reverse(),
    first_write_twice: calls.flatMap((call, i) => (i === first ? [call, call] : [call])),
  };
}

reference.each([
  ['airline', 'tau1_airline', 'test'],
  ['retail', 'tau1_retail', 'test'],
])('tau1 %s: rewards of %s', async (name, file, split) => {
  const {
    domain,
    world,
    data: { tasks },
  } = await load<Tau1Task>(name, 'tau1');
  const different = expected<Tau1Expected>(file).tasks.flatMap(({ index, rewards }) => {
    const task = tasks.find(({ id }) => id === `${split}/${index}`)!;
    const gold = task.actions
      .filter((action) => action.name !== 'transfer_to_human_agents')
      .map(({ name: tool, kwargs }) => ({ name: tool, arguments: kwargs }));
    const writes = (call: ConversationCall) => /^(book|cancel|exchange|modify|return|send|update)_/.test(call.name);
    const spoken = task.outputs.map(said);
    const runs: Record<string, Turn[]> = {
      gold_then_outputs: [...gold.map(called), ...spoken],
      gold_then_silent: gold.map(called),
      empty: [],
      drop_last_write: [...variants(gold, writes).drop_last_write!.map(called), ...spoken],
      writes_reversed: [...variants(gold, writes).writes_reversed!.map(called), ...spoken],
    };
    return Object.entries(rewards).flatMap(([variant, wanted]) => {
      const { reward, r_actions, outputs } = tau1Reward(domain, world, task, { turns: runs[variant]!, ended: true });
      // Upstream reports only the outputs, if the task has outputs.
      const ours = outputs
        ? { reward, r_outputs: Number(Object.values(outputs).every(Boolean)), outputs }
        : { reward, r_actions: Number(r_actions) };
      return compare(`${file}, rewards`, `task ${index} ${variant}`, ours, { ...wanted });
    });
  });
  expect(different).toEqual([]);
});

interface Rescored {
  trajectories: {
    task_id: number;
    trial: number;
    recorded_reward: number;
    rescored_reward: number;
    ended_properly: boolean;
    observations: { name: string; observation: string }[];
  }[];
}

reference('rewards of recorded conversations with a model', async () => {
  const { data: imported } = await load<Tau1Task>('airline', 'tau1');
  const runs = await readResults(
    'recorded',
    JSON.parse(readFileSync(resolve(data, 'recorded/tau1_airline_gpt-4o.json'), 'utf8')) as Json,
    'tau1',
  );
  // In some conversations, a transfer had already caused a scoring. The reference scored them a second time, which compares gold with gold.
  const report = await rescore(imported, runs);
  const kind = 'tau1_airline_gpt4o_rescored';
  const different = expected<Rescored>(kind).trajectories.flatMap(
    ({ task_id, trial, recorded_reward, rescored_reward, ended_properly, observations }) => {
      const found = report.runs.find((run) => run.task_id === String(task_id) && run.trial === trial)!;
      const where = `task ${task_id} trial ${trial}`;
      const transferred = observations.at(-1)?.name === 'transfer_to_human_agents';
      return [
        ...compare(`${kind}, rewards when asked again`, where, found.reward_asked_again, rescored_reward),
        ...compare(
          `${kind}, rewards scored once (where a transfer ended it, as recorded live)`,
          where,
          found.reward,
          transferred && rescored_reward !== recorded_reward ? recorded_reward : rescored_reward,
        ),
        ...compare(`${kind}, ends`, where, found.ended, ended_properly),
        ...observations.flatMap(({ name, observation }, i) =>
          compare(`${kind}, observations`, `${where} ${name}`, sameObservation(observation, found.observations[i]!), true),
        ),
      ];
    },
  );
  expect(different).toEqual([]);
  expect(report.summary).toMatchObject({ runs: 200, different: 0 });
});

reference.each(['mock', 'airline', 'retail', 'telecom'])(
  'tau2 %s: evaluations',
  async (name) => {
    const {
      domain,
      world,
      data: { tasks },
    } = await load<Tau2Task>(name, 'tau2');
    const { tools, tasks: wanted } = expected<Tau2Expected>(`tau2_${name}`);
    const writes = ({ name: tool, requestor }: ConversationCall) =>
      (requestor === 'user' ? tools.user_types : tools.agent_types)?.[tool]?.mutates_state ?? false;
    const different: string[] = [];
    for (const { id, actions, evaluations, communicate_info } of wanted) {
      const task = tasks.find((entry) => entry.id === id)!;
      const history = (task.initial_state?.message_history ?? []) as unknown as {
        role: 'assistant' | 'user';
        content?: string;
        tool_calls?: ConversationCall[];
      }[];
      const begun = history.flatMap(({ role, content, tool_calls }): Turn[] => [
        ...(content && (role as string) !== 'tool' ? [{ kind: 'said' as const, role, text: content }] : []),
        ...(tool_calls ?? []).map(called),
      ]);
      const calls = actions.map(({ name: tool, arguments: args, requestor, content }) => ({
        name: tool,
        arguments: args,
        requestor,
        recorded: content,
      }));
      const runs: Record<string, ConversationCall[]> = { gold: calls, ...variants(calls, writes) };
      for (const [variant, evaluation] of Object.entries(evaluations)) {
        // Only the gold run gives the recorded results.
        const made = runs[variant]!.map(({ recorded, ...call }) => (variant === 'gold' ? { ...call, recorded } : call));
        const conversation: Conversation = {
          turns: [...begun, ...made.map(called), ...(variant === 'empty' ? [] : (communicate_info ?? []).map(said))],
          ended: true,
        };
        const ours = await tau2Reward(domain, world, task, conversation, (assertions) => Promise.resolve(assertions.map(() => true)));
        const { DB, ENV_ASSERTION } = ours.breakdown;
        // The reference's reward is the environment's reward only.
        const found = {
          reward: (DB ?? 1) * (ENV_ASSERTION ?? 1),
          db_match: ours.db_match,
          env_assertions: ours.env_assertions.map(({ met }) => met),
          action_checks: ours.action_checks.map(({ match }) => match),
          communicate: Number(ours.communicate_checks.every(({ met }) => met)),
          observations: ours.replay.differences.length,
        };
        const { reward, db_match, env_assertions, action_checks, communicate_reward } = evaluation;
        different.push(
          ...compare(`tau2_${name}, evaluations`, `task ${id} ${variant}`, found, {
            reward,
            db_match,
            env_assertions,
            action_checks,
            communicate: communicate_reward,
            observations: 0,
          }),
        );
      }
    }
    expect(different).toEqual([]);
  },
  120_000,
);
