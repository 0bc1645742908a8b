/** The headers of every file of the page. The build writes them for static hosts too (`_headers`). */

/** The content security policy, also in the built pages for hosts that send no headers. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self' https: http://localhost:* http://127.0.0.1:*",
  "worker-src 'self'",
  "manifest-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types default svelte-trusted-html',
].join('; ');

export const HEADERS: Record<string, string> = {
  // A page's own meta tag cannot forbid frames, and does not reach its workers.
  'Content-Security-Policy': `${CONTENT_SECURITY_POLICY}; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // WebGPU training needs no cross-origin isolation. The threads of other packages do.
  'Cross-Origin-Opener-Policy': 'same-origin',
  // Not `require-corp`: so the test of a customer's endpoint can tell a server without CORS from no server.
  'Cross-Origin-Embedder-Policy': 'credentialless',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
