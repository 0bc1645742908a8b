/** @file What must not leave the browser in an export: keys, and what stands in an address beside the host and the path. */

/** An address without user, password, query and fragment; '' for a text that is none. */
export function publicUrl(address: string): string {
  if (!URL.canParse(address)) return '';
  const { protocol, host, pathname } = new URL(address);
  return host === '' ? '' : `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

const ADDRESS = /\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>)\]]+/gi;
const BEARER = /\b(bearer)\s+\S+/gi;
/** Keys as providers write them, e.g. `sk-proj-…`, `hf_…`. */
const KEY = /\b(?:sk|pk|rk|hf|gsk|xai|nvapi|AIza)[-_]?[\w-]{16,}/g;

/** A message that an endpoint or a browser wrote, without what it may repeat of the request. `keys`: those known now. */
export function withoutSecrets(message: string, keys: readonly string[] = []): string {
  const known = keys.filter(Boolean).reduce((text, key) => text.replaceAll(key, '…'), message);
  return known.replace(ADDRESS, publicUrl).replace(BEARER, '$1 …').replace(KEY, '…');
}
