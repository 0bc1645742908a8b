declare module 'path-browserify' {
  export { default } from 'node:path/posix';
}
