/** `mua synthesize --agent`: a fake model writes good, wrong, leaking and hostile conversations at known rates. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import type { WrittenConversation } from '../../../src/records/written.ts';
import type { SynthesisReport } from '../../../src/synthesis/funnel.ts';
import { type AgentRequest, startAgentServer } from '../../support/agent-server.ts';
import { CONDITIONS, fakeWriter, isRejected, KINDS, type Planted, refusalsOf, SEED, sizeOf } from '../../support/fake-writer.ts';
import { startFakeJudge } from '../../support/fake-judge.ts';
import { muaHere } from '../../support/mua-here.ts';

const folder = mkdtempSync(join(tmpdir(), 'writer-'));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

let server: Awaited<ReturnType<typeof startAgentServer>> | undefined;
afterEach(() => server?.close());
const mua = muaHere();

const DOMAINS = ['rooms', 'library'];
const fakeModel = await fakeWriter(DOMAINS);

const start = async (planted: Planted = new Map()) => {
  server = await startAgentServer(fakeModel(planted));
  return ['--agent', server.url, '--agent-model', 'fake', '--hint', '--domain', DOMAINS.join(','), '--seed', String(SEED), ...CONDITIONS];
};

it('keeps only honest successes, and counts each planted fault at its step', async () => {
  const planted: Planted = new Map();
  const flags = await start(planted);
  const { code, said: text } = await mua('synthesize', ...flags, '--count', '60', '--out', at('a.jsonl'), '--card', at('a.md'), '--json');
  expect(code).toBe(0);
  const report = JSON.parse(text) as SynthesisReport;
  for (const kind of KINDS) expect(sizeOf(planted, kind), kind).toBeGreaterThan(1);
  const { refused } = report.writers!;
  expect(refused).toEqual({ ...refusalsOf(planted), duplicate: refused.duplicate });
  expect(report).toMatchObject({ kept: 60, tried: 60 + Object.values(refused).reduce((sum, n) => sum + n, 0) });
  const file = readFileSync(at('a.jsonl'), 'utf8');
  const rows = file.trim().split('\n').map((line) => JSON.parse(line) as WrittenConversation); // prettier-ignore
  expect(rows.filter(({ id }) => [...planted.values()].some((ids) => ids.has(id)))).toEqual([]);
  expect(file).not.toContain('PRIVATE NOTES');
  // The prompt of a row is the one that the model got.
  const [row] = rows;
  const sent = server!.requests.map(({ messages }) => messages[0]!.content!).filter((one) => one.startsWith(row!.messages[0]!.content)); // prettier-ignore
  expect(sent.every((one) => one.includes('PRIVATE NOTES'))).toBe(true);
  expect(row!.writer).toMatchObject({ model: 'fake', temperature: 1, hint: true });
  expect(sent.map((one) => createHash('sha256').update(one).digest('hex'))).toContain(row!.writer!.prompt);
  const card = readFileSync(at('a.md'), 'utf8');
  expect(card).toContain(`| reward 1 | ${report.tried - sizeOf(planted, 'failed', 'wrong')} |`);
  expect(card).toContain('| different from the earlier ones | 60 |');
  // The whole way: a judge that rejects what the first words of a row say.
  const judge = await startFakeJudge((one) => (isRejected(one.messages.get(1)!) ? ['told_the_truth'] : []));
  const graded = await mua('grade', at('a.jsonl'), '--judge', judge.url, '--judge-model', 'j', '--out', at('graded.jsonl'), '--json');
  judge.close();
  const bad = rows.filter(({ messages }) => isRejected(messages[1]!.content)).length;
  expect(bad).toBeGreaterThan(2);
  expect((JSON.parse(graded.said) as { keep: object }).keep).toEqual({ yes: 60 - bad, no: bad, person: 0 });
  writeFileSync(at('made.json'), text);
  expect((await mua('data-card', at('graded.jsonl'), '--made', at('made.json'), '--out', at('b.md'))).code).toBe(0);
  const whole = readFileSync(at('b.md'), 'utf8');
  expect(whole).toContain(`| after the judge | ${60 - bad} |`);
  expect(whole).toContain(`| no finding of the rules and audits | ${60 + refused.duplicate} |`);
});

it('stops at its budget, and goes on to the bytes of a command that was not stopped', async () => {
  const flags = [...(await start()), '--agent-prompt-price', '1', '--agent-completion-price', '1', '--count', '10', '--out', at('c.jsonl')];
  // A request costs 0.00011.
  const stopped = await mua('synthesize', ...flags, '--agent-budget', '0.003');
  expect(stopped).toMatchObject({ code: 1, said: expect.stringMatching(/the agent has cost 0\.00[34]\d*, and the budget is 0\.003\. .*unfinished has \d+ conversations: the same command with --resume goes on/) as string }); // prettier-ignore
  expect(existsSync(at('c.jsonl'))).toBe(false);
  const before = server!.requests.length;
  expect(before).toBeLessThan(65);
  const { code, said: text } = await mua('synthesize', ...flags, '--agent-budget', '1', '--resume', '--json');
  expect(code).toBe(0);
  // All requests of both commands, but not those that failed without usage.
  const { calls, cost } = (JSON.parse(text) as SynthesisReport).writers!.spent.agent!;
  expect([calls, cost!.toFixed(5)]).toEqual([
    server!.requests.length,
    ((server!.requests.length - failedOf(server!.requests)) * 0.00011).toFixed(5),
  ]);
  const whole = readFileSync(at('c.jsonl'), 'utf8');
  rmSync(at('c.jsonl'));
  expect((await mua('synthesize', ...flags, '--agent-budget', '1')).code).toBe(0);
  expect(readFileSync(at('c.jsonl'), 'utf8')).toBe(whole);
});

/** The requests that the server refused. */
const failedOf = (requests: readonly AgentRequest[]): number => {
  const reply = fakeModel(new Map());
  return requests.filter((request) => 'status' in reply(request)).length;
};

it('ends with an error if the server always fails, and keeps nothing that was not played', async () => {
  server = await startAgentServer(() => ({ status: 400, body: { error: { message: 'no such model' } } }));
  const { code, said: text } = await mua(
    'synthesize',
    '--agent',
    server.url,
    '--agent-model',
    'm',
    '--domain',
    'rooms',
    '--count',
    '5',
    '--out',
    at('d.jsonl'),
  );
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(/conversations failed one after another: .*no such model.*unfinished has 0 conversations: the same command/),
  ]);
  expect(existsSync(at('d.jsonl'))).toBe(false);
});

it.each([
  [['--hint'], '--hint is given: expected --agent URL with it'],
  [['--tries', '2'], '--tries is given: expected --agent URL or --user URL with it'],
  [['--agent', 'http://localhost:1/v1', '--agent-model', 'm', '--near-miss', '0.5'], '--near-miss is given: expected no --near-miss'],
  [['--user', 'learned'], '--user is "learned": expected scripted or an http(s) URL'],
  [
    ['--agent', 'http://localhost:1/v1?key=s3cret', '--agent-model', 'm'],
    '--agent is "http://localhost:1/v1?…": expected an address without',
  ],
  [['--user', 'http://me:s3cret@localhost:1/v1', '--user-model', 'm'], '--user is "http://…@localhost:1/v1": expected an address without'],
  [
    ['--domain', 'rooms', '--answer', 'http://localhost:1/v1?key=s3cret'],
    '--answer is "http://localhost:1/v1?…": expected an address without',
  ],
])('refuses %j', async (flags, message) => {
  expect(await mua('synthesize', ...flags, '--out', at('e.jsonl'))).toEqual({ code: 2, said: expect.stringContaining(message) as string });
});
