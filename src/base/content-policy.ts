/**
 * @file Keeps the page and its workers within the content security policy (src/cli/headers.ts). The project makes no HTML and no script
 * from a string. So it has only one Trusted Types policy, the default policy (W3C Trusted Types, §2.3.4), which checks the address of
 * each worker.
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

// Without this setting, zod would try `new Function` once, and the browser would report a violation of the policy.
config({ jitless: true });
