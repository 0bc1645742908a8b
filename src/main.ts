/** @file The page: state made once, the shell mounted, the workers started. */
import { mount } from 'svelte';
import App from './app/App.svelte';
import { Lessons } from './app/learn/lessons.svelte.ts';
import { connectTrainer } from './app/state/connect-trainer.ts';
import { Router } from './app/state/router.svelte.ts';
import { Settings } from './app/state/settings.svelte.ts';
import { TrainerClient } from './app/state/trainer-client.svelte.ts';
import './app/theme.css';
import { RunDatabase } from './storage/database.ts';

const db = new RunDatabase();
const app = { client: new TrainerClient(connectTrainer), settings: new Settings(), router: new Router(), db, lessons: new Lessons(db) };
mount(App, { target: document.getElementById('app')!, props: { app } });
void app.client.boot();
