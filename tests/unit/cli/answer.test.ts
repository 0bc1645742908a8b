/** Who answers the tools of a scenario, on the command line. */
// The database looks for IndexedDB when its module is loaded.
import '../../../src/trainer/node/indexed-db.ts';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startAgentServer } from '../../support/agent-server.ts';
import { toyScenario } from '../../support/toy-scenario.ts';
import { muaHere } from '../../support/mua-here.ts';

const folder = mkdtempSync(join(tmpdir(), 'answer-'));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));
const world = at('lockers.json');
writeFileSync(world, JSON.stringify({ ...toyScenario(), name: 'answered' }));

const mua = muaHere();
const synthesize = (out: string, ...more: string[]) =>
  mua('synthesize', '--world', world, '--level', 'easy', '--count', '8', '--out', at(out), ...more);
const bytes = (name: string) => readFileSync(at(name), 'utf8');

it('gives the same conversations by the code behind the checks as without --answer', async () => {
  expect(await synthesize('plain.jsonl')).toMatchObject({ code: 0 });
  const { code, said: text } = await synthesize('code.jsonl', '--answer', 'code');
  expect(code).toBe(0);
  expect(text).toMatch(/tools: \d+ calls, 0 asked again \(no check found anything\), 0 without an answer that passes/);
  expect(bytes('code.jsonl')).toBe(bytes('plain.jsonl'));
});

it('records, goes on after half a line, and plays the cassette to the same bytes', async () => {
  const noisy = ['--answer', 'noisy@0.3', '--answer-seed', '5', '--cassette', at('c.jsonl')];
  expect(await synthesize('noisy.jsonl', ...noisy)).toMatchObject({ code: 0 });
  const whole = bytes('c.jsonl');
  expect(await synthesize('played.jsonl', '--answer', `recorded@${at('c.jsonl')}`)).toMatchObject({ code: 0 });
  expect(bytes('played.jsonl')).toBe(bytes('noisy.jsonl'));
  // A killed process leaves half a line.
  writeFileSync(at('c.jsonl'), whole.slice(0, Math.floor(whole.length / 2)));
  expect(await synthesize('broken.jsonl', '--answer', `recorded@${at('c.jsonl')}`)).toMatchObject({
    code: 2,
    said: expect.stringContaining('is no JSON') as string,
  });
  expect(await synthesize('resumed.jsonl', ...noisy)).toMatchObject({ code: 0 });
  expect(bytes('resumed.jsonl')).toBe(bytes('noisy.jsonl'));
  const lines = (text: string) => text.trimEnd().split('\n').sort();
  expect(lines(bytes('c.jsonl'))).toEqual(lines(whole));
});

it('leaves a file alone that is no cassette, and one that another process records into', async () => {
  writeFileSync(at('mine.json'), '{"mine": true}');
  const into = (name: string) => synthesize('x.jsonl', '--answer', 'code', '--cassette', at(name));
  expect(await into('mine.json')).toMatchObject({ code: 2, said: expect.stringContaining('mine.json": is no cassette') as string });
  expect(bytes('mine.json')).toBe('{"mine": true}');
  const owner = { pid: process.ppid, host: hostname(), start: '', since: new Date().toISOString(), token: 'x' };
  writeFileSync(at('.shared.jsonl.mua.lock'), JSON.stringify(owner));
  expect(await into('shared.jsonl')).toMatchObject({ code: 2, said: expect.stringContaining('still works on it') as string });
});

it('drops conversations that no answer can serve, and keeps those that were asked for', async () => {
  const journal = at('much.jsonl.unfinished');
  const watcher = watch(folder, (_, name) => name === 'much.jsonl.unfinished' && existsSync(journal) && copyFileSync(journal, at('copy')));
  const noisy = ['--answer', 'noisy@0.6', '--json'];
  const { code, said: text } = await synthesize('much.jsonl', ...noisy);
  watcher.close();
  expect(code).toBe(0);
  const result = JSON.parse(text) as { kept: number; dropped: number; tools: { calls: number; faults: number } };
  expect(result.kept).toBe(8);
  expect(result.dropped).toBeGreaterThan(0);
  expect(result.tools.faults).toBe(result.dropped);
  // A command that goes on tries the dropped ones again, and nothing else. Its time is that of both.
  const lines = bytes('copy').trimEnd().split('\n');
  expect(lines.at(-1)).toMatch(/^\{"seconds":\d+\.?\d*\}$/);
  writeFileSync(journal, [...lines.slice(0, -1), '{"seconds":5000}', ''].join('\n'));
  const whole = bytes('much.jsonl');
  const resumed = JSON.parse((await synthesize('much.jsonl', ...noisy, '--resume')).said) as typeof result & { seconds: number };
  expect(resumed).toMatchObject({ kept: 8, dropped: result.dropped, tools: { faults: result.dropped } });
  expect(resumed.tools.calls).toBeLessThan(result.tools.calls);
  expect(Math.floor(resumed.seconds / 100)).toBe(50);
  expect(bytes('much.jsonl')).toBe(whole);
});

it('is a world of mua evaluate, where dropped conversations have no score', async () => {
  const server = await startAgentServer(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { content: 'Anything else?' }
      : { content: '', tool_calls: [{ id: 'a', function: { name: 'find_user', arguments: '{"name": "Ada"}' } }] },
  );
  try {
    const { code, said: text } = await mua('evaluate', '--agent', server.url, '--agent-model', 'm', '--domain', 'rooms', '--answer', 'noisy@1', '--tasks', '2', '--json'); // prettier-ignore
    expect({ code, text }).toMatchObject({
      code: 1,
      text: expect.stringContaining('no episode could be scored: the answer to find_user {"name":"Ada"} was refused') as string,
    });
    const right = await mua('evaluate', '--agent', server.url, '--agent-model', 'm', '--domain', 'rooms', '--answer', 'noisy@0', '--tasks', '2', '--json'); // prettier-ignore
    expect(JSON.parse(right.said)).toMatchObject({ unscored: 0, tools: { faults: 0 } });
  } finally {
    await server.close();
  }
});

it('stops with the price when the budget of the tools is spent; the cassette keeps what was paid', async () => {
  const server = await startAgentServer(() => ({ content: '{"result": null, "error": "the service is closed", "writes": []}' }));
  const priced = (budget: string, ...more: string[]) => synthesize('paid.jsonl', ...more, '--answer', server.url, '--answer-model', 'm', '--answer-prompt-price', '1000', '--answer-budget', budget, '--cassette', at('paid-c.jsonl')); // prettier-ignore
  try {
    expect(await priced('0.25')).toMatchObject({
      code: 1,
      said: expect.stringMatching(/the tools have cost [\d.]+, and their budget is 0.25/) as string,
    });
    const paid = server.requests.length;
    expect(bytes('paid-c.jsonl').trimEnd().split('\n').length).toBeGreaterThan(1);
    expect(bytes('paid-c.jsonl')).not.toContain('MUA_ANSWER_KEY');
    expect(await priced('0.25')).toMatchObject({ code: 1 });
    const asked = (n: number, m?: number) => server.requests.slice(n, m).map(({ messages }) => messages.at(-1)!.content);
    expect(asked(paid).length).toBeGreaterThan(0);
    for (const question of asked(paid)) expect(asked(0, paid)).not.toContain(question);
    // The budget does not decide the output, so another one goes on.
    expect((await priced('3')).said).toMatch(/budget is 3\. .*: the same command with --resume goes on/);
    expect(await priced('100', '--resume')).toMatchObject({ code: 0 });
  } finally {
    await server.close();
  }
});

it.each([
  [['--answer', 'noisy@1.5'], '--answer is "noisy@1.5": expected noisy@RATE with a share, 0 to 1'],
  [['--answer', 'noisy'], '--answer is "noisy": expected noisy@RATE'],
  [['--answer', 'noisy@0.1:wrong_rwo'], 'the kind "wrong_rwo" (did you mean wrong_row?)'],
  [['--answer', 'cod'], '--answer is "cod": expected code, noisy@RATE, recorded@FILE or an http(s) URL'],
  [['--answer', 'code', '--unchecked'], '--unchecked is given: expected --answer noisy@RATE with it'],
  [['--answer', 'code', '--answer-budget', '1'], '--answer-budget is given: expected --answer URL with it'],
  [['--cassette', 'c.jsonl'], '--cassette is given: expected --answer WHO with it'],
  [['--answer', 'recorded@none.jsonl'], 'none.jsonl: there is no such file'],
  [['--answer', 'recorded@c.jsonl', '--cassette', 'd.jsonl'], '--cassette is given: expected --answer code, noisy@RATE or URL with it'],
])('refuses %j', async (flags, text) => {
  expect(await synthesize('x.jsonl', ...flags)).toMatchObject({ code: 2, said: expect.stringContaining(text) as string });
});

it('needs a scenario', async () => {
  expect(await mua('synthesize', '--answer', 'code', '--out', at('x.jsonl'))).toMatchObject({
    code: 2,
    said: expect.stringContaining('expected --world FILE.json, or --domain') as string,
  });
  expect((await mua('scenario', 'fidelity', 'retail', '--answer', 'code')).said).toContain(
    'unknown scenario "retail": expected FILE.json, or',
  );
  expect((await mua('scenario', 'fidelity', world)).said).toContain('--answer is missing');
});

it.each([
  [['--answer', 'code', '--cassette', at('f.jsonl')], '--cassette is given: expected it only with synthesize and evaluate'],
  [['--answer', 'recorded@f.jsonl'], '--answer is "recorded@f.jsonl": expected code, noisy@RATE or an http(s) URL'],
])('compares no cassette with the code: %j', async (flags, text) => {
  expect(await mua('scenario', 'fidelity', world, ...flags)).toMatchObject({ code: 2, said: expect.stringContaining(text) as string });
});

it('compares with the code', async () => {
  const { code, said: text } = await mua('scenario', 'fidelity', world, '--answer', 'noisy@0.3', '--tasks', '20');
  expect(code).toBe(0);
  expect(text).toContain('| rows that the code changes | same text, % |');
  expect(text).toMatch(/right answers that a check refuses: 0\.0 .*, 0 of \d+/);
});
