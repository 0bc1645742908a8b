/** @file Shows the gallery. */
import { mount } from 'svelte';
import Gallery from './Gallery.svelte';
import { Lessons } from '../../src/app/lessons/lessons.svelte.ts';
import { Library } from '../../src/app/library/library.ts';
import { Router } from '../../src/app/routes/router.svelte.ts';
import { Settings } from '../../src/app/state/settings.svelte.ts';
import { SampleClient } from './sample-app.ts';
import '../../src/app/elements.css';
import '../../src/app/classes.css';

const library = new Library();
const app = {
  client: new SampleClient({}),
  settings: new Settings(),
  router: new Router(),
  library,
  lessons: new Lessons(library.lessons),
};
mount(Gallery, { target: document.getElementById('app')!, props: { app } });
