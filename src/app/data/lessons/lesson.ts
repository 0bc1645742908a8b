/** @file The form of a lesson: pages of text. A page can have an address to open, parts to highlight and a condition that completes it. */
import { type Address, type Query, readQuery, type RouteName } from '../routes.ts';
import type { Examples } from './examples.ts';
import type { LessonId } from './titles.ts';

/** The state of the app that a page checks to find out if it is completed. */
export interface Sight {
  address: Address;
  activeRun: string | null;
  /** The simulated customer of the next run. */
  user: 'scripted' | 'endpoint';
}

export interface LessonPage {
  text: string[];
  /** What the visitor has to do. A page without a task only has to be read. */
  task?: string;
  /** Names of the parts to highlight. */
  focus?: string[];
  /** The address that “Take me there” opens. */
  open?: (examples: Examples) => string;
  done?: (sight: Sight) => boolean;
}

export interface Lesson {
  id: LessonId;
  pages: LessonPage[];
}

/** The query of the page `name`; null if the visitor is on another page. */
export function at<N extends RouteName>({ address }: Sight, name: N): Query<N> | null {
  return address.route.name === name ? readQuery(name, address.query) : null;
}
