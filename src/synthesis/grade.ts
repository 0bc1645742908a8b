/** @file What rules say about one conversation. */
import type { Grades } from '../records/grades.ts';
import { addressedText } from './addressed.ts';
import { checkRules, type DomainRules } from './rules.ts';
import type { GradedRow } from './types.ts';

/** The grades of the rules, and the text that speaks to a grader, if there is one. */
export function ruleGrades(row: GradedRow, rules: DomainRules | null): Grades {
  const addressed = addressedText(row);
  return { rules: checkRules(row, rules), ...(addressed && { addressed }) };
}
