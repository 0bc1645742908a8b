/** Options of a server of `mua env-serve` for tests. */
import type { EnvServerOptions } from '../../src/serve/server.ts';

export const SERVER_OPTIONS: EnvServerOptions = {
  port: 0,
  host: '127.0.0.1',
  maxSessions: 8,
  maxFrameBytes: 1 << 20,
  sessionSeconds: 60,
  idleSeconds: 60,
  graceSeconds: 1,
  log: () => {},
};
