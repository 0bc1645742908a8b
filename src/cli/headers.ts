/** The HTTP headers of every file of the page. The build also writes them to `_headers`, for static hosts. */

/** The content security policy. The built pages contain it too, for hosts that send no headers. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self' https: http:",
  "worker-src 'self'",
  "manifest-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types default svelte-trusted-html',
].join('; ');

export const HEADERS: Record<string, string> = {
  // The meta tag of a page can neither forbid frames nor set the policy of its workers, so the header is needed.
  'Content-Security-Policy': `${CONTENT_SECURITY_POLICY}; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // WebGPU training needs no cross-origin isolation, but the threads of some packages do.
  'Cross-Origin-Opener-Policy': 'same-origin',
  // With `require-corp`, the test of a customer's endpoint could not distinguish a server without CORS from a missing server.
  'Cross-Origin-Embedder-Policy': 'credentialless',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
