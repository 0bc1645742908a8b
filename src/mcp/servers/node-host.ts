/** @file What an MCP server that runs here has instead of Node. */

/** What the code of a server gets in place of Node. `bin/mcp-servers.mjs` makes the function. */
export interface NodeHost {
  modules: Readonly<Record<string, unknown>>;
  globals: { process: unknown; Buffer: unknown; console: unknown };
  url: string;
}
