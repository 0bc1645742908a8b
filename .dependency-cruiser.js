/**
 * @file Forbids circular imports between files, type imports included. `npm run lint` checks src and workers.
 * dependency-cruiser reads components as Svelte compiles them, without type imports.
 * It therefore misses a cycle that needs a type import of a component's script.
 */
/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  // A component may import itself: that is how Svelte renders a tree.
  forbidden: [{ name: 'no-circular', severity: 'error', from: { path: '(.+)' }, to: { circular: true, pathNot: '^$1$' } }],
  options: { includeOnly: '^(src|workers)/', tsPreCompilationDeps: true },
};
