/** `mua robust` with agents behind a local server. */
import 'fake-indexeddb/auto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { robust } from '../../../src/cli/commands/robust.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { demonstratorOf, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { type AgentRequest, calling, forExpert, startAgentServer } from '../../support/agent-server.ts';
import { tau1Retail } from '../../support/benchmark-data.ts';
import { bfclFixture } from '../../support/bfcl-fixture.ts';
import { startMua } from '../../support/mua.ts';

const cleanups: (() => unknown)[] = [];
afterEach(() => Promise.all(cleanups.splice(0).map((close) => close())));

/** A careful demonstrator of retail nano that gives up if `gives` says so. */
async function expertServer(gives: (request: AgentRequest) => boolean = () => false) {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const domain = await environments.domain('retail', 'nano');
  const expert = (await demonstratorOf('retail'))(domain, 1, { style: 'careful' });
  const { url, close } = await startAgentServer((request, before) => {
    if (gives(request)) return { content: 'I cannot help you.' };
    const act = expert.act(forExpert(request));
    return 'call' in act ? { content: act.note ?? null, ...calling([act.call], `c${before}`) } : { content: act.say };
  });
  cleanups.push(close);
  return { url, domain };
}
const silent = new ProgressBar({ write: () => true }, { speaks: false });
const run = (...args: string[]) => robust.run(readFlags(args, robust.flags), silent);
/** In a new process. */
const started = (...args: string[]) => startMua(['robust', '--tasks', '3', '--trials', '2', ...args]);
const temporary = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mua-robust-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

test('a steady agent behind a server keeps its success; what a server cannot give has a reason', { timeout: 120_000 }, async () => {
  const { url } = await expertServer();
  const folder = await temporary();
  const [out, output] = [join(folder, 'card.json'), join(folder, 'all.jsonl')];
  const card = await run('--tasks', '12', '--trials', '2', '--agent', url, '--agent-model', 'm', '--out', out, '--output', output);
  expect(JSON.parse(await readFile(out, 'utf8'))).toEqual(card);
  expect(card).toMatchObject({ format: 'mua-reliability-card', agent: 'm', domain: 'retail', level: 'nano', tasks: 12, trials: 2 });
  const { consistency, robustness, predictability, safety } = card.metrics;
  expect(consistency.outcome).toMatchObject({ value: 1, n: 12 });
  expect(robustness.environment).toMatchObject({ value: 1 });
  expect(robustness.prompt_layout).toMatchObject({ value: 1 });
  expect(predictability.brier).toMatchObject({ na: 'Not given: the agent has no log-probabilities of its tokens.' });
  expect(safety.compliance).toMatchObject({ value: 1, n: 24 });
  for (const condition of Object.values(card.conditions)) expect(condition).toMatchObject({ episodes: 24, unscored: 0 });
  const lines = (await readFile(output, 'utf8')).trim().split('\n');
  expect(lines.length).toBe(5 * 24);
  const texts = lines.map((line) => (JSON.parse(line) as { nodes: { role: string; text: string }[] }).nodes);
  const orders = (from: number) =>
    texts
      .slice(from, from + 24)
      .flatMap((nodes) => nodes.flatMap(({ role, text }) => (role === 'tool' && text.includes('"order_id"') ? text : [])));
  expect(orders(0).every((text) => text.startsWith('{"order_id"'))).toBe(true);
  expect(orders(72).length).toBeGreaterThan(0);
  expect(orders(72).some((text) => text.startsWith('{"order_id"'))).toBe(false);
  expect(texts.slice(48, 72).some((nodes) => nodes.some(({ text }) => text.startsWith('Error: timeout') || text.includes('is busy')))).toBe(
    true,
  );
});

test('an agent that depends on the form of the prompt or of the tools is found out', { timeout: 120_000 }, async () => {
  const { url, domain } = await expertServer(
    ({ messages, tools }) => tools![0]!.function.name !== domain.tools[0]!.function.name || !messages[0]!.content!.includes('zip. Serve'),
  );
  const { conditions, metrics } = await run('--tasks', '12', '--trials', '2', '--agent', url, '--agent-model', 'm');
  expect(conditions.plain).toMatchObject({ pass_1: { value: 1 } });
  const { environment, prompt_layout } = metrics.robustness as unknown as Record<string, { value: number }>;
  expect(environment!.value).toBeLessThan(0.2);
  // At this level, two layouts change the prompt, and every second task has the one with other line breaks.
  expect(Math.abs(prompt_layout!.value - 0.5)).toBeLessThan(0.15);
});

test('killed in the middle and resumed, it writes the card of a command that was not stopped', { timeout: 120_000 }, async () => {
  const folder = await temporary();
  const [whole, out] = [join(folder, 'whole.json'), join(folder, 'card.json')];
  let stop = () => {};
  let [left, asked] = [Infinity, 0];
  const { url } = await expertServer(() => {
    asked += 1;
    if (--left === 0) stop();
    return false;
  });
  const flags = ['--agent', url, '--agent-model', 'm'];
  expect((await started(...flags, '--out', whole).done).code).toBe(0);
  const all = asked;
  // One of the middle conditions is played at this request.
  left = Math.round(all / 2);
  const first = started(...flags, '--out', out);
  stop = () => first.child.kill('SIGKILL');
  expect((await first.done).code).toBeNull();
  expect(existsSync(out)).toBe(false);
  await expect(run(...flags, '--out', out)).rejects.toThrow('the folder is not empty');
  await expect(run('--resume', out, '--seed', '2')).rejects.toThrow('--seed is given');
  asked = 0;
  await run('--resume', out);
  expect(asked).toBeLessThan(0.75 * all);
  expect(await readFile(out, 'utf8')).toBe(await readFile(whole, 'utf8'));
  expect(existsSync(`${out}.parts`)).toBe(false);
  await expect(run('--resume', out)).rejects.toThrow('it is done: nothing is left to do');
  await expect(run('--resume', join(folder, 'other.json'))).rejects.toThrow('expected the --out of a command that was stopped');
});

test.each([
  ['tau1', 'retail', tau1Retail, { value: 1, n: 4 }],
  ['bfcl', 'multiturn', bfclFixture, { na: 'The domain bfcl-multiturn has no rules to check.' }],
] as const)('on the tasks of %s, what cannot be measured has its reason', { timeout: 60_000 }, async (rules, domain, files, compliance) => {
  const data = await temporary();
  for (const [path, text] of Object.entries<string>(files)) {
    await mkdir(dirname(join(data, path)), { recursive: true });
    await writeFile(join(data, path), text);
  }
  const { url, close } = await startAgentServer(() => ({ content: 'I cannot help you.' }));
  cleanups.push(close);
  const flags = [
    '--agent',
    url,
    '--agent-model',
    'm',
    '--rules',
    rules,
    '--data',
    data,
    '--domain',
    domain,
    '--tasks',
    '2',
    '--trials',
    '2',
  ];
  const { conditions, metrics, ...card } = await run(...flags);
  expect(card).toMatchObject({ domain: `${rules}-${domain}`, level: 'full', tasks: 2 });
  const { customers, ...others } = conditions;
  expect(customers).toEqual({ na: 'The customers of these tasks have only one wording.' });
  for (const condition of Object.values(others)) expect(condition).toMatchObject({ episodes: 4, unscored: 0 });
  expect(metrics.safety.compliance).toMatchObject(compliance);
});

test('wrong flags are refused', async () => {
  for (const [flags, message] of [
    [[], '--model is missing: expected --model DIR, or --agent URL'],
    [['--model', 'models/nano-retail', '--set', 'seed=2'], '--set has "seed": expected --seed instead'],
    [['--model', 'models/nano-retail', '--trials', '1'], '--trials is "1"'],
    [['--model', 'models/nano-retail', '--tasks', '0'], '--tasks is "0"'],
    [['--model', 'models/nano-retail', '--split', 'test'], '--split is "test": expected train or heldout or unseen'],
    [['--agent', 'http://localhost:9', '--agent-model', 'm', '--lora', 'x'], '--lora is given: expected no --lora with --agent'],
  ] as const) {
    await expect((async () => run(...flags))()).rejects.toThrow(message);
  }
});
