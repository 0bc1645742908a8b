/** @file The objects that all pages share, as a Svelte context. */
import { createContext } from 'svelte';
import type { Library } from '../library/library.ts';
import type { Lessons } from '../lessons/lessons.svelte.ts';
import type { Router } from '../routes/router.svelte.ts';
import type { Settings } from './settings.svelte.ts';
import type { TrainerClient } from '../clients/trainer-client.svelte.ts';

export interface AppState {
  client: TrainerClient;
  settings: Settings;
  router: Router;
  library: Library;
  lessons: Lessons;
}

export const [useApp, provideApp] = createContext<AppState>();
