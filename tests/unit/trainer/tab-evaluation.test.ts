/** An evaluation of the page whose agent is a model of transformers.js in the tab. */
import { beforeEach, expect, test } from 'vitest';
import { nodeSession } from '../../../src/trainer/node/session.ts';
import { demonstratorOf, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { Generation } from '../../../src/local/api.ts';
import type { EvaluatedModel, EvaluationSettings } from '../../../src/records/evaluation.ts';
import type { LocalConfig } from '../../../src/records/user.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { evaluationSettings } from '../../../src/training/evaluation-settings.ts';
import { type AgentRequest, forExpert } from '../../support/agent-server.ts';
import { FakeWorkers, type Generate, said } from '../../support/model-workers.ts';

const LOCAL: LocalConfig = { source: 'hub', model: 'org/m', precision: 'q4', device: 'wasm' };
const MODEL: EvaluatedModel = { kind: 'tab', ...LOCAL };
const settings = (more: Partial<EvaluationSettings> = {}) =>
  evaluationSettings({ domain: 'retail', level: 'nano', split: 'heldout', tasks: 3, trials: 2, temperature: 0, seed: 1, user: { mode: 'scripted' }, ...more }); // prettier-ignore

/** A model that writes what a demonstrator does. */
async function expertModel(style: 'careful' | 'brisk' = 'careful'): Promise<Generate> {
  const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
  const expert = (await demonstratorOf('retail'))(await environments.domain('retail', 'nano'), 1, { style });
  return async ({ messages }) => {
    const act = expert.act(forExpert({ messages } as unknown as AgentRequest));
    return said('call' in act ? `<think>I look it up.</think><tool_call>\n${JSON.stringify(act.call)}\n</tool_call>` : act.say);
  };
}

const db = new RunDatabase();
beforeEach(() => db.evaluations.clear());
const runs = (requests: readonly Generation[]) =>
  requests.map(({ conversation }) => conversation).filter((id, i, all) => id !== all[i - 1]).length;

test('is played one conversation after another, and says which model played and what it used', async () => {
  const workers = new FakeWorkers(await expertModel());
  const progress: number[] = [];
  const [id] = await nodeSession({ spawn: workers.spawn }).evaluateAndKeep([{ model: MODEL, settings: settings() }], (done) => progress.push(done)); // prettier-ignore
  const row = (await db.evaluations.get(id!))!;
  const calls = workers.requests.length;
  expect(row).toMatchObject({
    name: 'org/m (q4)',
    run: '',
    model: MODEL,
    report: {
      unscored: 0,
      pass_hat: [{ value: 1 }, { value: 1 }],
      agent: { calls, prompt_tokens: 7 * calls, completion_tokens: 3 * calls },
    },
  });
  expect(row.report.agent).not.toHaveProperty('cost');
  expect(row.results.reduce((sum, { agent }) => sum + agent!.calls, 0)).toBe(calls);
  expect([runs(workers.requests), workers.spawned, progress.at(-1)]).toEqual([6, 1, 6]);
  const trials = await db.evaluationTrajectories.where('evaluation').equals(id!).toArray();
  expect(trials[0]!.nodes.find(({ toolCall }) => toolCall)).toMatchObject({ thoughts: 'I look it up.', tokens: [] });
});

test('a guard asks for a yes before each write', async () => {
  const evaluateWith = async (agent?: 'guard') => {
    const workers = new FakeWorkers(await expertModel('brisk'));
    const request = { model: MODEL, settings: settings({ trials: 1, ...(agent && { agent }) }) };
    const [id] = await nodeSession({ spawn: workers.spawn }).evaluateAndKeep([request], () => {});
    return (await db.evaluations.get(id!))!;
  };
  expect((await evaluateWith()).report.confirmed_writes!.value).toBe(0);
  expect(await evaluateWith('guard')).toMatchObject({
    name: 'org/m (q4) + guard',
    settings: { agent: 'guard' },
    report: { confirmed_writes: { value: 1 } },
  });
});

test('one worker serves the agent and the customer if they are the same model', async () => {
  const expert = await expertModel();
  const workers = new FakeWorkers((request, stopped) =>
    request.tools.length > 0 ? expert(request, stopped) : Promise.resolve(said(request.messages.length < 3 ? 'Hello.' : '###STOP###')),
  );
  const session = nodeSession({ spawn: workers.spawn });
  const user = { mode: 'local' as const, ...LOCAL };
  await session.evaluateAndKeep([{ model: MODEL, settings: settings({ tasks: 1, trials: 1, user }) }], () => {});
  expect(workers.spawned).toBe(1);
  expect(workers.requests.some(({ tools }) => tools.length === 0)).toBe(true);
});

test('a trial in which the model fails is not scored and not repeated, and the others are scored', async () => {
  const expert = await expertModel();
  let failed = 0;
  const workers = new FakeWorkers(async (request, stopped) => {
    if (workers.requests.length > 3) return expert(request, stopped);
    failed += 1;
    return { value: { text: 'I I I', isCut: true, promptTokens: 7, tokens: 1024 } };
  });
  const [id] = await nodeSession({ spawn: workers.spawn }).evaluateAndKeep([{ model: MODEL, settings: settings() }], () => {});
  expect((await db.evaluations.get(id!))!.report).toMatchObject({
    unscored: 3,
    unscored_reason: 'the agent’s model did not end its message within 1024 tokens: raise the most tokens of a message',
    terminations: { agent_error: 3 },
    pass_hat: [{ k: 1, value: 1 }, { k: 2 }],
  });
  expect(failed).toBe(3);
});

test('a model that cannot be loaded ends the evaluation before its first task', async () => {
  const workers = new FakeWorkers(await expertModel());
  workers.load = () => ({ failure: { kind: 'files', message: 'config.json of "org/m" is missing', isFatal: false } });
  const session = nodeSession({ spawn: workers.spawn });
  await expect(session.evaluateAndKeep([{ model: MODEL, settings: settings() }], () => {})).rejects.toThrow(
    'config.json of "org/m" is missing',
  );
  expect([workers.requests.length, await db.evaluations.count()]).toEqual([0, 0]);
});

test.each(['loads', 'writes'] as const)('is cancelled while the model %s', async (when) => {
  let isStopped = false;
  const workers = new FakeWorkers(async (_, stopped) => {
    await stopped;
    isStopped = true;
    return { failure: { kind: 'cancelled', message: 'the generation was cancelled', isFatal: false } };
  });
  let isLoading = false;
  if (when === 'loads') workers.load = () => ((isLoading = true), new Promise(() => {}));
  const session = nodeSession({ spawn: workers.spawn });
  const ended = expect(session.evaluateAndKeep([{ model: MODEL, settings: settings() }], () => {})).rejects.toThrow('cancelled');
  await expect.poll(() => isLoading || workers.running > 0).toBe(true);
  await session.cancelEvaluation();
  await ended;
  expect([isStopped, workers.terminated]).toEqual(when === 'loads' ? [false, 1] : [true, 0]);
  expect(await db.evaluations.count()).toBe(0);
});

test('one that needs no GPU can run beside another', async () => {
  const workers = new FakeWorkers(await expertModel());
  const session = nodeSession({ spawn: workers.spawn });
  const both = [1, 2].map((seed) => session.evaluateAndKeep([{ model: MODEL, settings: settings({ seed, tasks: 1 }) }], () => {}));
  expect((await Promise.all(both)).flat()).toHaveLength(2);
});
