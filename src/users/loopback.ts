/** @file Names under which a computer reaches itself. */

/** Whether a URL's host name is this computer: `localhost`, `127.x.x.x` or `[::1]`. */
export const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
