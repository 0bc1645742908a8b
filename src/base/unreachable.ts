/** @file Finds out why a browser cannot reach a server: its policy, mixed content, a missing permission, CORS, or no server. */

export interface Reason {
  kind: 'policy' | 'mixed_content' | 'local_network' | 'cors' | 'unreachable';
  message: string;
}

/** What to do in two cases. */
export interface Remedies {
  /** The server must be started, or its address corrected. '' if there is nothing more to say. */
  start: string;
  /** The server must allow the page of this origin. */
  cors(origin: string): string | Promise<string>;
}

/** How long the browser may take to say that a policy forbids a request, and a server to answer. */
const PROBE_MS = 5_000;

/** The reason why no request reaches the server at `url`, in a sentence that says what helps. */
export async function whyUnreachable(url: string, { start, cors }: Remedies, send: typeof fetch = fetch): Promise<Reason> {
  const { origin, protocol, hostname } = new URL(url);
  const page = globalThis.location as Location | undefined;
  const isBrowser = 'document' in globalThis || 'importScripts' in globalThis;
  if (isBrowser) {
    const { answers, isForbidden } = await probe(url, send);
    if (isForbidden)
      return {
        kind: 'policy',
        message: `The content security policy of this page (connect-src) forbids requests to ${origin}: whoever publishes the page must allow the address.`,
      };
    if (answers)
      return {
        kind: 'cors',
        message: `A server answers at ${origin}, but it does not let this page read the answer (CORS). ${await cors(page?.origin ?? '')}`,
      };
    const permission = await localNetwork(hostname);
    if (permission === 'denied' && isLocal(hostname))
      return {
        kind: 'local_network',
        message: `The browser does not let this page reach your local network: allow “Local network access” for ${page?.origin ?? 'this page'} in the browser’s settings of the site.`,
      };
    // Browsers that ask for the permission also allow http to addresses of the local network.
    const isAllowed = isLoopback(hostname) || (permission !== null && isLocal(hostname));
    if (page?.protocol === 'https:' && protocol === 'http:' && !isAllowed)
      return {
        kind: 'mixed_content',
        message: `This page uses https: the browser forbids http to ${origin} (mixed content). Open the page with “./mua open”, or give the server https.`,
      };
  }
  return { kind: 'unreachable', message: `No server answers at ${origin}. ${start || 'Check the connection to the internet.'}` };
}

/** Whether a URL's host name is this computer: `localhost`, `127.x.x.x` or `[::1]`. */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);

/** Whether a host name belongs to this computer or to the local network. Names without a dot do. */
export const isLocal = (hostname: string): boolean =>
  isLoopback(hostname) ||
  /^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(hostname) ||
  /^\[f[cde]/i.test(hostname) ||
  /\.(local|lan|home|internal|home\.arpa)$/i.test(hostname) ||
  !/[.:]/.test(hostname);

/** The state of the permission to reach the local network. Null if the browser does not know this permission. */
async function localNetwork(hostname: string): Promise<PermissionState | null> {
  const names = [isLoopback(hostname) ? 'loopback-network' : 'local-network', 'local-network-access'];
  for (const name of names) {
    try {
      return (await navigator.permissions.query({ name: name as PermissionName })).state;
    } catch {} // The browser does not know the name.
  }
  return null;
}

/**
 * Sends a request whose answer the page may not read. It succeeds if only CORS prevents the page from reading answers. If a
 * policy forbids the request, the browser reports this as an event.
 */
async function probe(url: string, send: typeof fetch): Promise<{ answers: boolean; isForbidden: boolean }> {
  const { origin } = new URL(url);
  let isForbidden = false;
  const listen = ({ blockedURI, effectiveDirective }: SecurityPolicyViolationEvent) => {
    if (effectiveDirective === 'connect-src' && blockedURI.startsWith(origin)) isForbidden = true;
  };
  const target = globalThis as unknown as EventTarget;
  target.addEventListener('securitypolicyviolation', listen as EventListener);
  try {
    await send(url, { mode: 'no-cors', signal: AbortSignal.timeout(PROBE_MS) });
    return { answers: true, isForbidden };
  } catch {
    // The event comes in a task of its own.
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { answers: false, isForbidden };
  } finally {
    target.removeEventListener('securitypolicyviolation', listen as EventListener);
  }
}
