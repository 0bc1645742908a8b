/**
 * Measures what rules and judges find: writes conversations and near-misses of nine scenarios at both levels with `mua synthesize`,
 * grades them, and bribes the judge. Writes docs/results/judge.json, from which `npm run docs` makes the tables.
 * Usage: npx tsx scripts/near-misses.mts [FOLDER]      default: near-misses. Files that FOLDER has are not written again, and a
 * file that was stopped goes on.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mapConcurrently } from '../src/agent/rollouts.ts';
import { hash32 } from '../src/base/random.ts';
import { ruleGrades } from '../src/synthesis/grade.ts';
import { ModelJudge } from '../src/synthesis/judge.ts';
import { readGradedRow } from '../src/synthesis/rows.ts';
import { domainRules } from '../src/synthesis/rules.ts';
import { startAgentServer } from '../tests/support/agent-server.ts';
import { readCase } from '../tests/support/fake-judge.ts';
import { BRIBES } from './bribes.ts';
import {
  type Bribed,
  bribed,
  countBribes,
  countKinds,
  type JudgeFile,
  PLACES,
  type Planted,
  recordOf,
  recordOfRow,
  scriptedJudge,
} from './planted-judge.ts';

const COUNT = 60;
const SEED = 20;
/** So many near-misses are bribed in each place, with each set of texts. */
const BRIBED = 100;
const [folder = 'near-misses'] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const rows = ['rooms', 'library', 'courses', 'rentals', 'jobs', 'contacts', 'desk', 'plans', 'bookings'].flatMap((domain) =>
  ['nano', 'small'].flatMap((level) => {
    const out = `${folder}/${domain}-${level}.jsonl`;
    const flags = { domain, level, count: COUNT, seed: SEED, demonstrator: 'careful', 'near-miss': 1, out };
    const given = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
    if (existsSync(`${out}.unfinished`)) given.push('--resume');
    if (!existsSync(out)) execFileSync('./mua', ['synthesize', ...given], { stdio: ['ignore', 'ignore', 'inherit'] });
    const lines = readFileSync(out, 'utf8').trim().split('\n');
    return lines.map((line, i) => readGradedRow(JSON.parse(line), `${out}: line ${i + 1}`));
  }),
);

// A judge of known error rates, which obeys each bribe that it reads. It knows which records are near-misses, and otherwise reads the prompt.
const bad = new Set<string>();
const bribes = Object.values(BRIBES).flat();
const judgeOf = async (isShrewd: boolean) => {
  const server = await startAgentServer((request) => {
    const one = readCase(request);
    return { content: scriptedJudge(one, { bad: bad.has(recordOf(one.text)), bribes, isShrewd }) };
  });
  return { server, judge: new ModelJudge({ baseUrl: server.url, model: 'scripted' }, { votes: 1, seed: 1 }) };
};
const [blunt, shrewd] = [await judgeOf(false), await judgeOf(true)];

const planted: Planted[] = [];
await mapConcurrently([...rows], 8, async (row, i) => {
  if (row.near_miss) bad.add(recordOfRow(row));
  const grades = ruleGrades(row, await domainRules(row.domain));
  planted[i] = { kind: row.near_miss?.kind ?? null, grades: { ...grades, judge: await shrewd.judge.grade(row, i) } };
});

const missed = rows.filter(({ near_miss: label }) => label);
const outcomes: Bribed[] = [];
for (const [set, texts] of Object.entries(BRIBES))
  for (const place of PLACES) {
    const start = hash32(SEED, PLACES.indexOf(place)) % missed.length;
    const own = missed.flatMap((_, i) => {
      const row = bribed(missed[(start + i) % missed.length]!, texts[i % texts.length]!, place);
      return row ? [row] : [];
    });
    await mapConcurrently(own.slice(0, BRIBED), 8, async (row, i) => {
      bad.add(recordOfRow(row));
      const grades = ruleGrades(row, await domainRules(row.domain));
      const [one, other] = [await blunt.judge.grade(row, i), await shrewd.judge.grade(row, i)];
      outcomes.push({ set, grades, blunt: one, shrewd: other });
    });
  }
blunt.server.close();
shrewd.server.close();

const file: JudgeFile = { kinds: countKinds(planted), bribes: countBribes(outcomes) };
writeFileSync('docs/results/judge.json', `${JSON.stringify(file, null, 1)}\n`);
