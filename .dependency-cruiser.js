/**
 * @file Forbids circular imports between files, type imports included, and imports of code that starts commands. `npm run lint` checks src
 * and workers.
 * dependency-cruiser reads components as Svelte compiles them, without type imports.
 * It therefore misses a cycle that needs a type import of a component's script.
 */
/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  // A component may import itself: that is how Svelte renders a tree.
  forbidden: [
    { name: 'no-circular', severity: 'error', from: { path: '(.+)' }, to: { circular: true, pathNot: '^$1$' } },
    // Commands come from the command line only, never from the page.
    { name: 'no-commands', severity: 'error', from: { pathNot: '^src/(cli|mcp/node)/' }, to: { path: '^src/mcp/node/' } },
  ],
  options: { includeOnly: '^(src|workers)/', tsPreCompilationDeps: true },
};
