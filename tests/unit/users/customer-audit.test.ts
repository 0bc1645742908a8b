/** The audit of simulated customers: planted faults are found, and scripted customers are not accused. It prints both tables. */
import { afterAll, describe, expect, test } from 'vitest';
import { Dice } from '../../../src/base/dice.ts';
import { wilson } from '../../../src/base/wilson.ts';
import { PERSONAS } from '../../../src/records/conditions.ts';
import { CUSTOMER_FAULTS } from '../../../src/records/user.ts';
import { auditCustomer as audit } from '../../../src/users/audit.ts';
import { shopLanguage } from '../../../src/domains/retail/customer/language.ts';
import { PLAIN } from '../../../src/domains/retail/customer/speech.ts';
import { VARIED } from '../../../src/domains/retail/customer/varied-speech.ts';
import { STOP } from '../../../src/users/types.ts';
import { AGENTS, converse, LEVELS, message, tasksFor, trajectoryOf } from '../../support/customer-conversations.ts';
import { PLANTS } from '../../support/planted-faults.ts';

const auditCustomer = (...[trajectory, task]: Parameters<typeof audit>) => audit(trajectory, task, shopLanguage);

const PER_KIND = 100;
const PER_PERSONA_AND_LEVEL = 45;
const lines: string[] = [];
afterAll(() => console.info(lines.join('\n')));
const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
const shown = (count: number, of: number) => {
  const { low, high } = wilson(count, of)!;
  return `${count} of ${of} = ${percent(count / of)} (${percent(low)} to ${percent(high)})`;
};

describe('planted faults', () => {
  // Tasks and agents that the other table does not have.
  const sound = PERSONAS.flatMap((persona) =>
    LEVELS.flatMap((level) => tasksFor(persona, level, 12, 77).map((task, i) => converse(task, i % 3 ? 'careful' : 'brisk', i))),
  );

  test.each(CUSTOMER_FAULTS)('%s: at least 95 %% are found', (kind) => {
    const missed: string[] = [];
    let planted = 0;
    for (let seed = 0; planted < PER_KIND && seed < 40 * PER_KIND; seed++) {
      const dice = new Dice('planted fault', kind, seed);
      const plant = PLANTS[kind](dice.pick(sound), dice);
      if (!plant) continue;
      planted += 1;
      const { trajectory, at } = plant;
      const { faults } = auditCustomer(trajectory, trajectory.task);
      if (!faults.some((fault) => fault.kind === kind && fault.message === at))
        missed.push(`${trajectory.task.scenario.persona}: ${trajectory.nodes[at]!.text}`);
    }
    lines.push(`found ${kind}: ${shown(planted - missed.length, planted)}`);
    expect(planted).toBe(PER_KIND);
    expect(missed.length / planted, missed.join('\n')).toBeLessThanOrEqual(0.05);
  });
});

test.each([
  ['plain', PLAIN],
  ['varied', VARIED],
])('scripted customers of every kind are rarely accused: %s words', (words, wording) => {
  let [all, accused] = [0, 0];
  const found: string[] = [];
  for (const persona of PERSONAS) {
    let [own, wrong] = [0, 0];
    for (const level of LEVELS)
      for (const [i, task] of tasksFor(persona, level, PER_PERSONA_AND_LEVEL, 9).entries()) {
        const { faults } = auditCustomer(converse(task, AGENTS[i % AGENTS.length]!, i, wording), task);
        own += 1;
        wrong += Number(faults.length > 0);
        for (const { kind, detail } of faults) found.push(`${task.id} ${AGENTS[i % AGENTS.length]} ${kind}: ${detail}`);
      }
    lines.push(`false alarms, ${words} words, ${persona}: ${shown(wrong, own)}`);
    [all, accused] = [all + own, accused + wrong];
  }
  lines.push(`false alarms, ${words} words: ${shown(accused, all)}`);
  expect(all).toBeGreaterThanOrEqual(1000);
  expect(accused / all, found.join('\n')).toBeLessThanOrEqual(0.02);
});

describe('what the audit could check', () => {
  const [task] = tasksFor('on_request', 'nano', 1, 3);
  const [chatty] = tasksFor('upfront', 'nano', 1, 3);

  test('a task with a text only skips what needs a scenario, and says why', () => {
    const imported = { ...task!, scenario: { ...task!.scenario, wishes: [], identity: {}, benchmark: 'tau1' as const } };
    const nodes = [message(0, 'system', ''), message(1, 'user', 'Hi, I am Zelda Vandermeer. My email is zelda@mail.test.')];
    const { faults, checked, skipped } = auditCustomer(trajectoryOf(imported, nodes, 'max_turns'), imported);
    expect(faults.map(({ kind }) => kind)).toEqual(['invented_fact']);
    expect(skipped.map(({ check }) => check)).toEqual(['ended_too_early', 'contradicted', 'told_everything']);
    expect(checked).not.toContain('contradicted');
    expect(skipped[1]!.why).toMatch(/text only/);
  });

  test('a customer that may tell everything is not checked for it', () => {
    expect(auditCustomer(converse(task!, 'careful', 1), task!).skipped).toEqual([]);
    expect(auditCustomer(converse(chatty!, 'careful', 1), chatty!).skipped.map(({ check }) => check)).toEqual(['told_everything']);
  });

  test('a reserved customer may leave without its second wish only if the agent does not ask for more', () => {
    const [reserved] = tasksFor('reserved', 'nano', 1, 3);
    const leavesAfter = (text: string) => {
      const nodes = [
        message(0, 'system', ''),
        message(1, 'user', 'Hello.'),
        message(2, 'assistant', text, { content: text }),
        message(3, 'user', `Thanks. ${STOP}`),
      ];
      return auditCustomer(trajectoryOf(reserved!, nodes, 'user_stop'), reserved!).faults.map(({ kind }) => kind);
    };
    expect(leavesAfter('The order is cancelled. Anything else?')).toEqual(['ended_too_early']);
    expect(leavesAfter('The order is cancelled.')).toEqual([]);
  });

  test('messages of a visitor are heard and not audited', () => {
    const nodes = [
      message(0, 'system', ''),
      message(1, 'user', 'How can I help you? #W9999999', { by: 'person' }),
      message(2, 'user', 'About #W9999999: ok?'),
    ];
    expect(auditCustomer(trajectoryOf(task!, nodes, 'max_turns'), task!).faults).toEqual([]);
  });
});

test.each([
  ['letters', 'a'.repeat(100_000)],
  ['digits', '1'.repeat(100_000)],
  ['spaces', ' '.repeat(100_000)],
  ['at signs', 'a@'.repeat(50_000)],
  ['dots', 'a.b-'.repeat(25_000)],
  ['money', '$1,'.repeat(33_000)],
  ['names', 'I am Aa '.repeat(12_500)],
  ['tags', '<think>'.repeat(14_000)],
  ['quotes', '"“`'.repeat(33_000)],
  ['words', 'you want to return the lamp not '.repeat(3_000)],
  ['JSON', '"name": "'.repeat(11_000)],
])('100 kB of %s do not hang', (_, text) => {
  const [task] = tasksFor('on_request', 'full', 1, 3);
  const nodes = [
    message(0, 'system', ''),
    ...['user', 'assistant', 'user'].map((role, i) => message(i + 1, role as 'user', text, { content: text })),
  ];
  const started = performance.now();
  auditCustomer(trajectoryOf(task!, nodes, 'max_turns'), task!);
  expect(performance.now() - started).toBeLessThan(5000);
});

test('a customer of a domain without rules of language is not accused of words that its instruction quotes, and may leave', () => {
  const [task] = tasksFor('on_request', 'nano', 1, 5);
  const instruction =
    'You are a customer. Who you are, in your words: “I am Jana, and you find me in the team Design”. Wait until you are asked.';
  const quoted = { ...task!, scenario: { ...task!.scenario, instruction } };
  const said = (text: string) =>
    trajectoryOf(
      quoted,
      [message(0, 'user', text), message(1, 'assistant', 'The fee is 5.'), message(2, 'user', `Thanks, bye. ${STOP}`)],
      'user_stop',
    );
  const heard = (text: string) => audit(said(text), quoted);
  expect(heard('I am Jana, and you find me in the team Design.').faults).toEqual([]);
  expect(heard('Wait until you are asked. You are a customer. Who you are, in your words').faults.map(({ kind }) => kind)).toEqual([
    'leaked_instruction',
  ]);
  expect(heard('Hello').skipped.map(({ check }) => check)).toEqual(['ended_too_early', 'contradicted', 'told_everything']);
});
