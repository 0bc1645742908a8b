/** @file What every page may use, handed down by context. */
import { createContext } from 'svelte';
import type { RunDatabase } from '../../storage/database.ts';
import type { Lessons } from '../learn/lessons.svelte.ts';
import type { Router } from './router.svelte.ts';
import type { Settings } from './settings.svelte.ts';
import type { TrainerClient } from './trainer-client.svelte.ts';

export interface AppState {
  client: TrainerClient;
  settings: Settings;
  router: Router;
  db: RunDatabase;
  lessons: Lessons;
}

export const [useApp, provideApp] = createContext<AppState>();
