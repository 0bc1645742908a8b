/** bin/mcp-servers.mjs makes these modules. */
declare module 'mcp-server:*' {
  const start: (host: import('./index.ts').NodeHost) => Promise<void>;
  export default start;
}

declare module 'path-browserify' {
  export { default } from 'node:path/posix';
}
