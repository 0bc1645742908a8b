/** `mua synthesize` for several domains: shares, order, and a command that was stopped. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { mua as startedMua } from '../../support/mua.ts';
import { toyScenario } from '../../support/toy-scenario.ts';
import { muaHere } from '../../support/mua-here.ts';

const folder = mkdtempSync(join(tmpdir(), 'synthesize-'));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const here = muaHere();
const mua = (...args: string[]) => here('synthesize', ...args);

interface Row {
  id: string;
  domain: string;
  level: string;
  messages: { role: string; content: string }[];
  tools: { function: { name: string } }[];
  near_miss?: { of: string };
}
const rowsOf = (name: string) => readFileSync(at(name), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Row); // prettier-ignore

const PLACES = ['--domain', 'chat=2,retail:glimpse', '--domain', 'jobs:small=1', '--count', '12'];

it('writes several domains by their shares, each row with its own tools and policy, and the same bytes with threads', async () => {
  expect((await mua(...PLACES, '--out', at('a.jsonl'), '--card', at('a.md'))).code).toBe(0);
  const rows = rowsOf('a.jsonl');
  const of = (name: string) => rows.filter(({ domain }) => domain === name);
  expect(['chat', 'retail', 'jobs'].map((name) => of(name).length)).toEqual([6, 3, 3]);
  expect(rows.every(({ id, domain, level }) => id.startsWith(`${domain}/${level}/train/`))).toBe(true);
  expect(new Set(rows.map(({ domain, level }) => `${domain} ${level}`))).toEqual(
    new Set(['chat question', 'retail glimpse', 'jobs small']),
  );
  const first = ['chat', 'retail', 'jobs'].map((name) => of(name)[0]!);
  expect(first.map(({ tools }) => tools.some((tool) => tool.function.name === 'add_skill'))).toEqual([false, false, true]);
  expect(new Set(first.map(({ messages }) => messages[0]!.content)).size).toBe(3);
  // Mixed: the first half has more than one domain.
  expect(new Set(rows.slice(0, 6).map(({ domain }) => domain)).size).toBeGreaterThan(1);
  const card = readFileSync(at('a.md'), 'utf8');
  expect(card).toMatch(/\| chat question \| 64 \| \d+ \| 6 \|/);
  expect(card).toContain('./mua synthesize --domain chat=2,retail:glimpse --domain jobs:small=1 --count 12');
  expect((await startedMua('synthesize', ...PLACES, '--threads', '2', '--out', at('b.jsonl'))).code).toBe(0);
  expect(readFileSync(at('b.jsonl'), 'utf8')).toBe(readFileSync(at('a.jsonl'), 'utf8'));
}, 120_000);

it('goes on where it was stopped, with the same bytes', async () => {
  const world = at('lockers.json');
  writeFileSync(world, JSON.stringify({ ...toyScenario(), name: 'stopped' }));
  const flags = ['--domain', 'library', '--world', `${world}:hard=2`, '--count', '9', '--near-miss', '0.5', '--out', at('c.jsonl')];
  const journal = at('c.jsonl.unfinished');
  const watcher = watch(folder, (_, name) => name === 'c.jsonl.unfinished' && existsSync(journal) && copyFileSync(journal, at('copy')));
  expect((await mua(...flags)).code).toBe(0);
  watcher.close();
  const whole = readFileSync(at('c.jsonl'), 'utf8');
  expect(existsSync(journal)).toBe(false);
  const rows = rowsOf('c.jsonl');
  expect(['library', 'stopped@'].map((name) => rows.filter((row) => row.domain.startsWith(name) && !row.near_miss).length)).toEqual([3, 6]);
  expect(rows.every((row, i) => !row.near_miss || row.near_miss.of === rows[i - 1]!.id)).toBe(true);
  // Killed within a line of the journal.
  const lines = readFileSync(at('copy'), 'utf8').split('\n');
  expect(lines.length).toBeGreaterThan(40);
  writeFileSync(journal, `${lines.slice(0, 40).join('\n')}\n${lines[40]!.slice(0, 50)}`);
  rmSync(at('c.jsonl'));
  expect((await mua(...flags)).said).toMatch(/a stopped command left .*c.jsonl.unfinished: expected --resume, another --out/);
  expect((await mua(...flags, '--seed', '2', '--resume')).said).toMatch(
    /is of a command with another seed \(1\): expected the same command/,
  );
  const progress = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect((await mua(...flags, '--resume')).code).toBe(0);
  expect(readFileSync(at('c.jsonl'), 'utf8')).toBe(whole);
  // The rate of the progress counts none of those that were played before.
  const before = lines.slice(0, 40).join('\n');
  const kept = rows.filter(({ id, near_miss: spoilt }) => !spoilt && before.includes(JSON.stringify(id)));
  expect(kept.length).toBeGreaterThan(0);
  expect(progress.mock.calls.join('')).toMatch(new RegExp(`^${kept.length}/9 conversations .*\\d$`, 'm'));
  expect((await mua(...flags, '--resume')).said).toMatch(/--resume is given: there is no .*c.jsonl.unfinished/);
});

it.each([
  [['--domain', 'roms'], '--domain is "roms" (did you mean rooms?): expected NAME[:LEVEL][=SHARE] with bookings, chat, contacts, courses'],
  [['--domain', 'rooms=0'], '--domain is "rooms=0": expected a share above 0, such as =2'],
  [['--domain', 'rooms,library', '--level', 'glimpse'], '--level is "glimpse": expected nano, small for the domain rooms'],
  [['--domain', 'rooms:nano,library,rooms'], 'rooms nano is given twice: expected each domain once at a level, perhaps with a share'],
  [['--world', 'none.json'], 'none.json: there is no such file or folder'],
  [['--licence', 'My Own'], '--licence is "My Own": expected a name of the Hub'],
  [['--licence', 'mit'], '--licence is given: expected --card README.md with it'],
  [['--name', 'Mine'], '--name is given: expected --card README.md with it'],
])('refuses %j', async (flags, message) => {
  const { code, said: text } = await mua(...flags, '--out', at('d.jsonl'));
  expect([code, text]).toEqual([2, expect.stringContaining(message)]);
  expect(existsSync(at('d.jsonl'))).toBe(false);
});
