/** Our telecom domain against tau2-bench's own: gold and hostile calls recorded from the original Python code. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { ExactCall, InitialState, Requestor } from '../../src/environments/exact.ts';
import { canonicalJson, cloneJson } from '../../src/environments/json.ts';
import { Overlay, World, type Rows } from '../../src/environments/overlay.ts';
import { sha256 } from '../../src/environments/sha256.ts';
import { telecom } from '../../src/environments/telecom/index.ts';
import { recordJson } from '../../src/environments/telecom/schema.ts';
import type { Json, ToolSchema } from '../../src/environments/types.ts';

interface Recorded { tool: string; arguments: Record<string, Json>; requestor?: Requestor; content: string; error: boolean; python_text?: boolean; agent_db_hash?: string; user_db_hash?: string }
interface Assertion { env_type: Requestor; func_name: string; arguments: Record<string, Json>; assert_value: boolean; met: boolean }
interface Hashes { agent_db_hash: string; user_db_hash: string }
interface GoldTask {
  id: string; initial_state: InitialState; after_init: Hashes; assertions_before: boolean[]; actions: (Omit<Recorded, 'tool'> & { name: string })[];
  final: Hashes & { agent: { sha256_js: string }; user: { sha256_js: string } }; env_assertions: Assertion[];
}
interface Gold { tools: Record<'agent' | 'user', ToolSchema[]>; initial: Hashes & { agent: { sha256_js: string; db: Json }; user: { sha256_js: string; db: Json } }; tasks: GoldTask[] }
interface Hostile { domain: string; name: string; init?: [string, string, Json][]; calls: Recorded[]; db: { unchanged?: true; agent_sha256_js: string; user_sha256: string } }

const data = resolve(import.meta.dirname, '../../../shared/data');
const present = existsSync(resolve(data, 'expected/tau2_telecom.json'));
if (!present) console.warn(`SKIPPED: tests against tau2-bench's reference data: ${data} does not exist`);
const reference = test.skipIf(!present);

const readJson = (path: string) => JSON.parse(readFileSync(resolve(data, path), 'utf8')) as unknown;
const readToml = (path: string) => JSON.parse(execFileSync('python3', ['-c', 'import json,sys,tomllib; json.dump(tomllib.load(open(sys.argv[1], "rb")), sys.stdout)', resolve(data, path)], { encoding: 'utf8' })) as Json;

let world: World | undefined;
const fresh = () => new Overlay((world ??= new World('tau2', telecom.load(readToml('tau2-bench/telecom/db.toml'), readToml('tau2-bench/telecom/user_db.toml')))));

/** Numbers compare as numbers, outside strings of a JSON text. */
function numbers(text: string): string {
  return /^[[{]/.test(text) ? text.replace(/"(?:[^"\\]|\\.)*"|-?\d+\.?\d*(?:[eE][-+]?\d+)?/g, (token) => (token.startsWith('"') ? token : String(Number(token)))) : text;
}

const portable = (value: Json) => sha256(canonicalJson(value));

/** The hash that the original computes of its database: `json.dumps(…, sort_keys=True)`. */
function pythonHash(value: Json): string {
  const sorted = (entry: Json): Json => (Array.isArray(entry) ? entry.map(sorted) : entry !== null && typeof entry === 'object' ? Object.fromEntries(Object.keys(entry).sort().map((key) => [key, sorted(entry[key]!)])) : entry);
  return sha256(recordJson(sorted(value)));
}

const hashes = (rows: Rows): Hashes => ({ agent_db_hash: pythonHash(telecom.dump(rows)), user_db_hash: pythonHash(telecom.dumpUser(rows)) });

/** Runs one call as the store does: an error leaves nothing, unless the tool itself succeeded. */
function call(rows: Overlay, wanted: ExactCall): { text: string; error: boolean; wrote: boolean } {
  const draft = new Overlay(rows);
  const answer = telecom.execute(draft, { ...wanted, arguments: cloneJson(wanted.arguments) }) as { text: string; error: boolean; kept?: true };
  const changes = draft.changes();
  if (!answer.error || answer.kept) rows.apply(changes);
  return { ...answer, wrote: changes.length > 0 };
}

/** What differs between a call and its record. */
function difference(rows: Overlay, recorded: Recorded): string[] {
  const { tool, content, error, python_text } = recorded;
  const answer = call(rows, { name: tool, arguments: recorded.arguments, requestor: recorded.requestor });
  const place = `${tool}(${JSON.stringify(recorded.arguments).slice(0, 100)})`;
  if (answer.error !== error) return [`${place}: error ${answer.error}, expected '${content.slice(0, 200)}', got '${answer.text.slice(0, 200)}'`];
  if (python_text) return answer.text.startsWith('Error: ') && answer.text.length > 12 && !answer.wrote ? [] : [`${place}: '${answer.text}' is no clean error`];
  return numbers(answer.text) === numbers(content) ? [] : [`${place}: expected '${content}', got '${answer.text}'`];
}

const assertions = (rows: Rows, list: Assertion[]) => list.map(({ env_type, func_name, arguments: args, assert_value }) => telecom.assertion(rows, env_type, func_name, args) === assert_value);

reference('the databases load as the reference has them, from its source and from its own dump', () => {
  const { initial } = readJson('expected/tau2_telecom.json') as Gold;
  const again = new Overlay(new World('dump', telecom.load(initial.agent.db, initial.user.db)));
  for (const rows of [fresh(), again]) {
    expect(portable(telecom.dump(rows))).toBe(initial.agent.sha256_js);
    expect(portable(telecom.dumpUser(rows))).toBe(initial.user.sha256_js);
    expect(hashes(rows)).toEqual({ agent_db_hash: initial.agent_db_hash, user_db_hash: initial.user_db_hash });
  }
});

reference('tool schemas equal the recorded ones but for their descriptions', () => {
  const { tools } = readJson('expected/tau2_telecom.json') as Gold;
  const bare = (value: Json): Json => (Array.isArray(value) ? value.map(bare) : value !== null && typeof value === 'object'
    ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key, key === 'description' && typeof child === 'string' ? 'described' : bare(child)])) : value);
  expect(telecom.tools.map((tool) => bare(tool as never))).toEqual(tools.agent.map((tool) => bare(tool as never)));
  expect(telecom.userTools.map((tool) => bare(tool as never))).toEqual(tools.user.map((tool) => bare(tool as never)));
  expect([telecom.tools.length, telecom.userTools.length]).toEqual([13, 30]);
});

reference('gold actions of every task', () => {
  const { tasks } = readJson('expected/tau2_telecom.json') as Gold;
  let calls = 0;
  const failed = new Map<string, string[]>();
  for (const task of tasks) {
    const rows = fresh();
    const found: string[] = [];
    telecom.initialize(rows, task.initial_state);
    const before = hashes(rows);
    for (const name of ['agent_db_hash', 'user_db_hash'] as const) if (before[name] !== task.after_init[name]) found.push(`${name} after initialisation: ${canonicalJson(telecom.dumpUser(rows))}`);
    if (canonicalJson(assertions(rows, task.env_assertions)) !== canonicalJson(task.assertions_before)) found.push('assertions before');
    for (const action of task.actions) {
      calls++;
      found.push(...difference(rows, { ...action, tool: action.name }));
      const now = hashes(rows);
      for (const name of ['agent_db_hash', 'user_db_hash'] as const) if (action[name] && action[name] !== now[name]) found.push(`${action.name}: ${name}`);
    }
    if (portable(telecom.dump(rows)) !== task.final.agent.sha256_js) found.push('agent database');
    if (portable(telecom.dumpUser(rows)) !== task.final.user.sha256_js) found.push('user database');
    if (canonicalJson(assertions(rows, task.env_assertions)) !== canonicalJson(task.env_assertions.map(({ met }) => met))) found.push('assertions after');
    if (found.length) failed.set(task.id, found);
  }
  console.log(`tau2_telecom.json: ${tasks.length - failed.size} of ${tasks.length} tasks match (${calls} calls)`);
  expect(Object.fromEntries(failed)).toEqual({});
  expect(tasks.length).toBeGreaterThan(50);
});

/** JSON as we read it cannot tell `1.0` from `1`, which is a good limit. */
const UNTELLABLE = new Set(['get_bills_for_customer:limit_float']);

reference('hostile calls', () => {
  const { cases } = readJson('expected/tau2_adversarial.json') as { cases: Hostile[] };
  const hostile = cases.filter(({ domain }) => domain === 'telecom');
  const initial = (readJson('expected/tau2_telecom.json') as Gold).initial;
  let calls = 0;
  const failed = new Map<string, string[]>();
  for (const entry of hostile) {
    if (UNTELLABLE.has(entry.name)) continue;
    const rows = fresh();
    for (const [env_type, func_name, args] of entry.init ?? []) {
      if (env_type === 'user_raw') rows.put('', 'surroundings', { ...(rows.get('', 'surroundings') as Record<string, Json>), phone_number: args });
      else telecom.initialize(rows, { initialization_actions: [{ env_type: env_type as Requestor, func_name, arguments: args as Record<string, Json> }] });
    }
    const found: string[] = [];
    let spoiled = false;
    for (const recorded of entry.calls) {
      // Where the original's failed call had written something, what comes after it cannot be compared.
      if (spoiled) break;
      calls++;
      found.push(...difference(rows, recorded));
      spoiled = recorded.python_text === true && ['set_apn_settings:string', 'set_network_mode_preference:5'].includes(entry.name);
    }
    const agent = entry.db.unchanged ? initial.agent.sha256_js : entry.db.agent_sha256_js;
    const user = entry.db.unchanged ? initial.user.sha256_js : entry.db.user_sha256;
    if (!spoiled && portable(telecom.dump(rows)) !== agent) found.push('agent database');
    if (!spoiled && portable(telecom.dumpUser(rows)) !== user) found.push(`user database: ${canonicalJson(telecom.dumpUser(rows))}`);
    if (found.length) failed.set(entry.name, found);
  }
  console.log(`tau2_adversarial.json, telecom: ${hostile.length - failed.size - UNTELLABLE.size} of ${hostile.length} cases match (${calls} calls)`);
  expect(Object.fromEntries(failed)).toEqual({});
  expect(hostile.length).toBeGreaterThan(300);
});
