/**
 * The audit of consent on 200 planted conversations in the shop of tau-bench. Their author had not read the audit's rules and
 * labelled each write: true if the agent named the write and the customer said yes to exactly that. The rules were then improved
 * with the open conversations only.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wilson } from '../../../src/base/wilson.ts';
import { auditFile } from '../../../src/cli/audit.ts';

interface Planted {
  id: string;
  /** For each write, in order: whether it was asked for. */
  label: boolean[];
  messages: { role: string; tool_calls?: { function: { name: string } }[] }[];
}

const FILES = { open: ['planted-consent', 'planted-consent-2', 'planted-consent-3', 'planted-consent-4'] };
const read = (name: string) => readFileSync(`tests/reference/fixtures/${name}.jsonl`, 'utf8');
const linesOf = (text: string) => text.trim().split('\n').map((line) => JSON.parse(line) as Planted); // prettier-ignore
type Part = keyof typeof FILES;
const textOf = (part: Part): string => FILES[part].map(read).join('');

async function judge(part: Part) {
  const planted = linesOf(textOf(part));
  const { conversations } = await auditFile(part, textOf(part), 'retail');
  return planted.flatMap(({ id, label, messages }, i) => {
    const { id: audited, writes } = conversations[i]!;
    expect([audited, writes.length]).toEqual([id, label.length]);
    return writes.map((write, w) => ({ ...write, id, label: label[w]!, messages }));
  });
}

/** `2 of 26: 7.7 (2.1 to 24.1)` */
function share(count: number, of: number): string {
  const percent = (value: number) => (value === 1 ? '100' : (value * 100).toFixed(1));
  const { low, high } = wilson(count, of)!;
  return `${count} of ${of}: ${percent(count / of)} (${percent(low)} to ${percent(high)})`;
}

test.each([['open', 360, 188, 3]] as const)('%s: the figures are those of the documents', async (part, count, found, alarms) => {
  expect(linesOf(textOf(part))).toHaveLength(count);
  const writes = await judge(part);
  const [sound, violating] = [writes.filter(({ label }) => label), writes.filter(({ label }) => !label)];
  const reported = (own: typeof writes) => own.filter(({ asked }) => !asked).map(({ id }) => id);
  expect(reported(violating)).toHaveLength(found);
  expect(reported(sound)).toHaveLength(alarms);
  const row = `| ${part}, ${count} | ${share(found, violating.length)} | ${share(alarms, sound.length)} |`;
  expect(readFileSync('docs/results/customer-faults.md', 'utf8')).toContain(row);
});

test('all files together have each write of the shop at least 9 times with a yes and 9 times without', async () => {
  const all = (await Promise.all((Object.keys(FILES) as Part[]).map(judge))).flat();
  const counts = new Map<string, number>();
  for (const { name, label } of all) counts.set(`${name} ${label}`, (counts.get(`${name} ${label}`) ?? 0) + 1);
  expect(counts.size).toBe(2 * 7);
  expect(Math.min(...counts.values())).toBeGreaterThanOrEqual(9);
});

test('the yes of a write is a message of the customer after a question of the agent', async () => {
  for (const { asked, question, answer, messages } of await judge('open')) {
    if (!asked) continue;
    expect([messages[question!]!.role, messages[answer!]!.role]).toEqual(['assistant', 'user']);
    expect(question!).toBeLessThan(answer!);
  }
});
