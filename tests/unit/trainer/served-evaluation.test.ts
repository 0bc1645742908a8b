/** An evaluation of the page whose agent is behind a server: it needs no GPU, and its key is not stored. */
import { afterEach, expect, test } from 'vitest';
import { nodeSession } from '../../../src/trainer/node/session.ts';
import { canPair } from '../../../src/evaluation/types.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { evaluationSettings } from '../../../src/training/evaluation-settings.ts';
import { demonstratorOf, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { calling, forExpert, startAgentServer } from '../../support/agent-server.ts';

let close: () => void = () => {};
afterEach(() => close());

const KEY = 'sk-agent-4711';
const settings = evaluationSettings({
  domain: 'retail',
  level: 'nano',
  split: 'heldout',
  tasks: 3,
  trials: 2,
  temperature: 0.5,
  seed: 1,
  user: { mode: 'scripted' },
});

test('has one budget for all its customers', async () => {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const expert = (await demonstratorOf('retail'))(await environments.domain('retail', 'nano'), 1, { style: 'careful' });
  const server = await startAgentServer((request, before) => {
    const act = expert.act(forExpert(request));
    return 'call' in act ? calling([act.call], `c${before}`) : { content: act.say };
  });
  close = server.close;
  const { domain, level, split, temperature, seed } = settings;
  const evaluateWith = (budget: number | undefined, customers: number) =>
    nodeSession().evaluate(
      {},
      // An answer costs 100 · 10 / 1e6 = 0.001.
      {
        domain,
        level,
        split,
        tasks: 1,
        trials: 1,
        temperature,
        seed,
        server: { baseUrl: server.url, model: 'm', promptPrice: 10, budget },
      },
      Array.from({ length: customers }, () => ({ user: { mode: 'scripted' } })),
      { progress: () => {}, trial: () => Promise.resolve() },
    );
  const { reports } = await evaluateWith(undefined, 1);
  const first = server.requests.length;
  expect(reports[0]!.unscored).toBe(0);
  // The last answer to the first customer spends the budget.
  await expect(evaluateWith((first - 0.5) * 0.001, 2)).rejects.toThrow('and its budget is');
  expect(server.requests).toHaveLength(2 * first);
});

test('is played with a guard if val_agent names one', async () => {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  // This demonstrator writes without a question.
  const expert = (await demonstratorOf('retail'))(await environments.domain('retail', 'nano'), 1, { style: 'brisk' });
  const server = await startAgentServer((request, before) => {
    const act = expert.act(forExpert(request));
    return 'call' in act ? calling([act.call], `c${before}`) : { content: act.say };
  });
  close = server.close;
  const evaluateWith = (val_agent: string) =>
    nodeSession().evaluate(
      {},
      { ...settings, tasks: 4, trials: 1, settings: { val_agent }, server: { baseUrl: server.url, model: 'm' } },
      [{ user: { mode: 'scripted' } }],
      { progress: () => {}, trial: () => Promise.resolve() },
    );
  const asked = async (val_agent: string) => (await evaluateWith(val_agent)).reports[0]!.confirmed_writes!.value;
  expect(await asked('guard')).toBe(1);
  expect(await asked('model')).toBe(0);
  await expect(evaluateWith('careful')).rejects.toThrow('setting "val_agent" is "careful": a demonstrator asks no server');
});

test('is played without a GPU, and stored without the key', async () => {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const expert = (await demonstratorOf('retail'))(await environments.domain('retail', 'nano'), 1, { style: 'careful' });
  const server = await startAgentServer((request, before) => {
    if (before === 0) return { status: 401, body: { error: { message: `the key ${KEY} is wrong` } } };
    const act = expert.act(forExpert(request));
    return 'call' in act ? { ...calling([act.call], `c${before}`), reasoning_content: 'Hm.' } : { content: act.say };
  });
  close = server.close;
  const session = nodeSession();
  const progress: number[] = [];
  const model = { kind: 'server', baseUrl: server.url, model: 'gpt-x', apiKey: KEY, promptPrice: 10, format: 'native' } as const;
  const [id] = await session.evaluateAndKeep([{ model, settings }], (done) => progress.push(done));
  const db = new RunDatabase();
  const row = (await db.evaluations.get(id!))!;
  expect(row).toMatchObject({
    name: 'gpt-x',
    run: '',
    model: { kind: 'server', baseUrl: server.url, model: 'gpt-x' },
    report: {
      unscored: 0,
      pass_hat: [
        { k: 1, value: 1 },
        { k: 2, value: 1 },
      ],
      agent: { calls: server.requests.length },
    },
  });
  expect(row.report.agent!.cost).toBeCloseTo(0.001 * (server.requests.length - 1), 9);
  expect(row.results.reduce((sum, { agent }) => sum + agent!.calls, 0)).toBe(server.requests.length);
  const trials = await db.evaluationTrajectories.where('evaluation').equals(id!).toArray();
  expect(trials).toHaveLength(6);
  expect(JSON.stringify([row, trials])).not.toContain(KEY);
  expect(server.requests.at(-1)!.temperature).toBe(0.5);
  expect(progress.at(-1)).toBe(6);
  // Weights have limits on tokens, which may have been raised to fit their tokenizer.
  const limits = { ...settings.limits, max_model_len: settings.limits.max_model_len + 1 };
  const ofWeights = (own: typeof settings) => ({ model: { kind: 'model', name: 'nano-retail' } as const, settings: own });
  expect(canPair(row, ofWeights({ ...settings, limits }))).toBe(true);
  expect(canPair(ofWeights(settings), ofWeights({ ...settings, limits }))).toBe(false);
  expect(canPair(row, ofWeights({ ...settings, seed: 2 }))).toBe(false);
});

test('is cancelled together with another one that needs no GPU either', async () => {
  let answer = () => {};
  const waiting = new Promise<void>((resolve) => (answer = resolve));
  const server = await startAgentServer(async () => {
    await waiting;
    return { content: 'Hello.' };
  });
  close = server.close;
  const session = nodeSession();
  const model = { kind: 'server', baseUrl: server.url, model: 'slow' } as const;
  const both = [1, 2].map(() => session.evaluateAndKeep([{ model, settings }], () => {}));
  const ended = Promise.all(both.map((one) => expect(one).rejects.toThrow('the evaluation was cancelled')));
  await expect.poll(() => server.requests.length).toBeGreaterThan(settings.tasks * settings.trials);
  await session.cancelEvaluation();
  await ended;
  answer();
});
