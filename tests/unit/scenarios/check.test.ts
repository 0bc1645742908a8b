/** Each check of `mua scenario check` finds the scenario that was spoilt for it. */
import { expect, it } from 'vitest';
import { jobs } from '../../../src/domains/jobs/index.ts';
import jobsFile from '../../../src/domains/jobs/scenario.json';
import { rentals } from '../../../src/domains/rentals/index.ts';
import rentalsFile from '../../../src/domains/rentals/scenario.json';
import { rooms } from '../../../src/domains/rooms/index.ts';
import roomsFile from '../../../src/domains/rooms/scenario.json';
import { type CheckName, checkScenarioTasks } from '../../../src/scenarios/check.ts';
import { checkScenario } from '../../../src/scenarios/read.ts';
import { blueprintsAt } from '../../../src/scenarios/tasks.ts';
import { type Draft, readToy } from '../../support/toy-scenario.ts';

const findings = async (change: (toy: Draft) => void) => (await checkScenarioTasks(readToy(change), 12)).findings;

const forbids = (shown: string) => [
  { tools: ['give_up'], when: `shown.exists(s, s.args.locker == args.locker && ${shown})`, says: 'A locker of size 3 cannot be given up.' },
];

it('finds nothing in a sound scenario', async () => {
  expect(await findings(() => {})).toEqual([]);
  expect(await findings((toy) => (toy.forbids = forbids('s.result.size == 3')))).toEqual([]);
});

const SPOILT: [CheckName, string, (toy: Draft) => void, string][] = [
  ['drawn', 'large_stays', (toy) => (toy.blueprints[1].pick.locker.where = 'row.size == 4'), 'no world of'],
  ['worlds', 'give_up', (toy) => (toy.tables.locker.invariants[0].check = 'row.rent < 7.0'), 'the rent is at most 10'],
  ['gold', 'give_up', (toy) => (toy.blueprints[0].gold[0].arguments.locker = 'person.id'), 'answers “Error: no locker person_'],
  ['empty', 'rent_two', (toy) => ((toy.blueprints[2].gold[0].if = toy.blueprints[2].gold[1].if = 'size > 9'), (toy.blueprints[2].tell = ['""'])), 'does and says nothing'],
  ['needed', 'give_up', (toy) => toy.blueprints[0].gold.push({ tool: 'raise_rent_by_none', arguments: {} }), 'the reward is 1 without raise_rent_by_none'],
  ['reads', 'give_up', (toy) => (toy.blueprints[0].reads[0].arguments.locker = '"locker_0"'), 'get_locker {"locker":"locker_0"} answers “Error: no locker locker_0”'],
  ['returns', 'give_up', (toy) => (toy.tools[0].returns = { type: 'object', properties: { size: { type: 'string' } } }), 'get_locker {"locker":"locker_'],
  ['rounded', 'give_up', (toy) => (toy.blueprints[0].tell = ['0.1 * 3.0']), 'says 0.30000000000000004: expected at most ten decimals'],
  ['tempts', 'give_up', (toy) => (toy.blueprints[0].tempts[0].arguments.locker = '"locker_0"'), 'give_up {"locker":"locker_0"} (wrong_record) answers'],
  ['tempts', 'give_up', (toy) => (toy.blueprints[0].tempts[0].arguments.locker = 'locker.id'), 'the reward is 1 after give_up'],
  ['tempts', 'give_up', (toy) => (toy.blueprints[0].tempts[0] = { ...toy.blueprints[0].gold[0], kind: 'extra_write' }), '(extra_write) answers'],
  ['forbids', 'give_up', (toy) => (toy.forbids = forbids('s.result.size < 3')), 'is right, but a condition says that it breaks “A locker of size 3'],
  ['forbids', 'large_stays', (toy) => (toy.forbids = forbids('s.result.size > 3')), 'is forbidden, but no condition finds it after the reads'],
  ['told', 'rent_two', (toy) => (toy.blueprints[2].slots.size.says = ['of the usual size']), 'of size is neither in the instruction nor in a read'],
  ['tool_names', 'large_stays', (toy) => (toy.blueprints[1].wish = ['Call give_up for my locker.']), 'the instruction names the tool give_up'],
  ['hostile', 'get_locker', (toy) => (toy.tools[0].requires = []), 'get_locker'],
  ['hostile', 'rent_locker', (toy) => (toy.tools[2].requires[1].check = '9 / args.size < 100'), 'rent_locker'],
]; // prettier-ignore

it.each(SPOILT)('%s: %s', async (check, of, change, text) => {
  const found = await findings((toy) => {
    toy.tools.push({
      name: 'raise_rent_by_none',
      description: 'Changes nothing.',
      kind: 'write',
      parameters: {},
      result: '"ok"',
      says: 'change nothing',
    });
    change(toy);
  });
  expect(found).toContainEqual(expect.objectContaining({ check, of, text: expect.stringContaining(text) }));
});

it('names the error of an expression, and not that no rows fit', async () => {
  const found = await findings((toy) => (toy.blueprints[1].pick.locker.where = 'row.size'));
  expect([...new Set(found.map(({ check }) => check))]).toEqual(['gold']);
  expect(found[0]!.text).toContain('expected true or false');
});

it.each([
  [rooms, roomsFile, [7, 10], 1],
  // With these seeds, some tempting calls fail because their record exists already: the scenario leaves these calls out.
  [jobs, jobsFile, [7, 10], 6],
  [jobs, jobsFile, [7, 10], 7],
  [rentals, rentalsFile, [7, 11], 9],
])('finds nothing in a bundled scenario, whose levels are those of the module', async (module, file, toolsOfLevels, seed) => {
  const own = checkScenario(file, 'scenario.json');
  expect(module.levels.map(({ name, intents }) => [name, [...intents!].sort()])).toEqual(
    own.scenario.levels.map((level) => [level, blueprintsAt(own, level).map(({ name }) => name).sort()]), // prettier-ignore
  );
  expect([module.name, module.title, module.transfers]).toEqual([own.scenario.name, own.scenario.title, ['transfer_to_human']]);
  const { findings: found, levels } = await checkScenarioTasks(own, 27, seed);
  expect(found).toEqual([]);
  expect(levels.map(({ tools }) => tools)).toEqual(toolsOfLevels);
  // A small model has room for so much at nano.
  expect(Math.max(...levels[0]!.blueprints.map(({ longest_result }) => longest_result))).toBeLessThanOrEqual(300);
});
