/** @file The MCP servers inside the tab, so that a visitor can try the page of servers without one: bundled ones, and worlds. */
import { Server } from '@modelcontextprotocol/server';
import { domainOf } from '../domains/registry.ts';
import { runDrafted } from '../environments/domain.ts';
import { Overlay, World } from '../environments/overlay.ts';
import { type HereServer, offerServer } from '../mcp/here.ts';
import { BUNDLED_TITLES } from '../mcp/servers/index.ts';
import type { Json } from '../records/json.ts';
import { FIRST, generatedDomains, type GeneratedDomain } from './open-world.ts';

export interface OfferedServer {
  /** The name of the server, for a target of the kind `here`. */
  server: string;
  title: string;
}

/** Offers the first world of each domain and level. Each connection to a server begins with its first data. */
export async function offerWorlds(): Promise<OfferedServer[]> {
  const bundled = Object.entries(BUNDLED_TITLES).map(([server, title]) => ({ server, title }));
  const worlds = (await generatedDomains()).flatMap((domain) =>
    domain.definition.levels.map((level) => {
      const server = `${domain.definition.name}-${level}`;
      offerServer(server, serve(domain, level, server));
      return { server, title: `${domain.title}, ${level}` };
    }),
  );
  return [...bundled, ...worlds];
}

const serve =
  ({ definition, worldId }: GeneratedDomain, level: string, name: string): HereServer =>
  async (transport) => {
    const { tools } = await definition.domain(level);
    const { audit, unreported } = domainOf(definition.name) ?? {};
    const writes = (await (audit ?? unreported)?.())?.writes;
    const id = worldId(level, FIRST);
    const rows = new Overlay(new World(id, await definition.world(id)));
    let calls = 0;
    const server = new Server({ name, version: String(definition.version) }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({
      tools: tools.map(({ function: { name, description, parameters } }) => ({
        name,
        description,
        inputSchema: parameters,
        ...(writes && { annotations: { readOnlyHint: !writes.includes(name) } }),
      })),
    }));
    server.setRequestHandler('tools/call', ({ params }) => {
      const call = { name: params.name, arguments: (params.arguments ?? {}) as Record<string, Json> };
      const { text, error, written } = runDrafted(definition, rows, call, level, calls++);
      rows.apply(written);
      return { content: [{ type: 'text' as const, text }], isError: error };
    });
    await server.connect(transport);
  };
