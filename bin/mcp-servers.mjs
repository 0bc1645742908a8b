// @ts-check
/**
 * @file Lets MCP servers that were written for Node run in this tab or process. A server's unchanged code becomes the body of a function, so
 * that each call of the function starts a new server. The function gets Node's modules and global objects from its caller.
 */
import { createRequire } from 'node:module';
import { join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The packages by the modules in whose place their code stands. */
const PACKAGES = /** @type {Record<string, string>} */ ({
  'src/mcp/servers/memory.ts': '@modelcontextprotocol/server-memory',
  'src/mcp/servers/filesystem.ts': '@modelcontextprotocol/server-filesystem',
  'src/mcp/servers/taskmanager.ts': '@kazuph/mcp-taskmanager',
});
/** What the caller of the function replaces, beside Node's modules. */
const STDIO = '@modelcontextprotocol/sdk/server/stdio.js';
const GLOBALS = 'process, Buffer, console';
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

/** @returns {import('vite').Plugin} */
export function mcpServers() {
  return {
    name: 'mcp-servers',
    enforce: 'pre',
    resolveId(source, importer) {
      // The server's packages may have other versions than ours.
      const entry = importer && !/^[./]/.test(source) && entryOf(importer);
      return entry ? this.resolve(source, entry, { skipSelf: true }) : null;
    },
    async load(id) {
      const entry = entryOf(id);
      return entry ? functionOf(await bundled(entry)) : null;
    },
  };
}

/** The file of the server whose code stands in the place of a module. Undefined for other modules. @param {string} id */
export function entryOf(id) {
  const place = Object.keys(PACKAGES).find((path) => normalize(id) === join(ROOT, path));
  return place && require.resolve(`${PACKAGES[place]}/dist/index.js`);
}

/** The server's own files as one. @param {string} entry */
async function bundled(entry) {
  const { build } = await import('vite');
  const result = await build({
    root: ROOT,
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: entry,
      write: false,
      minify: false,
      rolldownOptions: {
        checks: { pluginTimings: false },
        external: (/** @type {string} */ source) => !/^[./]/.test(source),
        output: { format: 'es' },
      },
    },
  });
  const [{ output }] = /** @type {{ output: { code: string }[] }[]} */ ([result].flat());
  return output[0].code;
}

/** @param {string} code of a module that has all its imports at the start of lines */
function functionOf(code) {
  /** @type {string[]} */
  const kept = [];
  /** @type {string[]} */
  const given = [];
  const body = code
    .replace(/^#!.*\n/, '')
    .replace(/^import\s+([^;'"]+?)\s+from\s+["']([^"']+)["'];?$/gm, (whole, names, source) => {
      const replaced = source === STDIO ? 'stdio' : isBuiltin(source) ? source.replace('node:', '') : undefined;
      if (replaced === undefined) kept.push(whole);
      else given.push(...bindings(names, `host.modules[${JSON.stringify(replaced)}]`));
      return '';
    })
    .replace(/^export\s*\{[^}]*\};?$/gm, '')
    .replaceAll('import.meta.url', 'host.url');
  const left = /^\s*(?:import\b|export\b).*$/m.exec(body);
  if (left) throw new Error(`the code of an MCP server has a statement that cannot stand in a function: ${left[0]}`);
  return `${kept.join('\n')}\nexport default async function (host) {\nconst { ${GLOBALS} } = host.globals;\n${given.join('\n')}\n${body}\n}\n`;
}

/** @param {string} source */
const isBuiltin = (source) => /^(node:)?(fs|fs\/promises|path|crypto|url|os|string_decoder)$/.test(source);

/**
 * Declarations in place of an import. @param {string} names `fs, { createReadStream as read }` @param {string} from
 * @returns {string[]}
 */
function bindings(names, from) {
  const [, single, list] = /^(?:(?:\*\s+as\s+)?([\w$]+))?\s*,?\s*(?:\{([^}]*)\})?$/.exec(names.trim()) ?? [];
  if (single === undefined && list === undefined) throw new Error(`an MCP server has an import of an unknown form: ${names}`);
  return [
    ...(single ? [`const ${single} = ${from};`] : []),
    ...(list ? [`const { ${list.replace(/(\w+)\s+as\s+(\w+)/g, '$1: $2')} } = ${from};`] : []),
  ];
}
