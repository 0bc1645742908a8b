/** `mua robust` in a new process, with agents behind a local server. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { demonstratorOf, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { ReliabilityCard } from '../../../src/records/reliability.ts';
import { type AgentRequest, calling, forExpert, startAgentServer } from '../../support/agent-server.ts';
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
const robust = (...args: string[]) => startMua(['robust', '--tasks', '12', '--trials', '2', ...args]).done;

test('a steady agent behind a server keeps its success; what a server cannot give has a reason', { timeout: 120_000 }, async () => {
  const { url } = await expertServer();
  const folder = await mkdtemp(join(tmpdir(), 'mua-robust-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const [out, output] = [join(folder, 'card.json'), join(folder, 'all.jsonl')];
  const { code, stdout, stderr } = await robust('--agent', url, '--agent-model', 'm', '--out', out, '--output', output, '--json');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const card = JSON.parse(stdout) as ReliabilityCard;
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
  const { code, stdout, stderr } = await robust('--agent', url, '--agent-model', 'm', '--json');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  const { conditions, metrics } = JSON.parse(stdout) as ReliabilityCard;
  expect(conditions.plain).toMatchObject({ pass_1: { value: 1 } });
  const { environment, prompt_layout } = metrics.robustness as unknown as Record<string, { value: number }>;
  expect(environment!.value).toBeLessThan(0.2);
  // At this level, two layouts change the prompt, and every second task has the one with other line breaks.
  expect(Math.abs(prompt_layout!.value - 0.5)).toBeLessThan(0.15);
});

test('wrong flags are refused', { timeout: 120_000 }, async () => {
  for (const [flags, message] of [
    [[], '--model is missing: expected --model DIR, or --agent URL'],
    [['--model', 'models/nano-retail', '--set', 'seed=2'], '--set has "seed": expected --seed instead'],
    [['--model', 'models/nano-retail', '--trials', '1'], '--trials is "1"'],
    [['--model', 'models/nano-retail', '--tasks', '0'], '--tasks is "0"'],
    [['--model', 'models/nano-retail', '--split', 'test'], '--split is "test": expected train or heldout or unseen'],
    [['--agent', 'http://localhost:9', '--agent-model', 'm', '--lora', 'x'], '--lora is given: expected no --lora with --agent'],
  ] as const) {
    const { code, stderr } = await startMua(['robust', ...flags]).done;
    expect([code, stderr]).toEqual([2, expect.stringContaining(message) as string]);
  }
});
