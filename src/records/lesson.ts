/** @file A visitor's progress in a lesson. */

export interface LessonRow {
  id: string;
  /** Index of the current step. */
  step: number;
  finished: boolean;
}
