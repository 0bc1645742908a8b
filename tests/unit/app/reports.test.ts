/** Imported shadows and reliability cards: what is kept over a reload. */
import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import { readReport, Reports } from '../../../src/app/library/reports.ts';
import { ReportDatabase } from '../../../src/storage/report-database.ts';

const HEAD = { version: 1, domain: 'retail', agent: { baseUrl: 'http://localhost:1/v1', model: 'candidate-7' }, temperature: 0, seed: 1, conversations_sha256: 'a'.repeat(64), turns: 2 }; // prettier-ignore
const shadow = (...models: string[]) => models.map((model) => `${JSON.stringify({ shadow: { ...HEAD, agent: { ...HEAD.agent, model } } })}\n`).join(''); // prettier-ignore

test('a report is there after a reload, once, and can be deleted', async () => {
  const first = new Reports(new ReportDatabase('kept'));
  const read = readReport('shadow', 's.jsonl', shadow('candidate-7'));
  await first.add([read, readReport('shadow', 't.jsonl', shadow('candidate-8'))]);
  await first.add([readReport('shadow', 'renamed.jsonl', shadow('candidate-7'))]);
  const again = new Reports(new ReportDatabase('kept'));
  const titles = async () => (await again.list()).map(({ title }) => title).sort();
  expect(await titles()).toEqual([7, 8].map((n) => `candidate-${n} beside 0 recorded conversations of retail`));
  expect(await again.get(read.row.id)).toMatchObject({ row: { file: 'renamed.jsonl' }, text: shadow('candidate-7') });
  await again.delete(read.row.id);
  expect(await again.get(read.row.id)).toBeUndefined();
  expect(await titles()).toHaveLength(1);
});

test('a wrong file is no report', () => {
  expect(() => readReport('shadow', 's.jsonl', shadow('a', 'b'))).toThrow('s.jsonl: line 2: expected a conversation or a turn');
});
