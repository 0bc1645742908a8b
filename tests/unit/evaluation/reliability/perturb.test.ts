/** The conditions of the reliability card: they change the form of a task, and keep its meaning. */
import { describe, expect, it, test } from 'vitest';
import { customerScripts, GENERATED_DOMAINS } from '../../../../src/domains/registry.ts';
import { faultOf } from '../../../../src/environments/faults.ts';
import { createEnvironments } from '../../../../src/environments/index.ts';
import { evaluationTasks } from '../../../../src/environments/task-order.ts';
import type { Environments, ToolResult } from '../../../../src/environments/types.ts';
import { perturbed, perturbedWorld, plainTask } from '../../../../src/evaluation/perturb.ts';
import { relaidPrompt } from '../../../../src/evaluation/relaid-prompt.ts';
import { reversedFields } from '../../../../src/evaluation/reversed-fields.ts';
import { PERTURBATIONS } from '../../../../src/records/reliability.ts';
import type { ToolSchema } from '../../../../src/records/task.ts';

const environments = createEnvironments({ domains: GENERATED_DOMAINS, inMemory: true });
async function drawn(name: string, level: string, count = 12) {
  const domain = await environments.domain(name, level);
  const query = { domain: name, level, split: 'heldout' as const, seed: 3, count };
  return { domain, tasks: await evaluationTasks({ domain, environments }, query) };
}
/** The words of a prompt without the signs of headings and bullets, sorted. */
const words = (text: string) =>
  text
    .replace(/^(Section:|#+|[-•]) /gm, '')
    .split(/\s+/)
    .sort();
const PLACES = [
  ['retail', 'glimpse'],
  ['retail', 'nano'],
  ['retail', 'small'],
  ['retail', 'full'],
  ['telecom', 'glimpse'],
  ['telecom', 'full'],
] as const;

describe.each(PLACES)('%s %s', (name, level) => {
  it('keeps customer, goal and world under each condition, and marks the id', async () => {
    const { domain, tasks } = await drawn(name, level, 3);
    for (const kind of PERTURBATIONS.filter((one) => one !== 'customers' || name === 'retail')) {
      const others = (await perturbed(kind, tasks, domain))!;
      expect(others.map(({ id }) => plainTask(id))).toEqual(tasks.map(({ id }) => id));
      for (const [i, other] of others.entries()) {
        expect(other.id).not.toBe(tasks[i]!.id);
        const { world, actions, noop } = tasks[i]!;
        expect(other).toMatchObject({ world, actions, noop });
        expect(other.scenario).toMatchObject({ wishes: tasks[i]!.scenario.wishes, identity: tasks[i]!.scenario.identity });
        expect(other).not.toEqual({ ...tasks[i]!, id: other.id });
      }
    }
  });
  it('says the same in every layout of the prompt', async () => {
    const { domain } = await drawn(name, level, 1);
    const layouts = [0, 1, 2, 3].map((index) => relaidPrompt(domain, index));
    expect(new Set(layouts.map((layout) => JSON.stringify(layout))).size).toBeGreaterThan(1);
    for (const { policy, tools } of layouts) {
      expect(words(policy)).toEqual(words(domain.policy));
      const numbered = (text: string) =>
        text
          .split('\n')
          .filter((line) => /^\d+\./.test(line))
          .map((line) => line.slice(0, 12));
      expect(numbered(policy)).toEqual(numbered(domain.policy));
      expect(tools.map((tool) => tool.function.description.replace(/^Purpose: /, ''))).toEqual(
        domain.tools.map((tool) => tool.function.description),
      );
    }
  });
});

test('a prompt is laid out anew by hand', () => {
  const policy = ['# Shop', 'Be kind. Ask first.', '', '## Always', '- one', '  more of one', '- two', '', '1. look', '2. act'].join('\n');
  const layouts = [0, 1, 2].map((index) => relaidPrompt({ policy, tools: [] }, index).policy.split('\n'));
  expect(layouts).toEqual([
    ['# Shop', 'Be kind. Ask first.', '', '## Always', '- two', '- one', '  more of one', '', '1. look', '2. act'],
    ['Section: Shop', 'Be kind. Ask first.', '', 'Section: Always', '- one', '  more of one', '- two', '', '1. look', '2. act'],
    ['# Shop', 'Be kind.', 'Ask first.', '', '## Always', '• one', '  more of one', '• two', '', '1. look', '2. act'],
  ]);
  // Nothing can be changed.
  expect(relaidPrompt({ policy: '', tools: [] }, 5)).toEqual({ policy: '', tools: [] });
});

test('about a fifth of the calls fail', async () => {
  const { domain, tasks } = await drawn('retail', 'nano', 300);
  const faulty = (await perturbed('faults', tasks, domain))!.flatMap((task) => Array.from({ length: 8 }, (_, call) => faultOf(task, call)));
  const share = faulty.filter((fault) => fault !== null).length / faulty.length;
  // 0.1 + 0.9 · 0.2 / 2 = 0.19, with a standard error of 0.008
  expect(Math.abs(share - 0.19)).toBeLessThan(0.03);
  expect(new Set(faulty)).toEqual(new Set([null, 'outage', 'timeout', 'late']));
});

test('customers say the same facts in other words', async () => {
  const { domain, tasks } = await drawn('retail', 'nano', 40);
  const scripts = await customerScripts('retail', false);
  const open = (all: typeof tasks) => all.map(({ scenario }, i) => scripts.customer(scenario, i).open());
  const [usual, other] = [open(tasks), open((await perturbed('customers', tasks, domain))!)];
  const ids = (text: string) => text.match(/#W\d+|\S+@\S+[a-z]|\b\d{5}\b/g) ?? [];
  const both = usual.map((text, i) => [text, other[i]!] as const);
  expect(both.filter(([a, b]) => a === b).length).toBe(0);
  // A customer draws anew which facts the first message has. Those in both messages are the same.
  expect(both.some(([a, b]) => ids(a).length > 0 && JSON.stringify(ids(a).sort()) === JSON.stringify(ids(b).sort()))).toBe(true);
  await expect(perturbed('customers', tasks, (await drawn('telecom', 'full', 1)).domain)).rejects.toThrow('telecom have no other words');
});

test('the interface of the tools is turned around, and nothing is lost', async () => {
  const { domain, tasks } = await drawn('retail', 'full', 1);
  const [other] = (await perturbed('environment', tasks, domain))!;
  const byName = (tools: readonly ToolSchema[]) => Object.fromEntries(tools.map((tool) => [tool.function.name, tool]));
  expect(byName(other!.tools!)).toEqual(byName(domain.tools));
  expect(other!.tools!.map((tool) => tool.function.name)).toEqual(domain.tools.map((tool) => tool.function.name).reverse());
  const parameters = (tools: readonly ToolSchema[]) =>
    Object.keys(byName(tools).exchange_delivered_order_items!.function.parameters.properties);
  expect(parameters(other!.tools!)).toEqual(parameters(domain.tools).reverse());
});

describe('the fields of a result', () => {
  it.each([
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['{"a": 1, "b": [1, 2], "c": {"d": 5.0, "e": null}}', '{"c": {"e": null, "d": 5.0}, "b": [1, 2], "a": 1}'],
    ['[{"a": 1, "b": 2}, 3]', '[{"b": 2, "a": 1}, 3]'],
    ['{"x": "a, \\"b\\": {", "y": "]:,"}', '{"y": "]:,", "x": "a, \\"b\\": {"}'],
    ['{"back\\\\": "\\\\", "k:,": 1e400}', '{"k:,": 1e400, "back\\\\": "\\\\"}'],
    ['{\n "a": 1,\n "b": {}\n}', '{\n "b": {},\n "a": 1}'],
    ['{"x": "\\"", "y, z": 2}', '{"y, z": 2, "x": "\\""}'],
    ['{}', '{}'],
    ['[]', '[]'],
  ])('of %j are turned around', (text, turned) => {
    expect(reversedFields(text)).toBe(turned);
    // Compare as sorted text, because 1e400 is no number of JavaScript.
    const sorted = (json: string) => [...json.replace(/\s/g, '')].sort().join('');
    expect(sorted(turned)).toBe(sorted(text));
  });
  it.each(['Error: order not found', '12', '"a"', 'null', '{"a":', '', 'x {"a": 1, "b": 2}'])('%j stays as it is', (text) => {
    expect(reversedFields(text)).toBe(text);
  });
});

test('only the results of the environment are changed', async () => {
  const result: ToolResult = { index: 0, text: '{"a":1,"b":2}', error: false, changes: [], terminal: false };
  const world = { call: () => Promise.resolve(result) } as unknown as Environments;
  expect(perturbedWorld('prompt', world)).toBe(world);
  expect(perturbedWorld(undefined, world)).toBe(world);
  const turned = perturbedWorld('environment', world);
  expect(await turned.call('e', { name: 'get', arguments: {} })).toEqual({ ...result, text: '{"b":2,"a":1}' });
  expect(await turned.turn!('e', 0)).toBeNull();
});

test('prompts that no layout changes are not played again', async () => {
  const { domain, tasks } = await drawn('retail', 'nano', 2);
  const bare = { ...domain, policy: 'f(a, b?)', tools: [] };
  expect(await perturbed('prompt', tasks, bare)).toBeNull();
  expect(await perturbed('prompt', tasks, { ...bare, tools: domain.tools })).toHaveLength(2);
  expect(await perturbed('environment', tasks, bare)).toHaveLength(2);
});
