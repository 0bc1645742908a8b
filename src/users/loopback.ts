/** @file Names under which a computer reaches itself, and requests that come from elsewhere. */

/** Whether a URL's host name is this computer: `localhost`, `127.x.x.x` or `[::1]`. */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);

/**
 * Why a request comes from outside of this computer; null if it does not. Programs other than browsers send no origin. The check
 * of `Host` stops DNS rebinding, the check of `Origin` stops requests that need no preflight.
 */
export function stranger(
  { host, origin }: { host?: string | undefined; origin?: string | undefined },
  allowed: ReadonlySet<string> = new Set(),
): string | null {
  const name = /^(.+?)(:\d{1,5})?$/.exec(host ?? '')?.[1] ?? '';
  if (!isLoopback(name)) return `the Host header is "${name}": expected localhost, 127.0.0.1 or [::1]`;
  if (origin === undefined || allowed.has(origin) || (URL.canParse(origin) && isLoopback(new URL(origin).hostname))) return null;
  return `pages of ${origin} may not ask`;
}
