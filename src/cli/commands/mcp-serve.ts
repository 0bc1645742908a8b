/** @file `mua mcp serve`: a domain as an MCP server, over stdin and stdout, or at an address of this computer. */
import { readFlags } from '../args.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { envServe, readPlace, STAGE_FLAGS } from './env-serve.ts';
import { USER_FLAGS } from './shared.ts';

export const mcpServe = command({
  summary: 'serve a domain as an MCP server, over stdin and stdout or at a port',
  flags: {
    ...STAGE_FLAGS,
    port: { type: 'integer', value: 'P', help: 'serve at http://127.0.0.1:P/mcp instead of stdin and stdout', min: 0, max: 65_535 },
    ...USER_FLAGS,
  },
  async run({ port, ...flags }, progress) {
    if (port !== undefined) return envServe.run({ ...readFlags([], envServe.flags), ...flags, port }, progress);
    const place = await readPlace(flags, progress);
    const { serveOverStdio } = await import('../../serve/index.ts');
    progress.clear();
    await serveOverStdio(place).catch((error: Error) => {
      throw ['InputError', 'ImportError', 'ConfigError', 'UserError'].includes(error.name) ? new UsageError(error.message) : error;
    });
  },
  show: () => [],
});
