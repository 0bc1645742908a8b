/** A visitor's own scenario file: checked, and as the world of synthesize, evaluate and env-serve. */
// The database looks for IndexedDB when its module is loaded.
import '../../../src/trainer/node/indexed-db.ts';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openExperiment } from '../../../src/cli/experiment-folder.ts';
import { readPlace } from '../../../src/cli/commands/env-serve.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
import { removeDomain } from '../../../src/domains/registry.ts';
import { openStage } from '../../../src/serve/index.ts';
import { startAgentServer } from '../../support/agent-server.ts';
import { type Draft, toyScenario } from '../../support/toy-scenario.ts';
import { muaHere } from '../../support/mua-here.ts';

const folder = mkdtempSync(join(tmpdir(), 'world-'));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

function scenarioFile(name: string, change: (toy: Draft) => void = () => {}): string {
  const toy = toyScenario();
  change(toy);
  writeFileSync(at(name), JSON.stringify(toy));
  return at(name);
}

/** SHA-256 of JSON with sorted keys and without white space. */
function hashOf(value: object): string {
  const sorted = (_: string, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one;
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex');
}

const mua = muaHere();

const EXPERIMENT = `id = "q"
name = "Q"
question = "Does it learn?"
baseline = "grpo"
seeds = [1]
variants = [{ name = "grpo", overrides = {} }]
[base]
preset = "nano"`;

it('is checked: a sound file, an unsound one and a broken one', async () => {
  const sound = await mua('scenario', 'check', scenarioFile('sound.json'), '--tasks', '6');
  expect(sound).toMatchObject({ code: 0, said: expect.stringContaining('all 13 checks hold') as string });
  expect(sound.said).toContain('lockers hard: 5 tools');
  const unsound = scenarioFile('unsound.json', (toy) => (toy.blueprints[1].wish = ['Use give_up.']));
  const { code, said: text } = await mua('scenario', 'check', unsound, '--tasks', '6', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(text)).toMatchObject({
    sound: false,
    name: 'lockers',
    findings: [
      { check: 'tool_names', level: 'easy', of: 'large_stays' },
      { check: 'tool_names', level: 'hard' },
    ],
  });
  const broken = scenarioFile('broken.json', (toy) => (toy.tools[0].from = 'esy'));
  expect(await mua('scenario', 'check', broken)).toEqual({
    code: 2,
    said: 'mua: broken.json: tools[0].from: unknown level "esy" (did you mean easy?); known: easy, hard',
  });
  expect((await mua('scenario', 'chek', broken)).said).toContain('unknown command "scenario chek" (did you mean check?)');
});

it('is the world of demonstrations: the same file and seed write the same bytes', async () => {
  const world = scenarioFile('own.json', (toy) => (toy.name = 'synth'));
  const write = (out: string) => mua('synthesize', '--world', world, '--level', 'hard', '--count', '6', '--out', at(out));
  expect(await write('a.jsonl')).toMatchObject({ code: 0, said: expect.stringContaining('6 written to') as string });
  expect((await write('b.jsonl')).code).toBe(0);
  const lines = readFileSync(at('a.jsonl'), 'utf8');
  expect(readFileSync(at('b.jsonl'), 'utf8')).toBe(lines);
  const rows = lines.trim().split('\n').map((line) => JSON.parse(line) as { id: string; reward: number; tools: { function: { name: string } }[] }); // prettier-ignore
  expect(rows.every(({ id, reward }) => /^synth@[0-9a-f]{8}\/hard\/train\//.test(id) && reward === 1)).toBe(true);
  expect(rows[0]!.tools.map((tool) => tool.function.name)).toContain('raise_rent');
});

it('is the world of an evaluation, which continues only with the same file', async () => {
  const world = scenarioFile('eval.json', (toy) => (toy.name = 'measured'));
  const server = await startAgentServer(() => ({ content: 'I cannot do that.' }));
  const flags = ['--agent', server.url, '--agent-model', 'm', '--tasks', '8'];
  const { code, said: text } = await mua('evaluate', '--world', world, ...flags, '--out', at('eval'), '--json');
  expect(code).toBe(0);
  // An agent that does nothing is right exactly where nothing is to be done.
  const { pass_hat, noop_tasks } = JSON.parse(text) as { pass_hat: { value: number }[]; noop_tasks: number };
  expect(pass_hat[0]!.value).toBe(noop_tasks / 8);
  // As if the evaluation had been stopped.
  const status = join(at('eval'), 'status.json');
  writeFileSync(status, readFileSync(status, 'utf8').replace(/"state": ?"[a-z]+"/, '"state":"interrupted"'));
  const hashes = ['eval.json', 'changed.json'].map((name, i) => {
    scenarioFile(name, (toy) => ((toy.name = 'measured'), i && (toy.policy[0] += ' Always.')));
    return hashOf(JSON.parse(readFileSync(at(name), 'utf8')) as object);
  });
  const changed = await mua('evaluate', '--resume', at('eval'), '--world', at('changed.json'));
  expect(changed).toEqual({
    code: 2,
    said: `mua: --resume is "${at('eval')}": the scenario in "${at('changed.json')}" has the hash ${hashes[1]}: expected ${hashes[0]}, that of the scenario which was played before`,
  });
  rmSync(world);
  // No trial is left to play, so no request is sent to the agent.
  const resumed = await mua('evaluate', '--resume', at('eval'), '--json');
  server.close();
  expect(resumed.code).toBe(0);
  expect(JSON.parse(resumed.said)).toEqual({ ...(JSON.parse(text) as object), seconds: expect.any(Number) as number });
});

it('is taken from the folder of a model, except if it starts a program', async () => {
  const contacts = JSON.parse(readFileSync('src/domains/contacts/scenario.json', 'utf8')) as { host: object };
  mkdirSync(at('stranger'));
  const host = { ...contacts.host, here: undefined, command: ['touch', at('harm')] };
  const strange = { ...contacts, name: 'strange', host };
  writeFileSync(at('stranger/scenario.json'), JSON.stringify(strange));
  const sha256 = hashOf(strange);
  const world = { name: `strange@${sha256.slice(0, 8)}`, sha256 };
  writeFileSync(at('stranger/status.json'), JSON.stringify({ settings: { world } }));
  const { code, said: text } = await mua('evaluate', '--on', 'node', '--model', at('stranger'));
  const file = at('stranger/scenario.json');
  expect([code, text]).toEqual([2, `mua: ${file}: host: needs the program "touch ${at('harm')}": expected --world ${file} to allow that`]);
});

it('of a folder of a model counts only if the training names it', async () => {
  mkdirSync(at('plain'));
  writeFileSync(at('plain/scenario.json'), '{"title": "of another program"}');
  const run = async () => (await mua('evaluate', '--on', 'node', '--model', at('plain'))).said;
  // The folder has no model, which is looked for after its scenario.
  expect(await run()).toMatch(/config\.json/);
  for (const status of ['[]', '{', '{"settings":{"world":"x"}}']) {
    writeFileSync(at('plain/status.json'), status);
    expect(await run()).toMatch(/config\.json/);
  }
  const world = { name: 'lockers@00000000', sha256: '0'.repeat(64) };
  writeFileSync(at('plain/status.json'), JSON.stringify({ settings: { world } }));
  expect(await run()).toContain(`${at('plain/scenario.json')}: `);
  writeFileSync(at('plain/scenario.json'), JSON.stringify(toyScenario()));
  const start = `mua: --model is "${at('plain')}": its scenario.json`;
  const end = `expected the scenario lockers@00000000 with the hash ${world.sha256}, on which the model was trained, or other tasks by --domain or --world`;
  expect(await run()).toBe(`${start} has the hash ${hashOf(toyScenario() as object)}: ${end}`);
  rmSync(at('plain/scenario.json'));
  expect(await run()).toBe(`${start} is missing: ${end}`);
});

it('is the domain of rows that name it, which are not read without it', async () => {
  const world = scenarioFile('rows.json', (toy) => (toy.name = 'rowed'));
  const other = scenarioFile('other.json', (toy) => (toy.name = 'others'));
  const places = ['--world', `${world}:hard=1`, '--world', `${other}=1`, '--domain', 'library=1'];
  expect((await mua('synthesize', ...places, '--count', '6', '--out', at('rows.jsonl'))).code).toBe(0);
  const rows = readFileSync(at('rows.jsonl'), 'utf8');
  const mine = rows.split('\n').filter((line) => line.includes('"id":"rowed@'));
  writeFileSync(at('mine.jsonl'), mine.join('\n'));
  // In a process of its own, the scenarios are not known yet.
  const name = `rowed@${hashOf(JSON.parse(readFileSync(world, 'utf8')) as object).slice(0, 8)}`;
  removeDomain(name);
  const grade = (...flags: string[]) => mua('grade', at('mine.jsonl'), '--out', at('graded.jsonl'), ...flags);
  expect(await grade()).toEqual({
    code: 2,
    said: `mua: ${at('mine.jsonl')}: line 1: domain is "${name}", a scenario of yours: expected --world FILE.json with this scenario`,
  });
  expect(await grade('--world', world)).toMatchObject({ code: 0, said: expect.stringContaining('2 to keep') as string });
  // Without its rules, nobody could say that the audit is kept.
  const { grades } = JSON.parse(readFileSync(at('graded.jsonl'), 'utf8').split('\n')[0]!) as { grades: { rules: { audit: object } } };
  expect(grades.rules.audit).toMatchObject({ ok: true });
  const all = await mua('grade', at('rows.jsonl'), '--out', at('all.jsonl'), '--world', world, '--world', other);
  expect(all.said).toContain('6 rows graded');
  const audited = await mua('audit', at('mine.jsonl'), '--domain', 'retail');
  expect(audited.said).toMatch(
    /line 1: id is "rowed@.*": expected --world FILE\.json with the scenario rowed@\w{8}, not the domain retail/,
  );
  expect(await mua('audit', at('mine.jsonl'), '--world', world)).toMatchObject({ code: 0 });
});

it('is the world of shadow', async () => {
  const world = scenarioFile('shadow.json', (toy) => (toy.name = 'shadowed'));
  expect((await mua('synthesize', '--world', world, '--count', '2', '--out', at('shadow.jsonl'))).code).toBe(0);
  const asked: string[] = [];
  const server = await startAgentServer(({ tools }) => {
    asked.push(...(tools ?? []).map((tool) => tool.function.name));
    return { content: 'One moment.' };
  });
  const flags = ['--agent', server.url, '--agent-model', 'm'];
  const shadowed = await mua('shadow', at('shadow.jsonl'), ...flags, '--world', world);
  expect(shadowed).toMatchObject({ code: 0, said: expect.stringContaining('of 2 conversations') as string });
  expect(asked).toContain('get_locker');
  expect((await mua('shadow', at('shadow.jsonl'), ...flags, '--world', world, '--level', 'nano')).said).toContain(
    '--level is "nano": expected easy, hard for the domain shadowed@',
  );
  expect((await mua('shadow', at('shadow.jsonl'), ...flags)).said).toContain('expected --world FILE.json with the scenario shadowed@');
  server.close();
});

it('is the domain of an experiment that names no other, and is kept with its runs', async () => {
  const world = scenarioFile('asked.json', (toy) => (toy.name = 'asked'));
  const name = `asked@${hashOf(JSON.parse(readFileSync(world, 'utf8')) as object).slice(0, 8)}`;
  const toml = (base: string) => {
    writeFileSync(at('e.toml'), `${EXPERIMENT}\n[base.overrides]\n${base}\n[evaluation]\nval_tasks = 4\nval_split = "unseen"\n`);
    return at('e.toml');
  };
  const open = (base: string, out: string, file?: string) => openExperiment({ file: toml(base), out: at(out), world: file }, () => {});
  await expect(open(`domain = "${name}"`, 'e0')).rejects.toThrow(
    `${at('e.toml')}: domain is "${name}", a scenario of yours: expected --world FILE.json with this scenario`,
  );
  await expect(open('domain = "library"\nlevel = "nano"', 'e1', world)).rejects.toThrow(`no variant of ${at('e.toml')} plays it`);
  const { content, queue } = await open('', 'e2', world);
  expect(content.experiment.base.overrides).toMatchObject({ domain: name, level: 'easy' });
  expect(queue.map(({ folder }) => [folder.settings.world?.name, folder.settings.overrides.domain])).toEqual([[name, name]]);
  expect(readFileSync(at('e2/scenario.json'), 'utf8')).toBe(readFileSync(world, 'utf8'));
});

it.each([
  [['--domain', 'retail'], '--domain is given: expected no --domain with --world'],
  [['--level', 'nano'], '--level is "nano": expected easy, hard for the domain lockers'],
])('with %j is an error', async (flags, message) => {
  const { code, said: text } = await mua('evaluate', '--world', scenarioFile('flags.json'), ...flags, '--model', 'x', '--out', at('c'));
  expect([code, text]).toEqual([2, expect.stringContaining(message)]);
});

it('cannot have the name of a domain', async () => {
  const world = scenarioFile('rooms.json', (toy) => (toy.name = 'rooms'));
  const { code, said: text } = await mua('synthesize', '--world', world, '--out', at('d.jsonl'));
  expect([code, text]).toEqual([2, `mua: ${world}: name: is "rooms", the name of a built-in domain: choose another name`]);
});

it('is served', async () => {
  const world = scenarioFile('served.json', (toy) => (toy.name = 'served'));
  const flags = {
    world,
    domain: undefined,
    level: undefined,
    rules: undefined,
    data: undefined,
    preset: undefined,
    set: [],
    seed: 1,
    user: 'scripted',
  };
  const { stage } = await openStage(await readPlace(flags, new ProgressBar()));
  expect(stage.domain).toMatchObject({
    name: expect.stringMatching(/^served@[0-9a-f]{8}$/) as string,
    level: 'easy',
    terminalTools: ['to_human'],
  });
});
