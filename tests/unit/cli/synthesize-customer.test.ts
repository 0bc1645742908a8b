/** `mua synthesize --user`: a fake model plays the customer, honestly or with planted faults. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { customerScripts, GENERATED_DOMAINS } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import type { WrittenConversation } from '../../../src/records/written.ts';
import type { SynthesisReport } from '../../../src/synthesis/funnel.ts';
import { coldStart } from '../../../src/training/config.ts';
import { instructionIn } from '../../../src/users/prompt.ts';
import { ScriptedUsers } from '../../../src/users/scripted.ts';
import { STOP } from '../../../src/users/types.ts';
import { type AgentReply, type AgentRequest, startAgentServer } from '../../support/agent-server.ts';
import { muaHere } from '../../support/mua-here.ts';

const folder = mkdtempSync(join(tmpdir(), 'customer-'));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));
const mua = muaHere();

const PLACE = { domain: 'library', level: 'nano' };
const { conditions } = coldStart(PLACE.domain, PLACE.level, { 'tools.outages': '0', 'customers.upfront': '1' });
const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
const tasks = await environments.tasks({ ...PLACE, split: 'train', seed: 1, count: 64, from: 0, conditions });

/** What the customer does wrong in one of eight conversations each. */
const KINDS = ['failed', 'leaves', 'speaks_as_agent'] as const;
type Kind = (typeof KINDS)[number];
/** A brisk demonstrator has written before the customer can leave. */
const kindOf = (index: number, style: string): Kind | undefined => {
  const kind = tasks[index]!.noop ? undefined : KINDS[index % 8];
  return kind === 'leaves' && style === 'brisk' ? undefined : kind;
};

/** Says what the script of the same task says. */
async function customer({ messages }: AgentRequest, style: string): Promise<AgentReply> {
  const index = tasks.findIndex(({ scenario }) => scenario.instruction === instructionIn(messages[0]!.content!));
  const kind = kindOf(index, style);
  const turn = messages.filter(({ role }) => role === 'assistant').length;
  if (kind === 'failed') return { status: 400, body: { error: { message: 'the prompt is too long' } } };
  if (kind === 'leaves' && turn === 1) return { content: STOP };
  if (kind === 'speaks_as_agent' && turn === 1) return { content: 'How can I help you today?' };
  const session = new ScriptedUsers(customerScripts).session({ ...tasks[index]!.scenario, domain: PLACE.domain }, 1);
  let said = await session.open();
  for (const { role, content } of messages.slice(3)) if (role === 'user') said = await session.reply(content!);
  return { content: said };
}

it.each(['careful', 'brisk'])(
  'with %s demonstrators: keeps conversations whose customer is honest, counts the others at their step, and names the model',
  async (style) => {
    const server = await startAgentServer((request) => customer(request, style));
    const { code, said } = await mua(
    'synthesize', '--demonstrator', style, '--user', server.url, '--user-model', 'fake-customer', '--user-temperature', '0.5', '--domain', 'library',
    '--set', 'tools.outages=0', '--set', 'customers.upfront=1', '--count', '8', '--out', at('a.jsonl'), '--card', at('a.md'), '--json',
  ); // prettier-ignore
    server.close();
    expect(code, said).toBe(0);
    const report = JSON.parse(said) as SynthesisReport;
    const { tried, kept } = report;
    const { refused, spent, customer: who, agent } = report.writers!;
    const size = (kind: Kind) => tasks.slice(0, tried).filter((_, i) => kindOf(i, style) === kind).length;
    for (const kind of KINDS) if (kind !== 'leaves' || style === 'careful') expect(size(kind), kind).toBeGreaterThan(0);
    expect(refused).toEqual({
    failed: size('failed'), not_ended: 0, reward: size('leaves'), leak: 0, audit: size('speaks_as_agent'), duplicate: refused.duplicate,
  }); // prettier-ignore
    expect(kept).toBe(8);
    expect([who, agent]).toEqual([{ model: 'fake-customer', temperature: 0.5 }, undefined]);
    expect(spent.agent).toBeNull();
    expect(spent.customer!.calls).toBe(server.requests.length);
    const rows = readFileSync(at('a.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as WrittenConversation); // prettier-ignore
    for (const row of rows) {
      expect(row).toMatchObject({ reward: 1, customer: who });
      expect(row.writer).toBeUndefined();
      expect(
        kindOf(
          tasks.findIndex(({ id }) => id === row.id),
          style,
        ),
      ).toBeUndefined();
    }
    // No model sees the slots of the task: they are the gold arguments.
    for (const { messages } of server.requests) expect(messages[0]!.content).not.toContain('"wishes"');
    expect(readFileSync(at('a.md'), 'utf8')).toContain('The agent: demonstrators. The customer: fake-customer, temperature 0.5.');
  },
);
