// @ts-check
/**
 * Keeps the files of one build, so that the page works offline after the first visit. A tab keeps the build that it began
 * with: a new build waits until all tabs are closed, or until the visitor asks for it.
 * The build (`offline` in vite.config.ts) writes the values.
 */
/** @type {string[]} */
const FILES = JSON.parse('__FILES__');
/** Files that only some visits need, such as 26 MB of ONNX Runtime. The worker keeps them when the page first uses them. @type {string[]} */
const LATER = JSON.parse('__LATER__');
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
  if (request.method !== 'GET' || !(FILES.includes(name) || LATER.includes(name))) return;
  event.respondWith(answer(request, name));
});

/** @param {Request} request @param {string} name */
async function answer(request, name) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(name);
  if (kept) return kept;
  const response = await fetch(request);
  // The page gets the file also where the storage is full.
  if (response.ok && LATER.includes(name)) await cache.put(name, response.clone()).catch(() => {});
  return response;
}
