/** @file The type of a lesson. Its steps have a text; each step opens a view of the recorded runs, and may ask for a prediction first. */
import type { LessonId } from './titles.ts';

/**
 * A view: its address, and the names of the spots to point to. The page scrolls to the first spot if the address has no token or message.
 */
export interface Place {
  open: string;
  focus?: readonly string[];
}

/** A question with choices. The answer appears after a choice. */
export interface Prediction {
  question: string;
  /**
   * The names of the spots that stay visible while the question is open. Every other part of the page is hidden, because it could show the
   * answer. In a conversation, `message` is the selected message, and `messages` are this message and all before it.
   */
  show: readonly string[];
  choices: readonly string[];
  /** Index of the right choice. */
  answer: number;
  why: readonly string[];
  /** The view that shows the answer, if it differs from the view of the question. */
  reveal?: Place;
}

export interface LessonStep extends Place {
  /** The name of the step's view, e.g. “rollout 1-0-2”. */
  where: string;
  text: readonly string[];
  predict?: Prediction;
}

export interface Lesson {
  id: LessonId;
  steps: readonly LessonStep[];
}
