/** A visitor's own scenario file: checked, and as the world of synthesize, evaluate and env-serve. */
// The database looks for IndexedDB when its module is loaded.
import '../../../src/trainer/node/indexed-db.ts';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readPlace } from '../../../src/cli/commands/env-serve.ts';
import { ProgressBar } from '../../../src/cli/progress.ts';
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

it('is checked: a sound file, an unsound one and a broken one', async () => {
  const sound = await mua('scenario', 'check', scenarioFile('sound.json'), '--tasks', '6');
  expect(sound).toMatchObject({ code: 0, said: expect.stringContaining('all 10 checks hold') as string });
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
  writeFileSync(at('stranger/scenario.json'), JSON.stringify({ ...contacts, name: 'strange', host }));
  const { code, said: text } = await mua('evaluate', '--on', 'node', '--model', at('stranger'));
  const file = at('stranger/scenario.json');
  expect([code, text]).toEqual([2, `mua: ${file}: host: needs the program "touch ${at('harm')}": expected --world ${file} to allow that`]);
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
