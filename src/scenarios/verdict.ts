/** @file The verdict on an episode of a scenario, where the changed rows alone do not decide: facts to tell, and fields that may differ. */
import { equalJson, isObject } from '../base/json.ts';
import type { Judgement, Played, TableDomain } from '../environments/domain.ts';
import { compareOverlays, replayGold } from '../environments/verifier.ts';
import type { Scenario } from '../records/scenario.ts';
import type { Json } from '../records/json.ts';
import type { RowChange, Task } from '../records/task.ts';
import { peopleOf } from './people/told.ts';

/** As `judgeRows`, for an episode whose rows are tables. */
export function judge(definition: TableDomain, scenario: Scenario, { task, rows, world, said }: Played): Judgement | null {
  if (!needsJudge(scenario, task)) return null;
  return judgeRows(scenario, { task, changes: rows.changes(), goal: replayGold(definition, world, task), said });
}

const volatileOf = ({ tables }: Scenario) =>
  Object.entries(tables).flatMap(([table, { fields }]) =>
    Object.entries(fields).flatMap(([field, own]) => (own.volatile ? [[table, field] as const] : [])),
  );

const needsJudge = (scenario: Scenario, { scenario: own }: Task): boolean =>
  (peopleOf(own)?.tell ?? []).length > 0 || volatileOf(scenario).length > 0;

/** The changes without the fields that may differ between two equal ends. A row that differs in no other field is no change. */
export function withoutVolatile(scenario: Scenario, changes: readonly RowChange[]): RowChange[] {
  const volatile = volatileOf(scenario);
  return changes.map((change) => volatile.reduce(withoutField, change)).filter(({ before, after }) => !equalJson(before, after));
}

/** The reward is 1 if the rows are those of the gold actions and the agent said all facts. Null: a comparison of the rows decides. */
export function judgeRows(
  scenario: Scenario,
  { task, changes, goal, said }: { task: Task; changes: readonly RowChange[]; goal: readonly RowChange[]; said: readonly string[] },
): Judgement | null {
  if (!needsJudge(scenario, task)) return null;
  const tell = peopleOf(task.scenario)?.tell ?? [];
  const { reward, progress } = compareOverlays(withoutVolatile(scenario, changes), withoutVolatile(scenario, goal));
  const told = tell.filter((fact) => said.some((message) => says(message, fact))).length;
  const share = tell.length === 0 ? 1 : told / tell.length;
  return { reward: reward === 1 && share === 1 ? 1 : 0, progress: (progress + share) / 2 };
}

function withoutField(change: RowChange, [table, field]: readonly [string, string]): RowChange {
  if (change.table !== table) return change;
  const without = (row: Json): Json =>
    isObject(row) ? (Object.fromEntries(Object.entries(row).filter(([name]) => name !== field)) as Json) : row;
  return { ...change, before: without(change.before), after: without(change.after) };
}

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();
const PART_OF_WORD = /[\p{L}\p{N}]/u;

/** Whether a message has the fact as words of its own: `5` is not in `15`, `5.50`, `5:30`, `book_5` or `task-5`. */
export function says(message: string, fact: string): boolean {
  const [text, wanted] = [plain(message), plain(fact)];
  if (wanted === '') return true;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const [before, after] = [text.slice(0, at), text.slice(at + wanted.length)];
    const inWord = PART_OF_WORD.test(before.slice(-1)) || PART_OF_WORD.test(after.slice(0, 1));
    const inNumber = /^\d/.test(wanted) && /(?:\d[.,:]|\p{L}[_-])$/u.test(before);
    if (!inWord && !inNumber && !(/\d$/.test(wanted) && /^[.,:]\d/.test(after))) return true;
  }
  return false;
}
