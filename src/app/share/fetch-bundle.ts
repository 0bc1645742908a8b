/** @file Fetches a published run from another server, up to a size limit. */

const LOOPBACK = new Set(['localhost', '127.0.0.1']);

/** Reads the address in the query `src`. @throws Error that says what was expected */
export function sourceUrl(src: string, here: string): URL {
  if (!URL.canParse(src, here)) throw new Error(`"${src}" is no address: expected one such as https://example.org/run.mua.zip`);
  const url = new URL(src, here);
  const own = url.origin === new URL(here).origin;
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && (own || LOOPBACK.has(url.hostname))))
    throw new Error(`the address begins with ${url.protocol}: expected https:`);
  if (url.username || url.password) throw new Error('the address holds a user name or a password: expected one without');
  return url;
}

/** Fetches a file. @throws Error that names the server's answer, or says that the file is larger than `limit` bytes */
export async function fetchBundle(
  url: URL,
  limit: number,
  onProgress: (done: number, total: number | null) => void,
  signal?: AbortSignal,
): Promise<Blob> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer', signal });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new Error(`${url.host} did not answer, or does not let other pages read its files (CORS)`, { cause });
  }
  if (!response.ok || !response.body) throw new Error(`${url.host} answered HTTP ${response.status}`);
  const tooLarge = () => new Error(`the file is larger than ${Math.round(limit / 2 ** 20)} MiB`);
  const declared = Number(response.headers.get('Content-Length')) || null;
  if (declared !== null && declared > limit) {
    await response.body.cancel();
    throw tooLarge();
  }
  const reader = response.body.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    size += step.value.length;
    if (size > limit) {
      await reader.cancel();
      throw tooLarge();
    }
    chunks.push(step.value);
    onProgress(size, declared);
  }
  return new Blob(chunks);
}
