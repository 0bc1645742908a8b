/** @file Recognises requests that come from other computers or pages. */
import { isLoopback } from '../base/unreachable.ts';

/**
 * The reason why a request is refused because it comes from elsewhere. Null if it comes from this computer. Programs that are
 * not browsers send no origin. The check of `Host` prevents DNS rebinding. The check of `Origin` stops requests that need no
 * preflight.
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
