/** `mua shadow --model`: a bundled model at the turns that it made itself, played greedily by the episode machine. */
import 'fake-indexeddb/auto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { evaluate } from '../../../src/cli/commands/evaluate.ts';
import { shadow } from '../../../src/cli/commands/shadow.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import type { Trajectory } from '../../../src/records/trajectory.ts';

const silent = new ProgressBar({ write: () => true }, { speaks: false });
const MODEL = ['--model', 'models/nano-retail', '--on', 'node'];
let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'mua-shadow-model-'))));
afterAll(() => rm(folder, { recursive: true }));

/** The conversation in OpenAI's format. */
function messagesOf({ nodes }: Trajectory): object[] {
  let id = '';
  return nodes.flatMap(({ role, text, content = text, toolCall, id: node }): object[] => {
    if (role === 'template') return [];
    if (role === 'tool') return [{ role, tool_call_id: id, content: text }];
    if (role !== 'assistant' || !toolCall) return [{ role, content }];
    id = `call_${node}`;
    const { name, arguments: args } = toolCall;
    return [{ role, content, tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }] }];
  });
}

test('it makes the same turns again, also after a stop', async () => {
  const [played, path, out] = ['played.jsonl', 'conversations.jsonl', 'shadow.jsonl'].map((name) => join(folder, name)) as [string, string, string]; // prettier-ignore
  const at = ['--temperature', '0', '--tasks', '1', '--output', played];
  await evaluate.run(readFlags([...MODEL, ...at], evaluate.flags), silent);
  const lines = (await readFile(played, 'utf8')).trim().split('\n');
  const conversations = lines.map((line, id) => JSON.stringify({ id, messages: messagesOf(JSON.parse(line) as Trajectory) }));
  await writeFile(path, `${conversations.join('\n')}\n`);
  const run = () => shadow.run({ path, ...readFlags([...MODEL, '--out', out], shadow.flags) }, silent);
  const report = await run();
  expect(report).toMatchObject({ unscored: 0, left: 0, same_of_calls: { value: 1 } });
  expect(report.scored).toBeGreaterThan(4);
  for (const { candidate, recorded, requests } of report.turns) expect([candidate, requests]).toEqual([recorded, []]);
  const whole = await readFile(out, 'utf8');
  const rows = whole.trim().split('\n');
  expect(JSON.parse(rows[0]!)).toMatchObject({ shadow: { agent: { model: 'nano-retail', precision: 'f32' } } });
  // A killed process has written only some turns, and the last one in part.
  await writeFile(out, `${rows.slice(0, -3).join('\n')}\n${rows.at(-3)!.slice(0, 40)}`);
  expect((await run()).turns).toEqual(report.turns);
  expect((await readFile(out, 'utf8')).trim().split('\n').sort()).toEqual(rows.sort());
  await expect(shadow.run({ path, ...readFlags([...MODEL, '--out', out, '--precision', 'int8'], shadow.flags) }, silent)).rejects.toThrow(
    'its precision is "f32", and now it is "int8"',
  );
});

test('a conversation that the model cannot read is unscored, with its reason', async () => {
  const path = join(folder, 'long.jsonl');
  const long = { role: 'user', content: 'My order is late. '.repeat(4000) };
  const answer = { role: 'assistant', content: 'I am sorry.' };
  const lines = [[long, answer], [{ role: 'user', content: 'Hi' }, answer]].map((messages, id) => JSON.stringify({ id, messages })); // prettier-ignore
  await writeFile(path, lines.join('\n'));
  const report = await shadow.run({ path, ...readFlags(MODEL, shadow.flags) }, silent);
  expect(report).toMatchObject({ scored: 1, unscored: 1 });
  expect(report.turns[0]!.error).toMatch(/^the conversation has \d+ tokens: the model reads at most \d+$/);
});
