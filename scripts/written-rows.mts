/**
 * The whole pipeline with a fake language model, without a network: the model writes 200 conversations of nine domains with faults at
 * known rates, a fake judge reads them, and the data card counts them. Compares what was planted with what each step refused.
 * Usage: npx tsx scripts/written-rows.mts [FOLDER]      default: written-rows. Writes rows, grades and the card there anew.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual, promisify } from 'node:util';
import type { WrittenConversation } from '../src/records/written.ts';
import type { SynthesisReport } from '../src/synthesis/funnel.ts';
import { startAgentServer } from '../tests/support/agent-server.ts';
import { startFakeJudge } from '../tests/support/fake-judge.ts';
import { CONDITIONS, fakeWriter, isRejected, KINDS, type Planted, refusalsOf, SEED, sizeOf } from '../tests/support/fake-writer.ts';

const DOMAINS = ['rooms', 'library', 'courses', 'rentals', 'jobs', 'contacts', 'desk', 'plans', 'bookings'];
const COUNT = 200;
const [folder = 'written-rows'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const at = (name: string) => `${folder}/${name}`;
const mua = async (...args: string[]): Promise<string> => (await promisify(execFile)('./mua', args, { maxBuffer: 1e9 })).stdout;

for (const name of ['rows.jsonl.unfinished', 'graded.jsonl']) rmSync(at(name), { force: true });
const planted: Planted = new Map();
const writer = await startAgentServer((await fakeWriter(DOMAINS))(planted));
const flags = ['--agent', writer.url, '--agent-model', 'fake', '--hint', '--domain', DOMAINS.join(), '--seed', String(SEED), ...CONDITIONS];
const made = await mua('synthesize', ...flags, '--count', String(COUNT), '--out', at('rows.jsonl'), '--json');
writer.close();
writeFileSync(at('made.json'), made);

const judge = await startFakeJudge((one) => (isRejected(one.messages.get(1)!) ? ['told_the_truth'] : []));
const graded = await mua('grade', at('rows.jsonl'), '--judge', judge.url, '--judge-model', 'fake', '--out', at('graded.jsonl'), '--json');
judge.close();
await mua('data-card', at('graded.jsonl'), '--made', at('made.json'), '--out', at('README.md'));

const { tried, kept, writers } = JSON.parse(made) as SynthesisReport;
const rows = readFileSync(at('rows.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as WrittenConversation); // prettier-ignore
const expected = {
  tried: COUNT + sizeOf(planted, ...KINDS),
  refused: { ...refusalsOf(planted), duplicate: 0 },
  rejected: rows.filter(({ messages }) => isRejected(messages[1]!.content)).length,
};
const found = { tried, refused: writers!.refused, rejected: (JSON.parse(graded) as { keep: { no: number } }).keep.no };
console.log(JSON.stringify({ kept, planted: Object.fromEntries(KINDS.map((kind) => [kind, sizeOf(planted, kind)])), found }, undefined, 2));
if (!isDeepStrictEqual(found, expected)) throw new Error(`expected ${JSON.stringify(expected)}`);
