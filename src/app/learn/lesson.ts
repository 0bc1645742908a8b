/** @file What a lesson is: pages of text, each with a place to open, parts to look at, and what completes it. */
import { type Place, type Query, readQuery, type RouteName } from '../logic/routes.ts';
import type { Examples } from './examples.ts';
import type { LessonId } from './titles.ts';

/** What a page may know of the app to tell whether it is done. */
export interface Sight {
  place: Place;
  activeRun: string | null;
  /** Who plays the customer of the next run. */
  user: 'scripted' | 'endpoint';
}

export interface LessonPage {
  text: string[];
  /** What to do. Without it, reading is enough. */
  task?: string;
  /** Names of the parts to look at. */
  focus?: string[];
  /** The address of the place. */
  open?: (examples: Examples) => string;
  done?: (sight: Sight) => boolean;
}

export interface Lesson {
  id: LessonId;
  pages: LessonPage[];
}

/** The query, if that is the page. */
export function at<N extends RouteName>({ place }: Sight, name: N): Query<N> | null {
  return place.route.name === name ? readQuery(name, place.query) : null;
}
