/** `mua shadow` against a local server: what is counted, what is kept, and what the candidate gets to read. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { shadow } from '../../../src/cli/commands/shadow.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { GENERATED_DOMAINS, usualLevel } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { readShadow } from '../../../src/exchange/shadow-schema.ts';
import { type AgentReply, type AgentRequest, calling, startAgentServer } from '../../support/agent-server.ts';

const USER = { role: 'user', content: 'Cancel order W1000001, I no longer need it. My email is a@b.com.' };
const FIND = { name: 'find_user_id_by_email', arguments: { email: 'a@b.com' } };
const CANCEL = { name: 'cancel_pending_order', arguments: { order_id: '#W1000001', reason: 'no longer needed' } };
const ASK = 'Cancel order #W1000001, which is no longer needed. Do you confirm (yes/no)?';
const called = (id: string, ...calls: (typeof FIND | typeof CANCEL)[]) => ({ role: 'assistant', content: null, ...calling(calls, id) });
const answer = (id: string, content: string) => ({ role: 'tool', tool_call_id: `${id}-0`, content });
/** A greeting, then four turns: a read, a question, a write, a text. */
const MESSAGES = [
  { role: 'system', content: 'You are an agent.' },
  { role: 'assistant', content: 'Hi! How can I help?' },
  USER,
  called('a', FIND),
  answer('a', 'anna_diaz_1'),
  { role: 'assistant', content: ASK },
  { role: 'user', content: 'Yes' },
  called('b', CANCEL),
  answer('b', '{"status": "cancelled"}'),
  { role: 'assistant', content: 'It is cancelled.' },
];
/** What the recorded agent did after these messages. */
const recorded = ({ messages }: AgentRequest) => MESSAGES[messages.length]! as AgentReply;

let folder: string;
let server: Awaited<ReturnType<typeof startAgentServer>> | undefined;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'mua-shadow-'))));
afterEach(async () => {
  server?.close();
  await rm(folder, { recursive: true });
});

const lines = (...rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const silent = new ProgressBar({ write: () => true }, { speaks: false });
async function run(reply: Parameters<typeof startAgentServer>[0], rows: unknown[], ...flags: string[]) {
  server?.close();
  server = await startAgentServer(reply);
  const path = join(folder, 'c.jsonl');
  await writeFile(path, lines(...rows));
  const given = readFlags(['--agent', server.url, '--agent-model', 'm', ...flags], shadow.flags);
  return shadow.run({ path, ...given }, silent);
}
const kinds = ({ turns }: Awaited<ReturnType<typeof run>>) => turns.map(({ message, kind }) => [message, kind]);

test('a candidate that repeats what was done is the same in every turn, and reads exactly the messages before', async () => {
  const report = await run(recorded, [{ id: 'x', messages: MESSAGES }]);
  expect(kinds(report)).toEqual([
    [3, 'same_call'],
    [5, 'both_text'],
    [7, 'same_call'],
    [9, 'both_text'],
  ]);
  expect(report).toMatchObject({ scored: 4, unscored: 0, left: 0, writing: 1, unconfirmed: { count: 0 }, same_of_calls: { value: 1 } });
  expect(report.agent).toMatchObject({ calls: 4, prompt_tokens: 400, completion_tokens: 40 });
  const longest = server!.requests.find(({ messages }) => messages.length === 9)!;
  expect(longest.messages.map(({ role }) => role)).toEqual(MESSAGES.slice(0, 9).map(({ role }) => role));
  expect(longest.messages[7]!.tool_calls![0]!.function).toEqual({ name: CANCEL.name, arguments: JSON.stringify(CANCEL.arguments) });
  expect(longest.messages[8]).toMatchObject({ content: '{"status": "cancelled"}', tool_call_id: longest.messages[7]!.tool_calls![0]!.id });
  // The file names no tools, so the candidate gets those of the domain.
  expect(longest.tools!.map((tool) => tool.function.name)).toContain('cancel_pending_order');
  expect(shadow.show(report).join('\n')).toContain('4 turns of 1 conversations; 1 with a write; 0 unscored');
});

test('other arguments, another tool, words instead of a call, a call instead of words, and what cannot be read', async () => {
  const other = { ...CANCEL, arguments: { order_id: '#W1000001', reason: 'ordered by mistake', note: null } };
  const replies: Record<number, AgentReply> = {
    3: { content: 'Who are you?' },
    5: calling([CANCEL]),
    7: calling([other]),
    9: { tool_calls: [{ id: 'x', type: 'function', function: { name: 'calculate', arguments: '{"expression": ' } }] },
  };
  const report = await run(({ messages }) => replies[messages.length]!, [{ id: 1, messages: MESSAGES }]);
  expect(kinds(report)).toEqual([
    [3, 'asked_instead'],
    [5, 'called_instead'],
    [7, 'other_arguments'],
    [9, 'unreadable'],
  ]);
  expect(report.turns[2]!.arguments).toEqual([
    { tool: CANCEL.name, argument: 'reason', recorded: 'no longer needed', candidate: 'ordered by mistake' },
    { tool: CANCEL.name, argument: 'note', candidate: null },
  ]);
  // The first write comes before the question. The yes was given to another reason than that of the second write.
  expect(report.unconfirmed.count).toBe(2);
  expect(report.turns[1]!.writes).toEqual([{ tool: CANCEL.name, why: 'No question asks for a yes to this write.' }]);
  expect(report.turns[2]!.writes[0]!.why).toContain('names another value for');
  expect(report.same_of_calls!.value).toBe(0);
});

test('another tool, or one call more or less, is another tool; the order of calls in one message does not matter', async () => {
  const two = [MESSAGES[0], USER, called('a', FIND, CANCEL), answer('a', '1'), { role: 'tool', tool_call_id: 'a-1', content: '2' }];
  const kind = async (...calls: (typeof FIND | typeof CANCEL)[]) => (await run(() => calling(calls), [{ id: 1, messages: two }])).turns[0]!.kind; // prettier-ignore
  expect(await kind(CANCEL, FIND)).toBe('same_call');
  expect(await kind(FIND)).toBe('other_tool');
  expect(await kind(FIND, CANCEL, CANCEL)).toBe('other_tool');
  expect(await kind(FIND, FIND)).toBe('other_tool');
  expect(await kind(FIND, { ...CANCEL, arguments: { ...CANCEL.arguments, order_id: '#W2' } })).toBe('other_arguments');
});

test('a server that fails leaves the turn unscored, and it is asked again with the same file', async () => {
  const out = join(folder, 'out.jsonl');
  const rows = [{ id: 'x', messages: MESSAGES }];
  const fails = ({ messages }: AgentRequest) => (messages.length === 5 ? { status: 400, body: { error: { message: 'no' } } } : recorded({ messages } as AgentRequest)); // prettier-ignore
  const first = await run(fails, rows, '--out', out);
  expect(first).toMatchObject({ scored: 3, unscored: 1 });
  expect(first.kinds.both_text.count).toBe(1);
  expect(first.turns[1]!.error).toContain('HTTP 400');
  const address = server!.url;
  // A killed process leaves an incomplete line.
  await writeFile(out, (await readFile(out, 'utf8')) + '{"turn": {"conv');
  const path = join(folder, 'c.jsonl');
  const again = readFlags(['--agent', address, '--agent-model', 'm', '--out', out], shadow.flags);
  const before = server!.requests.length;
  server!.close();
  const port = new URL(address).port;
  // The same address answers now.
  server = await startAgentServer(recorded, Number(port));
  const second = await shadow.run({ path, ...again }, silent);
  expect(second).toMatchObject({ scored: 4, unscored: 0, left: 0 });
  expect([before, server.requests.length]).toEqual([4, 1]);
  expect(readShadow(out, await readFile(out, 'utf8')).turns.map(({ kind }) => kind)).toEqual(kinds(second).map(([, kind]) => kind));
  await expect(shadow.run({ path, ...again, seed: 2 }, silent)).rejects.toThrow('its seed is 1, and now it is 2: expected another file');
});

test('a budget that is spent leaves the other turns unasked; a refused key ends the command', async () => {
  const cost = ['--agent-prompt-price', '1e4', '--agent-budget', '0.5'];
  const rows = Array.from({ length: 9 }, (_, i) => ({ id: i, messages: MESSAGES }));
  const report = await run(recorded, rows, ...cost);
  expect(report.stopped).toContain('its budget is 0.5');
  expect(report.scored + report.left).toBe(36);
  expect(report.left).toBeGreaterThan(20);
  await expect(run(() => ({ status: 401, body: {} }), rows)).rejects.toThrow('set MUA_AGENT_KEY');
  await expect(run(() => ({ status: 400, body: {} }), rows)).rejects.toThrow('no turn was answered');
});

test('a later message of the system is not read before its time, and messages in a row are one turn', async () => {
  const messages = [USER, { role: 'assistant', content: 'One moment.' }, called('a', FIND), answer('a', 'u'), { role: 'system', content: 'Be short.' }, { role: 'assistant', content: 'Done.' }]; // prettier-ignore
  const report = await run(() => ({ content: 'Hm.', ...calling([FIND]) }), [{ id: 1, messages }]);
  expect(kinds(report)).toEqual([
    [1, 'same_call'],
    [5, 'called_instead'],
  ]);
  const sent = server!.requests.map((request) => request.messages.map(({ role }) => role));
  expect(sent).toContainEqual(['user']);
  expect(sent).toContainEqual(['user', 'assistant', 'assistant', 'tool', 'system']);
});

test('with the id of a task, the candidate reads in its world before it acts, and writes nothing there', async () => {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const [task] = await environments.tasks({ domain: 'retail', level: usualLevel('retail')!, split: 'heldout', seed: 1, count: 1 });
  const world = await environments.start(task!);
  const { email } = task!.scenario.identity;
  const find = email ? { name: 'find_user_id_by_email', arguments: { email } } : { name: 'find_user_id_by_name_zip', arguments: task!.scenario.identity }; // prettier-ignore
  const user = (await environments.call(world, find)).text;
  const details = { name: 'get_user_details', arguments: { user_id: user } };
  const shown = (await environments.call(world, details)).text;
  const messages = [USER, called('a', find as never), answer('a', user), { role: 'assistant', content: 'I found you.' }];
  const reply = ({ messages: heard }: AgentRequest) => (heard.length === 1 ? calling([find]) : heard.length === 3 ? calling([details]) : { content: 'Hm.' }); // prettier-ignore
  const report = await run(reply, [{ id: 'a', task_id: task!.id, messages }]);
  expect(report.turns.map(({ kind, reads }) => [kind, reads])).toEqual([
    ['same_call', undefined],
    ['both_text', [details]],
  ]);
  expect(server!.requests.at(-1)!.messages.at(-1)).toMatchObject({ role: 'tool', content: shown });
  expect(report.without_world).toEqual([]);
  // In a world where a recorded call has another result, nothing is read: the first act counts.
  const other = await run(reply, [{ id: task!.id, messages: messages.with(2, answer('a', 'someone_else')) }]);
  expect(other.turns.map(({ kind }) => kind)).toEqual(['same_call', 'called_instead']);
  expect(other.without_world).toEqual([{ id: task!.id, why: `${find.name} has another result in the data than in the file` }]);
});

test.each([
  [['--model', 'DIR'], '--model is given: expected no --model with --agent'],
  [['--on', 'node'], '--on is given: expected no --on with --agent'],
  [['--temperature', '1', '--agent-temperature', '0'], 'expected one of them'],
  [['--rules', 'tau1'], 'expected --data DIR with it'],
  [['--out', '/nowhere/x.jsonl'], 'the folder "/nowhere" does not exist'],
])('%j is refused', async (flags, message) => {
  await expect(run(recorded, [{ id: 1, messages: MESSAGES }], ...flags)).rejects.toThrow(message);
});

test('a candidate is a server or a folder with a model', async () => {
  const asked = (...flags: string[]) => shadow.run({ path: 'c.jsonl', ...readFlags(flags, shadow.flags) }, silent);
  await expect(asked()).rejects.toThrow('--model is missing: expected --model DIR, or --agent URL');
  await expect(asked('--model', folder)).rejects.toThrow(`--model is "${folder}": it has no config.json`);
  await expect(asked('--model', 'models/nano-retail', '--agent-max-tokens', '9')).rejects.toThrow('expected --agent URL with it');
});

test('a file without a turn, and an existing file of something else, are refused', async () => {
  await expect(run(recorded, [{ id: 1, messages: MESSAGES.slice(0, 3) }])).rejects.toThrow('has no message of the agent after one');
  const out = join(folder, 'notes.jsonl');
  await writeFile(out, '{"notes": 1}\n');
  await expect(run(recorded, [{ id: 1, messages: MESSAGES }], '--out', out)).rejects.toThrow(
    'is no shadow to continue: expected a new file',
  );
  expect(await readFile(out, 'utf8')).toBe('{"notes": 1}\n');
});
