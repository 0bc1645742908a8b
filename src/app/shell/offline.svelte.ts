/** @file Registers the service worker, which keeps the page for visits without a network. */

export class Offline {
  /** A newer build of the page is stored and waits. */
  waiting = $state(false);
  #registration: ServiceWorkerRegistration | null = null;

  /** Does nothing where the browser has no service worker, or keeps none (a private window, a page over plain http). */
  async register(): Promise<void> {
    if (!('serviceWorker' in navigator)) return;
    // Some browsers that block service workers refuse, others answer without a registration.
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
