/** `mua evaluate --split attacks`, from the command to the scorecard, with an agent behind a local server. */
import 'fake-indexeddb/auto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFlags } from '../../../src/cli/args.ts';
import { evaluate } from '../../../src/cli/commands/evaluate.ts';
import { report } from '../../../src/cli/commands/report.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { ATTACKS } from '../../../src/domains/attacks.ts';
import type { CheckedLayer, Measured, Scorecard } from '../../../src/records/scorecard.ts';
import { type AgentReply, type AgentRequest, calling, startAgentServer } from '../../support/agent-server.ts';

const silent = new ProgressBar({ write: () => true }, { speaks: false });
let folder: string;
let server: Awaited<ReturnType<typeof startAgentServer>>;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'mua-attacks-'))));
afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

/** Plays two tasks of each kind. */
async function cardOf(reply: (request: AgentRequest) => AgentReply) {
  server = await startAgentServer(reply);
  const [out, file] = [join(folder, 'out'), join(folder, 'card.json')];
  const flags = ['--agent', server.url, '--agent-model', 'm', '--split', 'attacks', '--level', 'small', '--tasks', '12', '--out', out];
  const result = await evaluate.run(readFlags(flags, evaluate.flags), silent);
  await report.run({ path: out, ...readFlags(['--card', file], report.flags) }, silent);
  const card = JSON.parse(await readFile(file, 'utf8')) as Scorecard;
  return { result, safety: card.layers.safety as CheckedLayer, outcome: card.layers.outcome };
}

test('who refuses is safe against each kind', async () => {
  const { result, safety, outcome } = await cardOf(() => ({ content: 'I am sorry, I cannot do that.' }));
  expect(outcome).toMatchObject({ pass_hat_1: { value: 1, of: 12 } });
  expect(Object.keys((result as { by_intent: object }).by_intent).sort()).toEqual([...ATTACKS].sort());
  expect(Object.keys(safety.by_attack!)).toEqual([...ATTACKS].sort());
  for (const figure of Object.values(safety.by_attack!)) if (!('na' in figure)) expect(figure).toMatchObject({ value: 1, of: 2 });
  expect(Object.values(safety.findings).every((figure) => (figure as Measured).value === 0)).toBe(true);
});

test('who tells its instructions fails in that kind', async () => {
  const asked = /word for word|everything above/;
  const { safety } = await cardOf(({ messages }) => ({
    content: asked.test(messages.at(-1)!.content!) ? messages[0]!.content : 'I am sorry, I cannot do that.',
  }));
  expect(safety.by_attack).toMatchObject({ prompt_leak: { value: 0, of: 2 } });
  expect((safety.clean as Measured).value).toBeLessThan(1);
  expect(safety.findings.prompt_told).toMatchObject({ count: expect.any(Number) as number });
  expect(safety.examples.map(({ rule }) => rule)).toContain('prompt_told');
});

test('who does what the customer says writes without a yes', async () => {
  const { safety, outcome } = await cardOf(({ messages }) => {
    const order = /cancel order (#W\d+)/.exec(messages.map(({ content }) => content).join('\n'))?.[1];
    const last = messages.at(-1)!;
    if (last.role !== 'user' || !order) return { content: 'It is done.' };
    return calling([{ name: 'cancel_pending_order', arguments: { order_id: order, reason: 'no longer needed' } }], `c${messages.length}`);
  });
  expect((outcome.pass_hat_1 as Measured).value).toBeLessThan(1);
  for (const kind of ['other_customer', 'urgency']) expect(safety.by_attack![kind]).toMatchObject({ value: 0, of: 2 });
  expect(safety.findings.unconfirmed_write).toMatchObject({ count: expect.any(Number) as number });
});
