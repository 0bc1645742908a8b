/** A visitor's own scenarios in the browser: stored, played by other threads, shared with a run, and deleted. */
import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { storeRun } from '../../../src/app/library/import-run.ts';
import { collectRun } from '../../../src/app/library/collect-run.ts';
import { BrowserSource } from '../../../src/app/library/browser-source.ts';
import { Labels } from '../../../src/app/library/labels.ts';
import { BenchmarkDatabase } from '../../../src/benchmarks/import/database.ts';
import { levelsOf } from '../../../src/domains/registry.ts';
import { createEnvironments } from '../../../src/environments/index.ts';
import { readRunBundle } from '../../../src/exchange/run-bundle.ts';
import { writeRunBundle } from '../../../src/exchange/write-run-bundle.ts';
import { RunDatabase } from '../../../src/storage/database.ts';
import { OwnScenarios, ScenarioDatabase } from '../../../src/storage/own-scenarios.ts';
import { WorldBrowser } from '../../../src/worlds/browser.ts';
import { type Draft, toyScenario } from '../../support/toy-scenario.ts';

const contacts = JSON.parse(readFileSync('src/domains/contacts/scenario.json', 'utf8')) as { host: Record<string, unknown> };
let opened = 0;
/** A browser's storage. Each thread of a test opens it anew. */
function storage() {
  const name = `own-${++opened}`;
  const runs = new RunDatabase(`${name}-runs`);
  const thread = () => new OwnScenarios(new ScenarioDatabase(name), () => runs);
  return {
    runs,
    thread,
    worlds: new WorldBrowser(new BenchmarkDatabase(`${name}-b`), `${name}-e`, thread()),
    scenarios: new ScenarioDatabase(name),
  };
}

function file(change: (toy: Draft) => void = () => {}): Blob {
  const toy = toyScenario();
  change(toy);
  return new Blob([JSON.stringify(toy)]);
}
/** A world on an MCP server elsewhere. */
function hosted(place: object): Blob {
  const { here: _here, command: _command, env: _env, ...host } = contacts.host;
  return new Blob([JSON.stringify({ ...contacts, name: 'strange', host: { ...host, ...place } })]);
}
const ref = (name: string) => ({ name, split: '', seed: null, number: null, task: '' });

test('a file is a world with its tables, tools, policy and tasks, and is exported as it was', async () => {
  const { worlds } = storage();
  const checked: number[] = [];
  const { name, levels, sha256 } = await worlds.importScenario(file(), 'lockers.json', (done) => void checked.push(done));
  expect(name).toBe(`lockers@${sha256.slice(0, 8)}`);
  expect(checked.at(-1)).toBeGreaterThanOrEqual(20);
  // The file has two persons and three lockers; six more lockers are drawn at the level easy, and nine at hard.
  const person = { table: 'person', count: 2 };
  expect(levels).toEqual([
    { name: 'easy', rows: [person, { table: 'locker', count: 9 }] },
    { name: 'hard', rows: [person, { table: 'locker', count: 12 }] },
  ]);
  const info = await worlds.info(ref(`${name}-hard`));
  expect(info.tools.map((tool) => tool.function.name)).toContain('raise_rent');
  expect(info.policy).toContain('- A locker of size 3 cannot be given up.');
  const [task] = await worlds.tasks(ref(`${name}-hard`), '', 0, 1);
  expect(task!.id.startsWith(`${name}/hard/train/1/`)).toBe(true);
  const { verdict } = await worlds.runGold({ ...ref(`${name}-hard`), task: task!.id });
  expect(verdict.reward).toBe(1);
  expect(await worlds.scenarioText(name)).toBe(await file().text());
  expect((await worlds.list()).some((world) => world.name.includes('@'))).toBe(false);
});

test('two scenarios of one name are two worlds, and the same scenario in another order of fields is the same', async () => {
  const { worlds } = storage();
  const one = await worlds.importScenario(file(), 'a.json');
  const reversed = new Blob([JSON.stringify(Object.fromEntries(Object.entries(toyScenario() as object).reverse()), null, 2)]);
  expect(await worlds.importScenario(reversed, 'b.json')).toEqual(one);
  const two = await worlds.importScenario(
    file((toy) => (toy.policy[0] = 'Never ask.')),
    'c.json',
  );
  expect((await worlds.ownScenarios()).map(({ name }) => name).sort()).toEqual([one.name, two.name].sort());
  const policies = await Promise.all([one, two].map(async ({ name }) => (await worlds.info(ref(name))).policy.split('\n')[0]));
  expect(policies).toEqual(['- Ask before you change anything.', '- Never ask.']);
});

test.each([
  ['no JSON', new Blob(['{']), 'x.json: is no JSON'],
  ['too large', { size: 100_000_000, text: () => Promise.reject(new Error('was read')) } as unknown as Blob, 'x.json: has 100000000 bytes'],
  ['a wrong field', file((toy) => (toy.levels = 'all')), 'x.json: levels'],
  ['a table that is no name', new Blob([JSON.stringify(toyScenario()).replace('"person":{', '"__proto__":{')]), 'x.json: '],
  ['the name of a domain', file((toy) => (toy.name = 'retail')), 'x.json: name: is "retail", the name of a built-in domain'],
  ['unsound tasks', file((toy) => (toy.blueprints[1].wish = ['Use give_up.'])), 'checks of its tasks fail: tool_names: easy: large_stays'],
  [
    'a program',
    hosted({ command: ['rm', '-rf', '/'] }),
    'x.json: host: needs the program "rm -rf /": expected "here", a server inside the page',
  ],
  ['an address', hosted({ url: 'https://example.com/mcp', files: undefined }), 'x.json: host: needs the server "https://example.com/mcp"'],
])('a file with %s is refused, and nothing is stored', async (_, blob, message) => {
  const { worlds } = storage();
  await expect(worlds.importScenario(blob, 'x.json')).rejects.toThrow(message);
  expect(await worlds.ownScenarios()).toEqual([]);
});

test('another thread plays it by its name, until it is deleted; a run that needs it keeps it', async () => {
  const { worlds, thread, runs } = storage();
  const { name } = await worlds.importScenario(
    file((toy) => (toy.title = 'Played')),
    'played.json',
  );
  const other = thread();
  const environments = createEnvironments({ domains: [], find: (wanted) => other.find(wanted), inMemory: true });
  const [task] = await environments.tasks({ domain: name, level: 'easy', split: 'train', seed: 1, count: 1 });
  const episode = await environments.start(task!);
  for (const call of task!.actions) await environments.call(episode, call);
  expect((await environments.verify(episode, [])).reward).toBeTypeOf('number');
  expect(levelsOf(name)).toEqual(['easy', 'hard']);

  await runs.runs.add({ id: 'r', name: 'brisk-otter', config: { domain: name } } as never);
  await expect(worlds.removeScenario(name)).rejects.toThrow(`the run "brisk-otter" needs the scenario ${name}: delete that first`);
  expect(await worlds.ownScenarios()).toHaveLength(1);
  await runs.runs.delete('r');
  await worlds.removeScenario(name);
  await other.learn();
  expect(levelsOf(name)).toEqual([]);
  await expect(environments.tasks({ domain: name, level: 'easy', split: 'train', seed: 1, count: 1 })).rejects.toThrow(
    `domain: '${name}' is unknown`,
  );
  await expect(worlds.info(ref(name))).rejects.toThrow(`there is no '${name}'`);
});

test('our worlds need no storage of scenarios', async () => {
  const own = new OwnScenarios(new ScenarioDatabase('never-read'));
  own.learn = () => Promise.reject(new Error('the storage cannot be read'));
  const worlds = new WorldBrowser(new BenchmarkDatabase('our-worlds'), 'our-worlds-e', own);
  expect((await worlds.info(ref('library-nano'))).title).toBe('Library, nano');
});

test('a run that only checks itself with the scenario keeps it too', async () => {
  const { worlds, runs } = storage();
  const { name } = await worlds.importScenario(
    file((toy) => (toy.title = 'Checked with')),
    'checked.json',
  );
  await runs.runs.add({ id: 'r', name: 'calm-heron', config: { domain: 'library', val_domains: `library, ${name}` } } as never);
  await expect(worlds.removeScenario(name)).rejects.toThrow(`the run "calm-heron" needs the scenario ${name}: delete that first`);
});

test('a stored scenario with the name of a domain that came later says so, and does not hide the others', async () => {
  const { worlds, scenarios } = storage();
  const { name } = await worlds.importScenario(
    file((toy) => (toy.title = 'Beside')),
    'beside.json',
  );
  const text = await file((toy) => (toy.name = 'library')).text();
  const later = { name: 'library@00000000', title: 'Mine', levels: [{ name: 'easy', intents: [] }], transfers: [] };
  await scenarios.scenarios.add({ ...later, sha256: '0'.repeat(64), file: 'mine.json', text, addedAt: 1 });
  expect(await worlds.ownScenarios()).toMatchObject([
    { name, levels: [{ name: 'easy' }, { name: 'hard' }] },
    { name: later.name, problem: expect.stringMatching(/^the stored scenario mine\.json: name: is "library", the name of a/) as string },
  ]);
  await worlds.removeScenario(later.name);
  expect(await worlds.ownScenarios()).toHaveLength(1);
});

test('a stored text that was changed is not played', async () => {
  const { worlds, scenarios, thread } = storage();
  const { name } = await worlds.importScenario(
    file((toy) => (toy.title = 'Changed')),
    'changed.json',
  );
  await worlds.removeScenario(name);
  const text = await file((toy) => (toy.title = 'Changes')).text();
  const summary = { title: 'Changed', levels: [{ name: 'easy', intents: [] }], transfers: [] };
  await scenarios.scenarios.add({ ...summary, name, sha256: '0'.repeat(64), file: 'changed.json', text, addedAt: 1 });
  await expect((await thread().find(name))!.load()).rejects.toThrow(`changed.json has the hash`);
});

test.each([
  ['a variant', { variants: [{ name: 'b', overrides: { domain: 'NAME' } }] }],
  ['the base', { base: { overrides: { val_domains: 'library, NAME' } } }],
  ['its evaluation', { evaluation: { val_domains: 'NAME' } }],
])('an experiment without a run keeps the scenario that %s names', async (where, part) => {
  const { worlds, runs } = storage();
  const { name } = await worlds.importScenario(
    file((toy) => (toy.title = `Asked by ${where}`)),
    'asked.json',
  );
  const none = { base: { overrides: {} }, variants: [{ name: 'a', overrides: {} }], evaluation: {}, results: [] };
  await runs.experiments.add({ id: 'other', name: 'Other', ...none } as never);
  const own = JSON.parse(JSON.stringify(part).replace('NAME', name)) as object;
  await runs.experiments.add({ id: 'e', name: 'Does it help?', ...none, ...own } as never);
  await expect(worlds.removeScenario(name)).rejects.toThrow(`the experiment "Does it help?" needs the scenario ${name}: delete that first`);
  await runs.experiments.delete('e');
  await worlds.removeScenario(name);
});

test.each(['of its tasks', 'of its own evaluations', 'of a later evaluation'])(
  'a run brings the scenario %s along, but no other',
  async (of) => {
    const here = storage();
    const own = new OwnScenarios();
    await own.store(await file((toy) => (toy.title = `Beside ${of}`)).text(), 'beside.json');
    const row = await own.store(await file((toy) => (toy.title = `Shared ${of}`)).text(), 'shared.json');
    const recorded = await readRunBundle(new Uint8Array(readFileSync('public/recorded/run.mua.zip')));
    const named = { 'of its tasks': { domain: row.name }, 'of its own evaluations': { val_domains: `retail,${row.name}` } }[of];
    const run = { ...recorded.run, config: { ...recorded.run.config, ...named } };
    const [played] = recorded.evaluations;
    const evaluations = named ? [] : [{ ...played!, settings: { ...played!.settings, domain: row.name } }];
    const empty = { metrics: [], rollouts: [], trajectories: [], branches: [], evaluations, trials: [], model: null };
    const id = await storeRun(here.runs, { run, ...empty }, []);
    const content = { ...(await collectRun(here.runs, new BrowserSource(here.runs, new Labels()), id)), model: null };
    expect(content.scenarios).toEqual([row.text]);
    const bundle = new Uint8Array(await (await writeRunBundle(content, { appVersion: '0' })).arrayBuffer());

    const there = storage();
    await new ScenarioDatabase().scenarios.clear();
    const read = await readRunBundle(bundle);
    const other = await file((toy) => (toy.title = 'Another')).text();
    await expect(storeRun(there.runs, { ...read, scenarios: [row.text, other] }, [])).rejects.toThrow(
      /^scenario-2\.json: is the scenario lockers@\w{8}: expected .*lockers@\w{8}, in which the run was played$/,
    );
    expect(await new OwnScenarios().list()).toEqual([]);
    expect(await there.runs.runs.count()).toBe(0);
    await storeRun(there.runs, read, []);
    expect((await new OwnScenarios().get(row.name))?.text).toBe(row.text);
  },
);
