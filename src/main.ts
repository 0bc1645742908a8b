/** @file Creates the app's state, mounts the app and starts the trainer. */
import { mount } from 'svelte';
import App from './app/App.svelte';
import { Library } from './app/library/library.ts';
import { Lessons } from './app/lessons/lessons.svelte.ts';
import { connectTrainer } from './trainer/connect.ts';
import { Router } from './app/routes/router.svelte.ts';
import { Settings } from './app/state/settings.svelte.ts';
import { TrainerClient } from './app/clients/trainer-client.svelte.ts';
import './app/elements.css';
import './app/classes.css';

const library = new Library();
const app = {
  client: new TrainerClient(connectTrainer),
  settings: new Settings(),
  router: new Router(),
  library,
  lessons: new Lessons(library.lessons),
};
mount(App, { target: document.getElementById('app')!, props: { app } });
void app.client.boot();
