/** @file Whether a graded conversation is kept, and why not. */
import { type Graded, type Grades, HARD, RULES } from '../records/grades.ts';

/** Whether the rules find no fault. */
export const rulesKeep = ({ rules }: Pick<Grades, 'rules'>): boolean => RULES.every((name) => rules[name].ok !== false);

/**
 * A row is kept if neither the rules nor the model find a fault. A person decides if the model has not graded all hard criteria, or if
 * a text speaks to the grader.
 */
export function decide(grades: Grades): Graded {
  const { rules, judge, addressed } = grades;
  const where = (message: number | null | undefined) => (typeof message === 'number' ? ` (message ${message})` : '');
  const failed = RULES.filter((name) => rules[name].ok === false).map(
    (name) => `${name}: ${rules[name].why ?? 'no reason'}${where(rules[name].message)}`,
  );
  const denied = judge
    ? HARD.filter((name) => judge.criteria[name].met === false).map((name) => `judge: ${name}${where(judge.criteria[name].message)}`)
    : [];
  const open = judge
    ? HARD.filter((name) => judge.criteria[name].met === null).map(
        (name) => `not graded: ${name}: ${judge.criteria[name].why ?? 'no reason'}`,
      )
    : [];
  const spoken = addressed ? [`a text speaks to the grader: ${addressed.text}${where(addressed.message)}`] : [];
  if (addressed) return { grades, keep: 'person', keep_reasons: [...spoken, ...failed, ...denied, ...open] };
  if (failed.length + denied.length > 0) return { grades, keep: 'no', keep_reasons: [...failed, ...denied] };
  return { grades, keep: open.length > 0 ? 'person' : 'yes', keep_reasons: open };
}

/** A reason without its details, for counts: the rule, or the criterion of the judge. */
export function reasonName(reason: string): string {
  const [source, name = ''] = reason.split(': ');
  return source === 'judge' || source === 'not graded' ? `${source}: ${name.split(' ')[0]!}` : source!;
}
