// @ts-check
/**
 * Keeps all files of one build, so that the page works offline after the first visit. A tab keeps the build that it began
 * with: a new build waits until all tabs are closed, or until the visitor asks for it.
 * The build (`offline` in vite.config.ts) writes the two values.
 */
/** @type {string[]} */
const FILES = JSON.parse('__FILES__');
const PREFIX = 'mua-build-';
const CACHE = `${PREFIX}__VERSION__`;
const worker = /** @type {any} */ (self);

worker.addEventListener('install', (/** @type {any} */ event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES.map((file) => new Request(file, { cache: 'reload' })))));
});

worker.addEventListener('activate', (/** @type {any} */ event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)))),
  );
});

worker.addEventListener('message', (/** @type {any} */ event) => {
  if (event.data === 'use the new build') worker.skipWaiting();
});

worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const { request } = event;
  const { scope } = worker.registration;
  const path = request.url.startsWith(scope) ? request.url.slice(scope.length).split(/[?#]/)[0] : null;
  const name = path === '' ? 'index.html' : path;
  // The local server exchanges other files with the page: they pass.
  if (request.method !== 'GET' || !FILES.includes(name)) return;
  event.respondWith(
    caches
      .open(CACHE)
      .then((cache) => cache.match(name))
      .then((kept) => kept ?? fetch(request)),
  );
});
