/** @file Removes secrets from exports: API keys, and all parts of a URL except scheme, host and path. */

/** A URL without user, password, query and fragment. '' if the text is not a URL. */
export function publicUrl(address: string): string {
  if (!URL.canParse(address)) return '';
  const { protocol, host, pathname } = new URL(address);
  return host === '' ? '' : `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** A URL in a text. The scheme has a maximum length. Without this limit, a long word would be scanned once for each of its characters. */
const ADDRESS = /\b[a-z][a-z\d+.-]{0,30}:\/\/[^\s"'<>)\]]+/gi;
/** A field or header whose name says that its value is secret, e.g. `api-key: …`, `"password": "…"`, `Authorization: Basic …`. */
const FIELD =
  /\b((?:x-)?api[-_]?key|authorization|access[-_]?token|client[-_]?secret|password|secret)(["']?\s{0,9}[:=]\s{0,9}["']?)(?:(?:basic|bearer|token)\s+)?[^\s"',;&]+/gi;
const BEARER = /\b(bearer)\s+[^\s"',;]+/gi;
/** Base64 after “basic”. It must have a digit, `+`, `/` or `=`, so that ordinary words after “basic” stay. */
const BASIC = /\b(basic)\s+(?=[a-z]{0,200}[\d+/=])[a-z\d+/]{8,}=*/gi;
/** API keys and tokens in the formats of common providers, e.g. `sk-proj-…`, `hf_…`, `ghp_…`. */
const KEY =
  /\b(?:(?:sk|pk|rk|hf|gsk|xai|nvapi|gh[opsur]|github_pat|glpat|xox[abprs])[-_][\w-]{16,}|AIza[\w-]{16,}|AKIA[\dA-Z]{16}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)/g;

const withoutKnown = (text: string, keys: readonly string[]) => keys.filter(Boolean).reduce((rest, key) => rest.replaceAll(key, '…'), text);

/** Removes API keys from a text that the visitor wrote. URLs in the text stay whole. `keys` are the API keys in use. */
export function withoutKeys(text: string, keys: readonly string[]): string {
  return withoutKnown(text, keys).replace(FIELD, '$1$2…').replace(BEARER, '$1 …').replace(BASIC, '$1 …').replace(KEY, '…');
}

/**
 * Removes API keys and secret parts of URLs from an error message, which may repeat parts of the request. `keys` are the keys in use.
 */
export function withoutSecrets(message: string, keys: readonly string[] = []): string {
  return withoutKeys(withoutKnown(message, keys).replace(ADDRESS, publicUrl), []);
}
