/**
 * @file Keeps the page and its workers within the content security policy (src/cli/headers.ts). The only Trusted Types
 * policy of this project checks the address of each worker: the default policy, W3C Trusted Types, §2.3.4. No HTML and no
 * script is made from a string.
 */
import { config } from 'zod/mini';

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (address: string) => string }): unknown;
}

(globalThis as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy('default', {
  /** @throws TypeError if the script is of another origin */
  createScriptURL(address) {
    const { origin, href } = new URL(address, location.href);
    if (origin !== location.origin) throw new TypeError(`the script’s address is ${href}: expected one of ${location.origin}`);
    return href;
  },
});

// zod would try `new Function` once, and the browser would report a violation.
config({ jitless: true });
