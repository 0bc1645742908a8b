/** @file The work of `mua grade`: grades each row of a file by rules and by a model, and counts what they say. */
import { mapConcurrently } from '../agent/rollouts.ts';
import { equalJson } from '../base/json.ts';
import type { AgentUsage } from '../records/agent-server.ts';
import { type Graded, type Grades, HARD, type JudgeGrade, type Keep, type Review } from '../records/grades.ts';
import type { Json } from '../records/json.ts';
import type { EndpointConfig } from '../records/user.ts';
import { agreements, type PairAgreement } from '../synthesis/agreement.ts';
import { newestReviews, tally } from '../synthesis/data-card.ts';
import { errorBound } from '../synthesis/error-bound.ts';
import { ruleGrades } from '../synthesis/grade.ts';
import { decide, reasonName } from '../synthesis/keep.ts';
import { ModelJudge, VOTES_DIFFER } from '../synthesis/judge.ts';
import { nearMissTable, type NearMissRow } from '../synthesis/near-misses.ts';
import { PROMPT_HASH } from '../synthesis/prompt.ts';
import { rowSha256 } from '../synthesis/row-hash.ts';
import { readGradedRow } from '../synthesis/rows.ts';
import { type DomainRules, domainRules } from '../synthesis/rules.ts';
import type { GradedRow } from '../synthesis/types.ts';
import { CommandError, errorOfWork } from './errors.ts';
import { onInterrupt } from './files.ts';
import { GradeOut } from './grade-file.ts';
import { inFile, jsonLines, readReviewFiles } from './graded-rows.ts';
import type { ProgressBar } from './progress.ts';
import { checkOpened } from './world.ts';

export interface GradeJob {
  /** The path of the rows, and their text. */
  file: string;
  text: string;
  out: string;
  /** The domain of rows that do not name theirs. */
  domain: string | undefined;
  /** With its key. Null: only rules grade. */
  judge: EndpointConfig | null;
  votes: number;
  seed: number;
  nearMisses: boolean;
  /** Files of a person's reviews, by path. */
  reviews: Record<string, string>;
  progress: ProgressBar;
}

export interface GradeReport {
  out: string;
  rows: number;
  keep: Record<Keep, number>;
  /** How many rows have each reason, the most frequent first. */
  reasons: Record<string, number>;
  /** Rows whose verdict of the model is not complete. Absent without a judge. */
  not_graded?: number;
  agreement: PairAgreement[];
  near_misses?: NearMissRow[];
  /** The rows that a person checked among those that are kept: with 95 % confidence at most `bound` of the kept ones are bad. */
  checked?: { n: number; bad: number; unsure: number; bound: number };
  /** The rows that are not graded yet, and why. */
  left: number;
  stopped?: string;
  judge?: AgentUsage;
}

const AT_ONCE = 8;

/** @throws UsageError if a file or the server is wrong; CommandError if no row could be graded */
export async function gradeFile(job: GradeJob): Promise<GradeReport> {
  const { file, text, judge: config, votes, seed, progress } = job;
  const lines = jsonLines(file, text);
  const rows = lines.map(({ value, where }) => inFile(file, () => readGradedRow(value, where, job.domain)));
  for (const [i, { domain }] of rows.entries()) checkOpened(domain, `${file}: ${lines[i]!.where}: domain`);
  const reviews = reviewsOf(job.reviews, rows);
  const rules = new Map<string | undefined, DomainRules | null>();
  for (const { domain } of rows) if (!rules.has(domain)) rules.set(domain, await domainRules(domain));
  const byRules = rows.map((row, i) => {
    progress.update(i, rows.length, 'rows checked by rules');
    return ruleGrades(row, rules.get(row.domain)!);
  });

  const out = await GradeOut.open(job.out, lines, (grades, i) => otherSettings(grades, byRules[i]!, config, { votes, seed }));
  const graded = new Map<number, Graded>(out.finished.map((one, i) => [i, one]));
  const again = [...graded].flatMap(([i, { grades }]) => (wasUseless(grades) ? [i] : []));
  const others = again.length > 0 ? `the others, and asking the judge again about ${again.length}` : 'the others';
  if (graded.size > 0) progress.note(`mua: ${graded.size} of ${rows.length} rows are graded in ${job.out}: going on with ${others}`);
  const forget = onInterrupt(async () => {
    await out.close();
    return out.done > 0 ? `stopped: ${job.out} has ${out.done} graded rows, and the same command goes on` : 'stopped: nothing was written';
  });
  const paid = out.finished.flatMap(({ grades: { judge } }) => judge?.tokens ?? []);
  const model = config && new ModelJudge(config, { votes, seed, paid });
  const stop = new AbortController();
  let failure: Error | null = null;
  try {
    const open = [...again, ...rows.map((_, i) => i).slice(out.finished.length)];
    await mapConcurrently(open, model ? AT_ONCE : open.length, async (i) => {
      if (failure) return;
      try {
        const verdict = model && withTokens(await model.grade(rows[i]!, i, stop.signal), out.finished[i]?.grades.judge?.tokens);
        graded.set(i, decide({ ...byRules[i]!, ...(verdict && { judge: verdict }) }));
        await out.add(i, graded.get(i)!);
        progress.update(graded.size, rows.length, 'rows');
      } catch (error) {
        failure ??= error as Error;
        // Answers on their way are paid. Without a server they do not come.
        if ((error as { kind?: string }).kind !== 'budget') stop.abort();
      }
    });
  } finally {
    forget();
    await out.close();
    progress.clear();
  }
  // What came after a row that failed is not in the file.
  const complete = [...Array(out.done).keys()].map((i) => ({ ...rows[i]!, ...graded.get(i)! }));
  if (failure && complete.length === out.finished.length) throw errorOfWork(failure);
  return report(job, complete, { total: rows.length, failure, reviews, usage: model && model.usage });
}

/** Whether a useless reply left the verdict open. That votes differ is a verdict: a person decides. */
const wasUseless = ({ judge }: Grades): boolean =>
  judge?.keep === null &&
  HARD.map((name) => judge.criteria[name]).some(({ met, why }) => met === null && !(why ?? '').includes(VOTES_DIFFER));

/** The verdict with the tokens of the earlier replies, which the budget has paid too. */
function withTokens(judge: JudgeGrade, earlier: JudgeGrade['tokens']): JudgeGrade {
  if (!earlier) return judge;
  const { prompt, completion } = judge.tokens ?? { prompt: 0, completion: 0 };
  return { ...judge, tokens: { prompt: prompt + earlier.prompt, completion: completion + earlier.completion } };
}

/** Why earlier grades cannot stand beside new ones. Null if they can. */
function otherSettings(
  { rules, addressed, judge }: Grades,
  now: Grades,
  config: EndpointConfig | null,
  settings: { votes: number; seed: number },
): string | null {
  if (
    !equalJson(
      { rules, addressed: addressed ?? null } as unknown as Json,
      { rules: now.rules, addressed: now.addressed ?? null } as unknown as Json,
    )
  )
    return 'has other grades of the rules';
  if (!judge || !config) return Boolean(judge) === Boolean(config) ? null : `was graded ${judge ? `by ${judge.model}` : 'without a judge'}`;
  const wanted = { model: config.model, prompt: PROMPT_HASH, ...settings };
  const other = (Object.keys(wanted) as (keyof typeof wanted)[]).find((name) => judge[name] !== wanted[name]);
  return other === undefined ? null : `was graded with ${other} ${judge[other]}, and now it is ${wanted[other]}`;
}

/** The reviews by the SHA-256 of their conversation. Of two reviews of a conversation, the newest counts. */
const reviewsOf = (files: Record<string, string>, rows: readonly GradedRow[]): Map<string, Review> =>
  newestReviews(readReviewFiles(files, rows));

interface Ended {
  total: number;
  failure: Error | null;
  reviews: ReadonlyMap<string, Review>;
  usage: AgentUsage | null;
}

function report(job: GradeJob, rows: readonly (GradedRow & Graded)[], { total, failure, reviews, usage }: Ended): GradeReport {
  const reviewOf = (row: GradedRow) => (reviews.size > 0 ? reviews.get(rowSha256(row)) : undefined);
  const opinions = rows.map((row, i) => ({ key: String(i), grades: row.grades, review: reviewOf(row), keep: row.keep }));
  const checked = opinions.flatMap(({ keep, review }) => (keep === 'yes' && review ? [review.decision] : []));
  const [n, bad] = [checked.filter((decision) => decision !== 'unsure').length, checked.filter((decision) => decision === 'reject').length];
  const count = (keep: Keep) => rows.filter((row) => row.keep === keep).length;
  return {
    out: job.out,
    rows: rows.length,
    keep: { yes: count('yes'), no: count('no'), person: count('person') },
    reasons: tally(rows.flatMap(({ keep_reasons: own }) => [...new Set(own.map(reasonName))])),
    ...(job.judge && { not_graded: rows.filter(({ grades }) => grades.judge?.keep === null).length }),
    agreement: agreements(opinions),
    ...(job.nearMisses && { near_misses: nearMissTable(rows) }),
    ...(reviews.size > 0 && { checked: { n, bad, unsure: checked.length - n, bound: errorBound(bad, n) } }),
    left: total - rows.length,
    ...(failure && { stopped: (failure instanceof CommandError ? failure : errorOfWork(failure)).message }),
    ...(usage && { judge: usage }),
  };
}
