/** @file Removes secrets from exports: API keys, and all parts of an address except scheme, host and path. */

/** An address without user, password, query and fragment. '' if the text is not an address. */
export function publicUrl(address: string): string {
  if (!URL.canParse(address)) return '';
  const { protocol, host, pathname } = new URL(address);
  return host === '' ? '' : `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

const ADDRESS = /\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>)\]]+/gi;
const BEARER = /\b(bearer)\s+\S+/gi;
/** API keys in the formats of common providers, e.g. `sk-proj-…`, `hf_…`. */
const KEY = /\b(?:sk|pk|rk|hf|gsk|xai|nvapi|AIza)[-_]?[\w-]{16,}/g;

const withoutKnown = (text: string, keys: readonly string[]) => keys.filter(Boolean).reduce((rest, key) => rest.replaceAll(key, '…'), text);

/** Removes keys from a text that the visitor wrote. Addresses in it stay whole. `keys`: the API keys in use. */
export function withoutKeys(text: string, keys: readonly string[]): string {
  return withoutKnown(text, keys).replace(BEARER, '$1 …').replace(KEY, '…');
}

/** Removes keys and secret parts of addresses from an error message, which may repeat parts of the request. `keys`: the API keys in use. */
export function withoutSecrets(message: string, keys: readonly string[] = []): string {
  return withoutKeys(withoutKnown(message, keys).replace(ADDRESS, publicUrl), []);
}
