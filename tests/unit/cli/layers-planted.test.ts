/**
 * The layers of the audit on 1120 planted conversations. A violation is found if its layer has a finding at its message, or at the agent's
 * message before or after it. `tests/support/planted-layers/` and `planted-layers-2/` have them; their held-back parts improved no rule.
 */
import { expect, test } from 'vitest';
import { sha256 } from '../../../src/base/sha256.ts';
import { auditFile } from '../../../src/cli/audit.ts';
import { airlineSchemas } from '../../../src/domains/airline/tool-schemas.ts';
import { TAU2 } from '../../../src/domains/airline/rules.ts';
import { toolSchemas } from '../../../src/domains/retail/tool-schemas.ts';
import { AGENT_SCHEMAS } from '../../../src/domains/telecom/tool-schemas.ts';
import { type LayerName, LAYERS, type Layers } from '../../../src/records/layers.ts';
import type { ToolSchema } from '../../../src/records/task.ts';
import { type Figures, type Measured, plantedRows, TODAY } from '../../support/planted-layers/figures.ts';
import { plantedConversations } from '../../support/planted-layers/index.ts';
import { SECOND_LAYERS, secondConversations } from '../../support/planted-layers-2/index.ts';
import { type DomainName, DOMAINS, type Part, PARTS, type Planted } from '../../support/planted-layers/talk.ts';

const PLANTED = plantedConversations();
const SECOND = secondConversations();
const ALL = [...PLANTED, ...SECOND];
const HELD = {
  first: '4c1cb98397e2d97876111ac83dc8f4b77099d705db19fbb9497bc8d0bc2ecd5f',
  second: 'cf1877ac4d77f7e48f0386d985a9f2aaa1bad46cdac6c3dd0a54c948b564666c',
};

async function audited(): Promise<Map<string, Layers>> {
  const found = new Map<string, Layers>();
  for (const domain of DOMAINS) {
    const lines = ALL.filter((planted) => planted.domain === domain).map(({ id, messages }) => JSON.stringify({ id, messages }));
    const { conversations } = await auditFile(domain, lines.join('\n'), domain, () => {});
    for (const { id, layers } of conversations) found.set(String(id), layers);
  }
  return found;
}

/** The violations of a conversation that the layer found. */
function foundIn(
  { messages, expected }: { messages: { role: string }[]; expected: { message: number }[] },
  findings: readonly { message: number }[],
): number {
  const agent = messages.flatMap(({ role }, m) => (role === 'assistant' ? [m] : []));
  // A message of the customer is between two turns of the agent.
  const turn = (message: number) => agent.filter((m) => m < message).length - (agent.includes(message) ? 0 : 0.5);
  return expected.filter((own) => findings.some(({ message }) => Math.abs(turn(message) - turn(own.message)) <= 1)).length;
}

function measure(all: readonly Planted[], layer: LayerName, part: Part, layers: Map<string, Layers>): Measured {
  const sum = { found: 0, planted: 0, alarms: 0, clean: 0 };
  for (const planted of all.filter((one) => one.layer === layer && one.part === part)) {
    const checked = layers.get(planted.id)![layer];
    if ('na' in checked) throw new Error(`${planted.id}: ${checked.na}`);
    sum.planted += planted.expected.length;
    sum.found += foundIn(planted, checked.findings);
    if (planted.expected.length > 0) continue;
    sum.clean++;
    if (checked.findings.length > 0) sum.alarms++;
  }
  return sum;
}

test('the layers find what they found before, with no more false alarms', async () => {
  const layers = await audited();
  const row = (all: readonly Planted[], layer: LayerName) =>
    Object.fromEntries(PARTS.map((part) => [part, measure(all, layer, part, layers)]));
  const figures = Object.fromEntries([
    ...LAYERS.map((layer) => [layer, row(PLANTED, layer)]),
    ...SECOND_LAYERS.map((layer) => [`${layer}, second set`, row(SECOND, layer)]),
  ]) as Figures;
  console.log(plantedRows(figures).map((row) => row.join(' | ')).join('\n')); // prettier-ignore
  expect(figures).toEqual(TODAY);
}, 60_000);

test('a violation is found one message of the agent away, and no further', () => {
  const messages = ['user', 'assistant', 'user', 'assistant', 'tool', 'assistant', 'assistant'].map((role) => ({ role }));
  const found = messages.map((_, message) => foundIn({ messages, expected: [{ message: 5 }] }, [{ message }]));
  // The agent's turns are 1, 3, 5 and 6; the customer's message 2 is one and a half turns before 5.
  expect(found).toEqual([0, 0, 0, 1, 1, 1, 1]);
});

test('the held-back conversations are those of the first run', () => {
  const hash = (all: readonly Planted[]) => sha256(JSON.stringify(all.filter(({ part }) => part === 'held-back')));
  expect({ first: hash(PLANTED), second: hash(SECOND) }).toEqual(HELD);
});

const layersOf = (all: readonly Planted[], layers: readonly LayerName[], each: number) =>
  layers.flatMap((layer) =>
    PARTS.map((part) => ({ layer, part, each, own: all.filter((planted) => planted.layer === layer && planted.part === part) })),
  );

test.each([...layersOf(PLANTED, LAYERS, 100), ...layersOf(SECOND, SECOND_LAYERS, 80)])('$each of $layer, $part: half are clean', (set) => {
  const violating = set.own.filter(({ expected }) => expected.length > 0);
  expect([set.own.length, violating.length]).toEqual([set.each, set.each / 2]);
  expect(new Set(violating.map(({ domain, kind }) => domain + kind)).size).toBeGreaterThanOrEqual(12);
  const withPolicy = set.own.filter(({ messages }) => messages[0]!.role === 'system').length;
  expect(withPolicy / set.each).toBeGreaterThan(0.4);
  expect(withPolicy / set.each).toBeLessThan(0.6);
});

const TOOLS: Record<DomainName, readonly ToolSchema[]> = {
  retail: toolSchemas('full'),
  airline: airlineSchemas(TAU2),
  telecom: AGENT_SCHEMAS,
};

test('each conversation is well formed, and calls only tools of its domain', () => {
  expect(new Set(ALL.map(({ messages }) => JSON.stringify(messages))).size).toBe(ALL.length);
  for (const { id, domain, messages, expected } of ALL) {
    expect(expected.every(({ message }) => messages[message]!.role === 'assistant'), id).toBe(true); // prettier-ignore
    expect(
      messages.filter(({ role }, m) => role === 'user' && messages[m - 1]?.role === 'user'),
      id,
    ).toEqual([]);
    for (const { function: made } of messages.flatMap(({ tool_calls: calls = [] }) => calls)) {
      const schema = TOOLS[domain].find((tool) => tool.function.name === made.name);
      const args = Object.keys(JSON.parse(made.arguments) as object);
      expect([id, made.name, args.toSorted()]).toEqual([id, schema?.function.name, schema?.function.parameters.required.toSorted()]);
    }
  }
});
