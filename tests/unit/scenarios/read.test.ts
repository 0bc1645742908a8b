/** Scenario files with one fault each: the error names the place, the value and what is expected. */
import { expect, it } from 'vitest';
import { readScenario } from '../../../src/scenarios/read.ts';
import { type Draft, readToy, toyScenario } from '../../support/toy-scenario.ts';

it('reads a sound file, and gives equal files equal hashes', () => {
  const own = readToy();
  expect(own.scenario.name).toBe('lockers');
  const reversed = Object.fromEntries(Object.entries(toyScenario()).reverse());
  expect(readScenario(JSON.stringify(reversed, null, 2), 'other.json').hash).toBe(own.hash);
  expect(readToy((toy) => (toy.policy[0] += '!')).hash).not.toBe(own.hash);
});

it('puts a fact in the place that names it', () => {
  const shared = readToy((toy) => {
    toy.facts = { which: toy.blueprints[0].slots.locker };
    toy.blueprints[0].slots.locker = 'which';
  });
  expect(shared.scenario.blueprints).toEqual(readToy().scenario.blueprints);
});

it.each([
  ['no JSON', '{', 'toy.json: is no JSON'],
  ['a list', '[]', 'toy.json: is []: expected an object'],
  ['too long', `"${'x'.repeat(2_000_001)}"`, 'toy.json: has 2000003 characters: expected at most 2000000'],
  ['nested deeply', '['.repeat(50_000), 'toy.json: is no JSON'],
])('refuses a file: %s', (_, text, message) => {
  expect(() => readScenario(text, 'toy.json')).toThrow(message);
});

it.each([
  ['a level of the tables', '{"tables": {"a": {}, "b": {}, "a": {}}}', 'tables.a'],
  ['a key in another spelling', '{"n": 1, "\\u006e" : 2}', 'n'],
  ['behind lists, and texts with marks', '{"x": [1, {"y\\"}": "{,:\\\\"}, [2, {"a": {"b": 1}, "c": ["a", "a"], "a": 0}]]}', 'x[2][1].a'],
  ['a key that objects inherit', '{"__proto__": 1, "toString": 1, "__proto__": 2}', '__proto__'],
])('refuses a key that stands twice: %s', (_, text, path) => {
  expect(() => readScenario(text, 'toy.json')).toThrow(`toy.json: ${path}: stands twice in its object: expected each key once`);
});

it('accepts the same key in several objects, and long texts', () => {
  const text = JSON.stringify({ ...toyScenario(), title: '\n'.repeat(900_000) });
  expect(() => readScenario(text, 'toy.json')).toThrow('toy.json: title: is ');
});

it('reads a file with a byte order mark', () => {
  expect(readScenario(`\ufeff${JSON.stringify(toyScenario())}`, 'toy.json').scenario.name).toBe(toyScenario().name);
});

it('refuses a value that is nested too deeply', () => {
  const returns = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  const text = JSON.stringify(toyScenario()).replace('"result":', `"returns":${returns},"result":`);
  expect(() => readScenario(text, 'toy.json')).toThrow('toy.json: is nested too deeply');
});

const FAULTS: [string, (toy: Draft) => void, string][] = [
  // The form.
  ['another format', (toy) => (toy.format = 'x'), 'format: is "x": expected "mua-scenario"'],
  ['an unknown field', (toy) => (toy.polcy = []), 'has the unknown field "polcy" (did you mean policy?)'],
  ['an unknown field of a tool', (toy) => (toy.tools[0].result_ = ''), 'tools[0]: has the unknown field "result_" (did you mean result?): expected only name, '],
  ['a list for the tables', (toy) => (toy.tables = []), 'tables: is []: expected an object'],
  ['a word of CEL as a field', (toy) => (toy.tables.locker.fields.for = { type: 'string' }), 'tables.locker.fields.for: has a wrong name: expected another name, because CEL or JavaScript reserves'],
  ['a number as the schema of results', (toy) => (toy.tools[0].returns = 5), 'tools[0].returns: is 5: expected a JSON Schema'],
  ['a name with a capital letter', (toy) => (toy.name = 'Lockers'), 'name: is "Lockers": expected a name'],
  ['a hyphen', (toy) => (toy.name = 'my-lockers'), 'name: is "my-lockers": expected a name'],
  ['no levels', (toy) => (toy.levels = []), 'levels: is []: expected at least 1'],
  ['a level twice', (toy) => (toy.levels = ['easy', 'hard', 'easy']), 'levels: is "easy": expected each name once'],
  ['a word of CEL as a name', (toy) => (toy.blueprints[0].pick.in = toy.blueprints[0].pick.other), 'blueprints[0].pick'],
  ['an unknown type', (toy) => (toy.tables.locker.fields.size.type = 'int'), 'tables.locker.fields.size.type: is "int": expected'],
  ['two kinds of draw', (toy) => (toy.tables.locker.fields.size.draw.from = [1]), 'expected exactly one of id, from'],
  ['min above max', (toy) => (toy.tables.locker.fields.size.draw.min = 9), 'expected min to be at most max'],
  ['min without max', (toy) => delete toy.tables.locker.fields.size.draw.max, 'expected min and max together'],
  ['too many of some', (toy) => (toy.tables.locker.fields.tags.draw.most = 4), 'expected some, least and most together'],
  ['an unknown near-miss', (toy) => (toy.blueprints[0].tempts[0].kind = 'wrong'), 'blueprints[0].tempts[0].kind: is "wrong": expected'],
  ['a fact that is no text', (toy) => (toy.blueprints[0].slots.locker = 3), 'blueprints[0].slots.locker'],
  ['an unknown fact', (toy) => { toy.facts = { locker: toy.blueprints[0].slots.locker }; toy.blueprints[0].slots.locker = 'lockr'; }, 'blueprints[0].slots.locker: unknown fact "lockr" (did you mean locker?)'],
  // Tables.
  ['a key that is no field', (toy) => (toy.tables.locker.key = 'idd'), 'tables.locker.key: unknown field "idd" (did you mean id?)'],
  ['a key of another type', (toy) => (toy.tables.person.fields.id.type = 'integer'), 'tables.person.fields.id.type: is "integer": expected "string"'],
  ['a reference to no table', (toy) => (toy.tables.locker.fields.owner.ref = 'persons'), 'unknown table "persons" (did you mean person?)'],
  ['a row of a later table', (toy) => (toy.tables.person.fields.name.draw = { row: 'locker' }), 'unknown table before this one "locker"'],
  ['a draw of another type', (toy) => (toy.tables.locker.fields.size.draw = { id: 'x' }), 'expected another draw than id, because the type is integer'],
  ['a value of another type', (toy) => (toy.tables.locker.fields.size.draw = { from: [1, 'x'] }), 'tables.locker.fields.size.draw: is "x": expected a whole number'],
  ['an unknown level of a count', (toy) => (toy.tables.locker.count.esy = 3), 'tables.locker.count: unknown level "esy" (did you mean easy?)'],
  ['generated rows without a key', (toy) => delete toy.tables.locker.fields.id.draw, 'tables.locker.fields.id.draw: is missing: expected how a key is drawn'],
  ['a fixed row with a wrong type', (toy) => (toy.tables.locker.rows[0].size = '1'), 'tables.locker.rows[0].size: is "1": expected a whole number'],
  ['two fixed rows with one key', (toy) => (toy.tables.person.rows[1].id = 'person_1'), 'tables.person.rows[1].id: is "person_1": expected a key'],
  ['a field of a row that comes later', (toy) => (toy.tables.locker.fields.owner.draw = { cel: 'string(row.rent)' }), 'unknown name after "row." "rent"; known: id'],
  ['an invariant with an unknown field', (toy) => (toy.tables.locker.invariants[0].check = 'row.rnt > 0.0'), 'tables.locker.invariants[0].check'],
  // Tools.
  ['an unknown level of a tool', (toy) => (toy.tools[0].from = 'nano'), 'tools[0].from: unknown level "nano"; known: easy, hard'],
  ['an unknown parameter', (toy) => (toy.tools[0].requires[0].check = 'args.lockr == ""'), 'tools[0].requires[0].check: "args.lockr == \\"\\"": unknown name after "args." "lockr" (did you mean locker?)'],
  ['an unknown table', (toy) => (toy.tools[0].result = 'size(tables.lockers)'), 'unknown name after "tables." "lockers" (did you mean locker?)'],
  ['an unknown variable', (toy) => (toy.tools[0].result = 'arg.locker'), 'tools[0].result: "arg.locker": Unknown variable: arg; known: args, tables'],
  ['an unknown function', (toy) => (toy.tools[0].result = 'last(tables.locker)'), 'tools[0].result'],
  ['no CEL', (toy) => (toy.tools[0].result = '1 +'), 'tools[0].result: "1 +"'],
  ['an unknown name in an error', (toy) => (toy.tools[0].requires[0].error = 'no {lockr}'), 'tools[0].requires[0].error: unknown name "lockr" (did you mean locker?)'],
  ['a loose brace', (toy) => (toy.tools[0].requires[0].error = 'no {locker'), 'expected braces only around names'],
  ['a read that writes', (toy) => (toy.tools[0].writes = [{ table: 'locker', delete: 'args.locker' }]), 'tools[0].writes: is 1: expected no writes'],
  ['a write without says', (toy) => delete toy.tools[1].says, 'tools[1].says: is missing: expected how people say this write'],
  ['a write of an unknown table', (toy) => (toy.tools[3].writes[0].table = 'lock'), 'tools[3].writes[0].table: unknown table "lock" (did you mean locker?)'],
  ['a write of an unknown field', (toy) => (toy.tools[2].writes[0].insert.sizes = '1'), 'tools[2].writes[0].insert: unknown field "sizes" (did you mean size?)'],
  ['an insert without a key', (toy) => delete toy.tools[2].writes[0].insert.id, 'tools[2].writes[0].insert.id: is missing: expected the key of the new row'],
  ['an update of the key', (toy) => (toy.tools[1].writes[0].set.id = '"x"'), 'tools[1].writes[0].set.id: is "\\"x\\"": expected other fields'],
  ['an update without set', (toy) => delete toy.tools[1].writes[0].set, 'expected update and set together'],
  ['it without each', (toy) => delete toy.tools[1].writes[0].each, 'Unknown variable: it'],
  ['two tools of one name', (toy) => (toy.tools[1].name = 'give_up'), 'tools: is "give_up": expected each name once'],
  // Blueprints.
  ['no blueprint at a level', (toy) => toy.blueprints.forEach((own: Draft) => (own.from = 'hard')), 'levels: is "easy": expected a level with a blueprint'],
  ['a pick of an unknown table', (toy) => (toy.blueprints[0].pick.locker.table = 'lokker'), 'blueprints[0].pick.locker.table: unknown table "lokker"'],
  ['a pick that names a later one', (toy) => (toy.blueprints[0].pick.locker.where = 'other.id == row.id'), 'Unknown variable: other'],
  ['an unknown field of a pick', (toy) => (toy.blueprints[0].slots.locker.value = 'locker.ids'), 'unknown name after "locker." "ids" (did you mean id?)'],
  ['an unknown name in a wording', (toy) => (toy.blueprints[0].slots.locker.says[1] = 'it is {vlue}'), 'blueprints[0].slots.locker.says[1]: unknown name "vlue" (did you mean value?)'],
  ['a value where the wish has none', (toy) => (toy.blueprints[0].wish[0] = 'Take {value}.'), 'blueprints[0].wish[0]: unknown name "value"'],
  ['a row without a field in a wording', (toy) => (toy.blueprints[1].refuse = 'I keep {person}.'), 'expected {person.FIELD}, where FIELD is one of id, name'],
  ['a change of an unknown slot', (toy) => (toy.blueprints[0].change.slot = 'lockers'), 'blueprints[0].change.slot: unknown slot "lockers" (did you mean locker?)'],
  ['a first value from an unknown table', (toy) => (toy.blueprints[0].change.first = { row: 'lokker' }), 'blueprints[0].change.first.row: unknown table "lokker" (did you mean locker?)'],
  ['a new key as a first value', (toy) => (toy.blueprints[0].change.first = { id: 'x' }), 'blueprints[0].change.first: is {"id":"x"}: expected another draw than id'],
  ['a forbidden read', (toy) => (toy.forbids = [{ tools: ['get_locker'], when: 'true', says: 'Ask before' }]), 'forbids[0].tools[0]: is "get_locker": expected a tool of the kind write'],
  ['a forbidden unknown argument', (toy) => (toy.forbids = [{ tools: ['give_up'], when: 'args.lockr == ""', says: 'Ask before' }]), 'forbids[0].when: "args.lockr == \\"\\"": unknown name after "args." "lockr" (did you mean locker?)'],
  ['rows in a condition of the transcript', (toy) => (toy.forbids = [{ tools: ['give_up'], when: 'size(tables.locker) > 0', says: 'Ask before' }]), 'Unknown variable: tables; known: args, shown'],
  ['a sentence that the policy lacks', (toy) => (toy.forbids = [{ tools: ['give_up'], when: 'true', says: 'Never.' }]), 'forbids[0].says: is "Never.": expected words of the policy'],
  ['an unknown tool', (toy) => (toy.blueprints[0].gold[0].tool = 'giveup'), 'blueprints[0].gold[0].tool: unknown tool "giveup" (did you mean give_up?)'],
  ['an unknown argument', (toy) => (toy.blueprints[0].gold[0].arguments.lock = '1'), 'unknown parameter of give_up "lock" (did you mean locker?)'],
  ['a missing argument', (toy) => delete toy.blueprints[0].gold[0].arguments.locker, 'blueprints[0].gold[0].arguments.locker: is missing: expected a value, because give_up needs it'],
  ['a tool of a later level', (toy) => (toy.tools[3].from = 'hard'), 'blueprints[0].gold[0].tool: is "give_up": expected a tool of level easy'],
  ['a gold read', (toy) => (toy.blueprints[0].gold[0] = toy.blueprints[0].reads[0]), 'blueprints[0].gold[0].tool: is "get_locker": expected a tool of the kind write or transfer'],
  ['a gold write beside refuse', (toy) => (toy.blueprints[1].gold = toy.blueprints[0].gold), 'because refuse says that no row changes'],
  ['a write as a read', (toy) => (toy.blueprints[0].reads = toy.blueprints[0].gold), 'blueprints[0].reads[0].tool: is "give_up": expected a tool of the kind read'],
  ['a name in use', (toy) => (toy.blueprints[2].values.person = { from: [1] }), 'blueprints[2].values: is "person": expected a name that is not in use'],
  ['a type of CEL as a name', (toy) => (toy.blueprints[2].values.list = { from: [1] }), 'blueprints[2].values: is "list": expected a name that is not in use'],
  ['an id as a value', (toy) => (toy.blueprints[2].values.size = { id: 'x' }), 'expected another draw than id'],
  ['a reserved word as an intent', (toy) => (toy.blueprints[0].name = 'void'), 'blueprints[0].name: is "void": expected another name, because CEL or JavaScript reserves this one'],
  ['a hyphen in an intent', (toy) => (toy.blueprints[0].name = 'give-up'), 'blueprints[0].name: is "give-up": expected a name'],
]; // prettier-ignore

it.each(FAULTS)('refuses %s', (_, change, message) => {
  expect(() => readToy(change)).toThrow(message);
  expect(() => readToy(change)).toThrow(expect.objectContaining({ name: 'InputError' }));
});

it.each([
  [{ type: 'text' }, '.type: is "text": expected string, number'],
  [{ type: 'object', properties: { rent: { type: 'nubmer' } } }, '.properties.rent.type: is "nubmer": expected string, number'],
  [{ type: 'array', items: 3 }, '.items: is 3: expected a JSON Schema'],
  [{ type: 'object', properties: {}, required: 'rent' }, '.required: is "rent": expected a list of names'],
  [{ anyOf: [{ type: 'string' }, { enum: 'x' }] }, '.anyOf[1].enum: is "x": expected a list of values'],
  [{ $ref: '#/nowhere' }, ': is {"$ref":"#/nowhere"}: expected a JSON Schema that can be checked'],
  [{ type: 'string', pattern: '(' }, '.pattern: is "(": expected a regular expression (Invalid regular expression'],
  [{ not: { type: 'string' } }, ': is {"not":{"type":"string"}}: expected a JSON Schema that can be checked, without not'],
  [
    { type: 'object', properties: { a: { if: {} } } },
    '.properties.a: is {"if":{}}: expected a JSON Schema that can be checked, without if',
  ],
  ['a text', ': is "a text": expected a JSON Schema'],
])('refuses a tool that returns no JSON Schema: %j', (returns, message) => {
  expect(() => readToy((toy) => (toy.tools[0].returns = returns))).toThrow(`toy.json: tools[0].returns${message}`);
});

it.each([{ $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }, { anyOf: [{ not: {} }, { $ref: '#' }] }])(
  'reads a tool whose result has another form: %j',
  (returns) => {
    expect(readToy((toy) => (toy.tools[0].returns = returns)).scenario.tools[0]!.returns).toEqual(returns);
  },
);
