/** Our exact domains against the original Python code: gold and hostile calls, and states, recorded from it. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Benchmark, InitialState } from '../../../src/records/benchmark-task.ts';
import type { Json } from '../../../src/records/json.ts';
import type { ToolCall } from '../../../src/records/task.ts';
import type { ExactDomain } from '../../../src/domains/exact/types.ts';
import { TAU2_DOMAINS } from '../../../src/benchmarks/tau2/domains.ts';
import { exactDomain } from '../../support/exact-domains.ts';
import { canonicalJson, cloneJson } from '../../../src/base/json.ts';
import { parseOrdered } from '../../../src/domains/exact/ordered-json.ts';
import { Overlay, World } from '../../../src/environments/overlay.ts';

interface RecordedCall {
  name?: string;
  tool?: string;
  kwargs?: Record<string, Json>;
  arguments?: Record<string, Json>;
  requestor?: 'user' | 'assistant';
  observation?: Digest | string;
  content?: Digest | string;
  error?: boolean;
  python_text?: boolean;
}
interface Digest {
  len: number;
  sha256: string;
  head: string;
  tail: string;
}
interface State {
  unchanged?: true;
  sha256_js?: string;
  agent_sha256_js?: string;
  user_sha256?: string;
  records?: Record<string, Json>;
}
interface ToolInfo {
  function: { name: string; parameters: Json };
}
interface Gold {
  initial: { sha256_js: string };
  tools_info: ToolInfo[];
  tasks: { index: number; actions: RecordedCall[]; final: State }[];
}
interface Tau2Gold {
  initial: { agent: { sha256_js: string } };
  tools: { agent: ToolInfo[]; user?: ToolInfo[] };
  tasks: {
    id: string;
    initial_state: InitialState | null;
    after_init: { agent_sha256: string };
    assertions_before: boolean[];
    actions: RecordedCall[];
    final: { agent: State; user?: State };
    env_assertions: { env_type: 'user' | 'assistant'; func_name: string; arguments: Record<string, Json>; met: boolean }[];
  }[];
}
interface Conversations {
  trajectories: { task_id: number; trial: number; observations: RecordedCall[] | string }[];
}
interface Hostile {
  cases: { domain: string; name: string; calls: RecordedCall[]; db: State }[];
}

const data = resolve(import.meta.dirname, '../../../../shared/data');
const present = existsSync(resolve(data, 'expected/tau1_airline.json'));
if (!present) console.warn(`SKIPPED: tests against the originals' reference data: ${data} does not exist`);
const reference = test.skipIf(!present);

const read = (path: string) => readFileSync(resolve(data, path), 'utf8');
const expected = <T>(name: string) => JSON.parse(read(`expected/${name}.json`)) as T;

const TABLES = { airline: ['flights', 'reservations', 'users'], retail: ['orders', 'products', 'users'] };

/** The world of a domain's original database, loaded once. */
const worlds = new Map<ExactDomain, World>();
function worldOf(domain: ExactDomain): World {
  let world = worlds.get(domain);
  if (!world) {
    const database = TAU2_DOMAINS.includes(domain)
      ? parseOrdered(read(`tau2-bench/${domain.name}/db.json`))
      : Object.fromEntries(
          TABLES[domain.name as 'airline' | 'retail'].map((table) => [table, parseOrdered(read(`tau-bench/${domain.name}/${table}.json`))]),
        );
    const tables = domain.load(database, domain.name === 'mock' ? parseOrdered(read('tau2-bench/mock/user_db.json')) : undefined);
    worlds.set(domain, (world = new World(domain.name, tables)));
  }
  return world;
}

/** Cache of canonical texts of rows. Rows are frozen and mostly shared, and whole databases are hashed after every task. */
const texts = new WeakMap<object, string>();
function rowText(row: Json): string {
  const known = texts.get(row as object);
  if (known !== undefined) return known;
  const text = canonicalJson(row);
  if (Object.isFrozen(row)) texts.set(row as object, text);
  return text;
}
function databaseHash(database: Json): string {
  const object = (value: Json, child: (value: Json) => string) =>
    `{${Object.keys(value as object)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${child((value as Record<string, Json>)[key]!)}`)
      .join(',')}}`;
  return createHash('sha256')
    .update(object(database, (table) => object(table, rowText)))
    .digest('hex');
}

/** Numbers compare as numbers: `247.0` is `247`. Only outside strings where the text is JSON. */
function numbers(text: string): string {
  const token = /^[[{]/.test(text) ? /"(?:[^"\\]|\\.)*"|-?\d+\.?\d*(?:[eE][-+]?\d+)?/g : /-?\d+\.\d+/g;
  return text.replace(token, (match) => (match.startsWith('"') ? match : String(Number(match))));
}

function sameText(recorded: Digest | string, ours: string, name: string): boolean {
  // The digest is of Python's text. No domain of this file prints a fraction in so long a text.
  if (typeof recorded !== 'string')
    return ours.length === recorded.len && createHash('sha256').update(ours).digest('hex') === recorded.sha256;
  return name === 'calculate' ? recorded === ours : numbers(recorded) === numbers(ours);
}

const counts = new Map<string, { matched: number; total: number }>();
function counted(kind: string, problem: string | null): string[] {
  const count = counts.get(kind) ?? { matched: 0, total: 0 };
  counts.set(kind, count);
  count.total++;
  if (problem === null) count.matched++;
  return problem === null ? [] : [problem];
}
afterAll(() => {
  for (const [kind, { matched, total }] of counts) console.log(`${kind}: ${matched} of ${total}`);
});

/** Runs calls as the store does: a failed call changes nothing. Returns the differences from the record. */
function replay(domain: ExactDomain, rows: Overlay, calls: readonly RecordedCall[], kind: string): string[] {
  return calls.flatMap((call) => {
    const name = call.tool ?? call.name!,
      args = call.kwargs ?? call.arguments!;
    const recorded = call.observation ?? call.content!;
    const draft = new Overlay(rows);
    const answer = domain.execute(draft, {
      name,
      arguments: cloneJson(args),
      ...(call.requestor && { requestor: call.requestor }),
    } satisfies ToolCall);
    if (!answer.error) rows.apply(draft.changes());
    const error = call.error ?? /^(Error: |Unknown action )/.test(recorded as string);
    const right =
      answer.error === error &&
      (call.python_text ? answer.text.startsWith('Error: ') && answer.text.length >= 12 : sameText(recorded, answer.text, name));
    const shown = typeof recorded === 'string' ? recorded : recorded.head;
    return counted(
      `${kind}, observations`,
      right
        ? null
        : `${name}(${JSON.stringify(args).slice(0, 200)}): recorded ${error} '${shown.slice(0, 400)}', ours ${answer.error} '${answer.text.slice(0, 400)}'`,
    );
  });
}

function stateDifferences(domain: ExactDomain, rows: Overlay, { records, ...state }: State, initial: string, kind: string): string[] {
  const sha = state.unchanged ? initial : (state.sha256_js ?? state.agent_sha256_js);
  if (databaseHash(domain.dump(rows)) === sha) return counted(`${kind}, states`, null);
  const made = Object.fromEntries(rows.changes().map(({ table, key, after }) => [`${table}/${key}`, after]));
  return counted(
    `${kind}, states`,
    `state: recorded ${canonicalJson(records ?? {}).slice(0, 1500)}, ours ${canonicalJson(made).slice(0, 1500)}`,
  );
}

const initialOf = (domain: ExactDomain) => databaseHash(domain.dump(new Overlay(worldOf(domain))));

/** Compares the structure only: descriptions are our own, and a missing `required` equals an empty list. */
function structure(schemas: readonly { function: { name: string; parameters: unknown } }[]): string {
  const plain = (value: unknown, fields = false): unknown => {
    if (Array.isArray(value)) return value.map((entry) => plain(entry));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, child]) => fields || (key !== 'description' && !(key === 'required' && (child as unknown[]).length === 0)))
        .map(([key, child]) => [key, plain(child, key === 'properties' && !fields)]),
    );
  };
  return JSON.stringify(schemas.map((schema) => [schema.function.name, plain(schema.function.parameters)]));
}

describe.each([
  ['airline', 'tau1_airline'],
  ['retail', 'tau1_retail'],
  ['retail', 'tau1_retail_dev'],
])('tau1 %s', (name, file) => {
  const domain = exactDomain(name, 'tau1');

  reference(`gold actions of ${file}`, () => {
    const { initial, tools_info, tasks } = expected<Gold>(file);
    expect(initialOf(domain)).toBe(initial.sha256_js);
    expect(JSON.parse(structure(domain.tools))).toEqual(JSON.parse(structure(tools_info)));
    const differences = tasks.flatMap(({ index, actions, final }) => {
      const rows = new Overlay(worldOf(domain));
      // The record stops where upstream's replay stops: transfers are listed but not executed.
      const found = replay(
        domain,
        rows,
        actions.filter((action) => action.observation !== undefined),
        file,
      );
      return [...found, ...stateDifferences(domain, rows, final, initial.sha256_js, file)].map(
        (difference) => `task ${index} ${difference}`,
      );
    });
    expect(differences).toEqual([]);
    expect(tasks.length).toBeGreaterThanOrEqual(10);
  });
});

/** tau1 executes only the first call of a message. */
interface Conversation {
  task_id: number;
  trial: number;
  traj: { tool_calls?: { function: { name: string; arguments: string } }[] | null }[];
}

reference('all observations of recorded conversations with a model', () => {
  const domain = exactDomain('airline', 'tau1');
  const { trajectories } = expected<Conversations>('tau1_airline_gpt4o_rescored');
  const conversations = JSON.parse(read('recorded/tau1_airline_gpt-4o.json')) as Conversation[];
  expect(trajectories.length).toBeGreaterThanOrEqual(100);
  const differences = trajectories.flatMap(({ task_id, trial, observations }) => {
    const recorded = typeof observations === 'string' ? (JSON.parse(observations) as RecordedCall[]) : observations;
    // These are the arguments of the conversation. In the other file a cancellation has extended a booking's list.
    const { traj } = conversations.find((entry) => entry.task_id === task_id && entry.trial === trial)!;
    const made = traj.flatMap(({ tool_calls }) => tool_calls?.slice(0, 1) ?? []).map((call) => call.function);
    expect(made.slice(0, recorded.length).map(({ name }) => name)).toEqual(recorded.map(({ name }) => name));
    const calls = recorded.map((call, i) => ({ ...call, arguments: JSON.parse(made[i]!.arguments) as Record<string, Json> }));
    return replay(domain, new Overlay(worldOf(domain)), calls, 'tau1_airline_gpt4o_rescored').map(
      (difference) => `task ${task_id} trial ${trial} ${difference}`,
    );
  });
  expect(differences).toEqual([]);
});

describe.each(['airline', 'retail', 'mock'])('tau2 %s', (name) => {
  const domain = exactDomain(name, 'tau2');

  reference(`gold actions of tau2_${name}`, () => {
    const { initial, tools, tasks } = expected<Tau2Gold>(`tau2_${name}`);
    expect(initialOf(domain)).toBe(initial.agent.sha256_js);
    expect(structure(domain.tools)).toBe(structure(tools.agent));
    expect(structure(domain.userTools)).toBe(structure(tools.user ?? []));
    const differences = tasks.flatMap(({ id, initial_state, after_init, assertions_before, actions, final, env_assertions }) => {
      const rows = new Overlay(worldOf(domain));
      domain.initialize(rows, initial_state ?? {});
      // The mock database has no numbers, so Python's hash equals ours.
      const started = name !== 'mock' || databaseHash(domain.dump(rows)) === after_init.agent_sha256;
      const met = () =>
        env_assertions.map((assertion) => domain.assertion(rows, assertion.env_type, assertion.func_name, assertion.arguments));
      const before = met();
      const found = replay(domain, rows, actions, `tau2_${name}`);
      const checks = [
        ...counted(`tau2_${name}, initial states`, started ? null : 'initial state differs'),
        ...(env_assertions.length
          ? counted(
              `tau2_${name}, assertions`,
              canonicalJson([before, met()]) === canonicalJson([assertions_before, env_assertions.map((assertion) => assertion.met)])
                ? null
                : 'assertions differ',
            )
          : []),
        ...(final.user
          ? counted(
              `tau2_${name}, user states`,
              databaseHash(domain.dumpUser(rows)) === final.user.sha256_js ? null : 'the state of the user differs',
            )
          : []),
      ];
      return [...found, ...checks, ...stateDifferences(domain, rows, final.agent, initial.agent.sha256_js, `tau2_${name}`)].map(
        (difference) => `task ${id} ${difference}`,
      );
    });
    expect(differences).toEqual([]);
    expect(tasks.length).toBeGreaterThanOrEqual(5);
  });
});

describe.each<[string, Benchmark, number]>([
  ['airline', 'tau1', 100],
  ['retail', 'tau1', 100],
  ['airline', 'tau2', 100],
  ['retail', 'tau2', 100],
  ['mock', 'tau2', 10],
])('%s', (name, benchmark, atLeast) => {
  const domain = exactDomain(name, benchmark);

  reference(`hostile calls of ${benchmark}`, () => {
    const cases = expected<Hostile>(`${benchmark}_adversarial`).cases.filter((entry) => entry.domain === name);
    expect(cases.length).toBeGreaterThanOrEqual(atLeast);
    const kind = `${benchmark}_adversarial ${name}`,
      initial = initialOf(domain);
    const differences = cases.flatMap(({ name: title, calls, db }) => {
      const rows = new Overlay(worldOf(domain));
      const found = replay(domain, rows, calls, kind);
      // After an error, the original may have changed some rows. Ours has changed no row.
      const state: State = calls.every((call) => call.python_text) ? { unchanged: true } : db;
      const user =
        db.user_sha256 === undefined || databaseHash(domain.dumpUser(rows)) === db.user_sha256 ? [] : ['the state of the user differs'];
      return [...found, ...user, ...stateDifferences(domain, rows, state, initial, kind)].map((difference) => `${title} ${difference}`);
    });
    expect(differences).toEqual([]);
  });

  reference(`9**9**9 is refused at once by ${benchmark}`, () => {
    if (name === 'mock') return;
    // CPU time, because a busy machine does not increase it.
    const started = process.cpuUsage();
    expect(domain.execute(new Overlay(worldOf(domain)), { name: 'calculate', arguments: { expression: '9**9**9' } })).toMatchObject({
      error: true,
      text: expect.stringContaining('too large') as string,
    });
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});
