/** @file The form of a lesson: steps of text. Each step opens a place in the recorded runs, and may ask for a prediction first. */
import type { LessonId } from './titles.ts';

/** An address, and the names of the spots to point to there. The first spot is scrolled to, if the address names no token or message. */
export interface Place {
  open: string;
  focus?: readonly string[];
}

/** A question with choices. The answer appears after a choice. Nothing is graded. */
export interface Prediction {
  question: string;
  choices: readonly string[];
  /** Index of the right choice. */
  answer: number;
  why: readonly string[];
  /** The place that shows the answer, if it is another place. */
  reveal?: Place;
}

export interface LessonStep extends Place {
  /** What the place is called, e.g. “rollout 1-0-2”. */
  where: string;
  text: readonly string[];
  predict?: Prediction;
}

export interface Lesson {
  id: LessonId;
  steps: readonly LessonStep[];
}
