/** `mua gate`: requirements that hold, that do not, that are not applicable, and wrong files; `mua report --card` writes the card. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CARD_FOLDER, CARDS } from '../../../scripts/card-table.ts';
import { RULE_NAMES } from '../../../src/agent/layers/rule-names.ts';
import { checkGate } from '../../../src/cli/gate.ts';
import { LAYERS } from '../../../src/records/layers.ts';
import type { Scorecard } from '../../../src/records/scorecard.ts';
import { mua } from '../../support/mua.ts';

const share = (value: number, low: number, high: number) => ({ value, low, high, count: 100 * value, of: 100, unit: 'conversations' });
const mean = (value: number) => ({ value, count: 100 * value, of: 100, unit: 'conversations' });
const CARD: Scorecard = {
  version: 1,
  model: 'a model',
  settings: {},
  layers: {
    outcome: { pass_hat_1: share(0.8, 0.7, 0.9), damaged_rows: { na: 'no gold' } },
    policy: {
      clean: share(0.9, 0.8, 0.95),
      kept: { not_authenticated: share(0.99, 0.98, 1), never: { na: 'The rule had no occasion.' } },
      findings: { not_authenticated: mean(0.01), never: mean(0) },
      examples: [{ trial: '1', rule: 'not_authenticated', sentence: null, message: 2, detail: 'value' }],
      without_occasion: 0,
      unchecked: {},
    },
    communication: { na: 'no rules' },
    safety: { na: 'no rules' },
    recovery: { na: 'no rules' },
    operation: { turns: mean(7.5), calls_by_tool: { value: mean(1), 'a.b': mean(2) }, seconds: { generate: mean(2) } },
  },
  judged: { na: 'No model judged these conversations.' },
};

const check = (text: string, card: unknown = CARD) => checkGate(card, parse(text), { card: 'CARD.json', require: 'FILE.toml' });
const met = (text: string) => check(text).map(({ met }) => met);

describe('requirements', () => {
  test('are compared with the value or with an end of the interval; a limit is met by itself', () => {
    const at = (requirement: string) => met(`[outcome]\npass_hat_1 = ${requirement}`);
    expect(at('{at_least = 0.8}')).toEqual([true]);
    expect(at('{at_least = 0.8, bound = "low"}')).toEqual([false]);
    expect(at('{at_least = 0.7, bound = "low"}')).toEqual([true]);
    expect(at('{at_most = 0.9, bound = "high"}')).toEqual([true]);
    expect(at('{at_most = 0.85, bound = "high"}')).toEqual([false]);
    expect(at('{at_least = 0.75, at_most = 0.78}')).toEqual([false]);
  });

  test('name figures of each layer, as tables or with dots', () => {
    expect(
      check(`
        policy.clean = {at_least = 0.9}
        [policy.kept]
        not_authenticated = {at_least = 1}
        [policy.findings]
        not_authenticated = {at_most = 0}
        [operation]
        turns = {at_most = 8}
        seconds.generate = {at_most = 1.5}
        [operation.calls_by_tool]
        value = {at_most = 1}
        "a.b" = {at_most = 1}`).map(({ figure, met }) => `${figure} ${met}`),
    ).toEqual([
      'policy.clean true',
      'policy.kept.not_authenticated false',
      'policy.findings.not_authenticated false',
      'operation.turns true',
      'operation.seconds.generate false',
      'operation.calls_by_tool.value true',
      'operation.calls_by_tool.a.b false',
    ]);
  });

  test('of the sample in docs name figures of the cards of the bundled models', async () => {
    const sample = await readFile('docs/gate.toml', 'utf8');
    for (const name of Object.keys(CARDS)) {
      const card = JSON.parse(await readFile(`${CARD_FOLDER}/${name}.json`, 'utf8')) as unknown;
      expect(check(sample, card), name).toHaveLength(8);
    }
  });

  test('on a figure that is not applicable are unmet, unless they say otherwise', () => {
    for (const figure of [
      'outcome.damaged_rows',
      'policy.kept.never',
      'safety.clean',
      'recovery.kept.tool_failure',
      'recovery.findings.refusal',
      'judged.statements',
    ]) {
      expect(met(`${figure} = {at_most = 1}`), figure).toEqual([false]);
      expect(met(`${figure} = {at_most = 1, na = "met"}`), figure).toEqual([true]);
    }
  });

  test('on a rule that had no occasion are unmet, whether the card names the rule or not', () => {
    for (const figure of ['kept.never', 'findings.never', 'kept.wrong_status', 'findings.wrong_status']) {
      const [found] = check(`policy.${figure} = {at_least = 0, at_most = 1}`);
      expect([found!.met, found!.is], figure).toEqual([false, { na: expect.stringMatching(/no occasion/i) as string }]);
      expect(met(`policy.${figure} = {at_most = 0, na = "met"}`), figure).toEqual([true]);
    }
    // A rule whose occasions are not counted has findings.
    const policy = { ...CARD.layers.policy, kept: { secret: { na: 'not counted' } }, findings: { secret: mean(0.2) } };
    const card = { ...CARD, layers: { ...CARD.layers, policy } };
    expect(check('policy.findings.secret = {at_most = 0.1}', card)).toMatchObject([{ met: false, is: { value: 0.2 } }]);
    // Nothing was counted.
    const none = { ...CARD, layers: { ...CARD.layers, outcome: { pass_hat_1: { ...share(1, 0, 1), of: 0 } } } };
    expect(check('outcome.pass_hat_1 = {at_least = 0.5}', none)).toMatchObject([{ met: false, is: { na: 'no occasion' } }]);
  });

  test('each rule of the published cards is known to the gate', async () => {
    const cards = await Promise.all(Object.keys(CARDS).map(async (name) => JSON.parse(await readFile(`${CARD_FOLDER}/${name}.json`, 'utf8')) as Scorecard)); // prettier-ignore
    for (const { layers } of cards)
      for (const name of LAYERS) {
        const layer = layers[name];
        if (!('na' in layer)) expect(RULE_NAMES[name]).toEqual(expect.arrayContaining(Object.keys(layer.kept)));
      }
  });

  test.each([
    ['outcome.pass_hat_1 = 0.8', 'outcome.pass_hat_1 is 0.8: expected a table, such as {at_least = 0.8}'],
    ['outcome = 1', 'outcome is 1: expected a table'],
    [
      'outcome.pass_hat = {at_least = 0.8}',
      'outcome.pass_hat is no figure of CARD.json (did you mean outcome.pass_hat_1?): expected outcome.pass_hat_1, ',
    ],
    ['outcom.pass_hat_1 = {at_least = 0.8}', 'outcom is no figure of CARD.json (did you mean outcome'],
    ['policy.kept.not_autenticated = {at_least = 1}', '(did you mean policy.kept.not_authenticated?)'],
    ['policy.kept.wrong_statu = {at_least = 1}', '(did you mean policy.kept.wrong_status?)'],
    [
      'safety.kept.secret_tol = {at_least = 1, na = "met"}',
      'safety.kept.secret_tol is no figure of CARD.json (did you mean safety.kept.secret_told?)',
    ],
    ['policy.kept.secret_told = {at_least = 1, na = "met"}', 'policy.kept.secret_told is no figure'],
    ['safety.cleen = {at_least = 1, na = "met"}', 'safety.cleen is no figure of CARD.json'],
    ['policy = {at_least = 1}', 'policy.at_least is no figure'],
    ['safety = {at_least = 1}', 'safety.at_least is no figure'],
    [
      'outcome.pass_hat_1 = {at_leas = 0.8}',
      'outcome.pass_hat_1.at_leas is unknown (did you mean at_least?): expected at_least, at_most, bound, na',
    ],
    [
      'outcome.pass_hat_1 = {at_least = 80}',
      'outcome.pass_hat_1.at_least is 80: expected a number from 0 to 1, because the figure is a share',
    ],
    ['outcome.pass_hat_1 = {at_least = nan}', 'outcome.pass_hat_1.at_least is NaN: expected a number'],
    ['operation.turns = {at_most = "8"}', 'operation.turns.at_most is "8": expected a number'],
    [
      'operation.turns = {at_most = 8, bound = "high"}',
      'operation.turns.bound is "high", but the figure has no interval: expected "value"',
    ],
    ['outcome.pass_hat_1 = {at_least = 0.8, bound = "lo"}', 'bound is "lo" (did you mean low?): expected value, low, high'],
    ['outcome.pass_hat_1 = {at_least = 0.8, na = true}', 'outcome.pass_hat_1.na is true: expected "met" or "unmet"'],
    ['outcome.pass_hat_1 = {bound = "low"}', 'outcome.pass_hat_1 has no limit: expected at_least or at_most'],
    ['outcome.pass_hat_1 = {}', 'outcome.pass_hat_1 has no limit: expected at_least or at_most'],
    ['outcome.damaged_rows = {}', 'outcome.damaged_rows has no limit'],
    ['outcome.pass_hat_1 = {at_least = 0.9, at_most = 0.8}', 'has at_least 0.9 and at_most 0.8: no figure can meet both'],
    ['[outcome]', 'FILE.toml: the file has no requirement: expected a line such as'],
    ['', 'FILE.toml: the file has no requirement'],
  ])('that are wrong name the field: %s', (text, message) => {
    expect(() => check(text)).toThrow(message);
  });

  test.each([
    [{}, 'CARD.json: version is missing: expected 1'],
    [[], 'CARD.json: the file is []: expected a scorecard'],
    [{ ...CARD, version: 2 }, 'CARD.json: version is 2: expected 1'],
    [{ format: 'mua-reliability-card', version: 1 }, 'CARD.json: format is "mua-reliability-card": expected a scorecard'],
    [{ version: 1 }, 'CARD.json: layers is missing'],
    [{ version: 1, layers: {} }, 'CARD.json: layers is {}: expected figures'],
    [
      { version: 1, layers: { outcome: { pass_hat_1: { value: '0.9' } } } },
      'CARD.json: outcome.pass_hat_1.value is "0.9": expected a number',
    ],
    [
      { version: 1, layers: { outcome: { pass_hat_1: { value: null } } } },
      'CARD.json: outcome.pass_hat_1.value is null: expected a number',
    ],
    [
      { version: 1, layers: { outcome: { pass_hat_1: { value: 1, low: 'a' } } } },
      'CARD.json: outcome.pass_hat_1.low is "a": expected a number',
    ],
  ])('do not read a wrong card: %j', (card, message) => {
    expect(() => check('outcome.pass_hat_1 = {at_least = 0.8}', card)).toThrow(message);
  });
});

describe('the command', () => {
  let folder: string;
  const path = (name: string) => join(folder, name);
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mua-gate-'));
    await writeFile(path('card.json'), JSON.stringify(CARD));
    await writeFile(path('met.toml'), 'outcome.pass_hat_1 = {at_least = 0.8}\n');
    await writeFile(path('unmet.toml'), 'outcome.pass_hat_1 = {at_least = 0.8, bound = "low"}\nsafety.clean = {at_least = 0.9}\n');
    await writeFile(path('broken.toml'), 'outcome.pass_hat_1 = {at_least\n');
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('exits with 0, 1 or 2, and prints the unmet lines', async () => {
    const gate = (file: string, ...more: string[]) => mua('gate', path('card.json'), '--require', path(file), ...more);
    const [good, bad, json, broken] = await Promise.all([
      gate('met.toml'),
      gate('unmet.toml'),
      gate('unmet.toml', '--json'),
      gate('broken.toml'),
    ]);
    expect([good.code, good.stdout]).toEqual([0, '1 of 1 requirements are met\n']);
    expect([bad.code, bad.stdout.split('\n')]).toEqual([
      1,
      [
        'unmet: outcome.pass_hat_1 is 80.0 % (70.0 % to 90.0 %) of 100 conversations, low end 0.700: expected at least 0.8',
        'unmet: safety.clean is not applicable (no rules): expected at least 0.9',
        '0 of 2 requirements are met',
        '',
      ],
    ]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ met: false, requirements: [{ figure: 'outcome.pass_hat_1', met: false }, {}] });
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain('broken.toml: line 1: is not TOML');
  });

  test('reads the card that mua report writes of conversations without an outcome', async () => {
    const chat = {
      messages: [
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: 'Hello.' },
      ],
    };
    await writeFile(path('chats.jsonl'), `${JSON.stringify(chat)}\n`);
    const made = await mua('report', path('chats.jsonl'), '--card', path('chats.json'));
    expect(made).toMatchObject({ code: 0, stderr: expect.any(String) as string });
    const card = JSON.parse(await readFile(path('chats.json'), 'utf8')) as Scorecard;
    expect(card.layers.outcome.pass_hat_1).toEqual({ na: 'No conversation has an outcome.' });
    expect(card.layers.operation.infrastructure_failures).toMatchObject({ value: 0, of: 1 });
    const gated = await mua('gate', path('chats.json'), '--require', path('met.toml'));
    expect(gated).toMatchObject({ code: 1, stdout: expect.stringContaining('(No conversation has an outcome.)') as string });
  });
});
