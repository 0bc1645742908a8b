// @ts-check
/**
 * Stores the files of one build, so that the page works offline after the first visit. A tab keeps the build that it started with. A new
 * build waits until all tabs are closed, or until the visitor asks for it.
 * The build (`offline` in vite.config.ts) fills in the lists of files and the version.
 */
/** @type {string[]} */
const FILES = JSON.parse('__FILES__');
/** Files that only some visits need, such as 26 MB of ONNX Runtime. They are stored when the page first uses them. @type {string[]} */
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
  // All other requests go to the network, for example those between the page and its local server.
  if (request.method !== 'GET' || !(FILES.includes(name) || LATER.includes(name))) return;
  event.respondWith(answer(request, name));
});

/** @param {Request} request @param {string} name */
async function answer(request, name) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(name);
  if (kept) return kept;
  const response = await fetch(request);
  // If the storage is full, the page still gets the file.
  if (response.ok && LATER.includes(name)) await cache.put(name, response.clone()).catch(() => {});
  return response;
}
