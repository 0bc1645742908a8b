/** @file Registers the service worker, which stores the page's files, so that the page opens without a network. */

export class Offline {
  /** True if a newer build of the page is stored, but this tab still shows the older one. */
  waiting = $state(false);
  #registration: ServiceWorkerRegistration | null = null;

  /** Does nothing if the browser has no service workers, or allows none (in a private window, or on a page over plain http). */
  async register(): Promise<void> {
    if (!('serviceWorker' in navigator)) return;
    // Of the browsers that block service workers, some reject the promise, and others resolve it without a registration.
    const registration = (await navigator.serviceWorker.register('service-worker.js').catch(() => null)) as
      ServiceWorkerRegistration | null | undefined;
    if (!registration) return;
    this.#registration = registration;
    const look = () => (this.waiting = registration.waiting !== null && navigator.serviceWorker.controller !== null);
    look();
    registration.addEventListener('updatefound', () => registration.installing?.addEventListener('statechange', look));
  }

  /** Reloads this page with the newer build. */
  update(): void {
    navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
    this.#registration?.waiting?.postMessage('use the new build');
  }
}
