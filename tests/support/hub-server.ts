/**
 * A local server with the addresses of the Hugging Face Hub: the description of a model, its list of files, and its files,
 * also in ranges. Downloads can be made to break off. Its CORS rules allow pages.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelFiles } from '../../src/records/model.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';

export interface HubServer {
  url: string;
  /** The addresses that were requested, with their ranges. */
  requests: string[];
  /** How often a download of a file still breaks off in its middle. */
  breaks: number;
  close(): Promise<void>;
}

/** @param models the files of each model, by its name `OWNER/NAME` */
export async function startHubServer(models: Record<string, ModelFiles>): Promise<HubServer> {
  const hub = { requests: [] as string[], breaks: 0 };
  const headers = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Headers': 'Range',
    'Access-Control-Allow-Private-Network': 'true',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  };
  const server = createServer((request, response) => {
    if (request.method === 'OPTIONS') return void response.writeHead(204, headers).end();
    const path = decodeURIComponent(new URL(request.url!, 'http://x').pathname);
    const { range = '' } = request.headers;
    hub.requests.push(`${path} ${range}`.trim());
    const [, api, name, kind, revision, file] =
      /^(\/api\/models)?\/([^/]+\/[^/]+)(?:\/(tree|resolve)\/([^/]+))?(?:\/(.+))?$/.exec(path) ?? [];
    const files = models[name ?? ''];
    const json = (value: unknown) => response.writeHead(200, { ...headers, 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    if (!files || (revision !== undefined && revision !== SHA)) return void response.writeHead(404, headers).end();
    if (api && !kind) return void json({ id: name, sha: SHA });
    if (api) return void json(Object.entries(files).map(([at, bytes]) => ({ type: 'file', path: at, size: bytes.length })));
    const bytes = files[file ?? ''];
    if (!bytes) return void response.writeHead(404, headers).end();
    const from = Number(/^bytes=(\d+)-$/.exec(range)?.[1] ?? 0);
    response.writeHead(range ? 206 : 200, { ...headers, 'Content-Length': bytes.length - from });
    if (hub.breaks > 0 && bytes.length > 100_000) {
      hub.breaks -= 1;
      // Without the wait, a slow browser loses the bytes that it has not read when the connection breaks.
      response.write(bytes.subarray(from, from + 50_000), () => setTimeout(() => response.destroy(), 500));
      return;
    }
    response.end(bytes.subarray(from));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(hub, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}
