// @ts-check
/**
 * Stores the files of one build, so that the page works offline after the first visit. A tab keeps the build that it started with. A new
 * build waits until all tabs are closed, or until the visitor asks for it. Then the files of the old build stay until no other tab is open,
 * because a tab that trains still loads parts of it.
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
  // Without the claim, the tab of the first visit would load its parts from the network only.
  event.waitUntil(tidy().then(() => worker.clients.claim()));
});

/** Deletes the files of older builds, if no other tab can need them. */
async function tidy() {
  const tabs = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  if (tabs.length > 1) return;
  for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
}

worker.addEventListener('message', (/** @type {any} */ event) => {
  if (event.data === 'use the new build') worker.skipWaiting();
});

worker.addEventListener('fetch', (/** @type {any} */ event) => {
  const { request } = event;
  const { scope } = worker.registration;
  const path = request.url.startsWith(scope) ? request.url.slice(scope.length).split(/[?#]/)[0] : null;
  const name = path === '' ? 'index.html' : path;
  if (request.mode === 'navigate') event.waitUntil(tidy());
  // All other requests go to the network, for example those between the page and its local server.
  if (request.method !== 'GET' || name === null) return;
  if (FILES.includes(name) || LATER.includes(name)) event.respondWith(answer(request, name));
  else if (name.startsWith('assets/')) event.respondWith(caches.match(name).then((kept) => kept ?? fetch(request)));
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
