/** @file Node's module `fs/promises` over files in memory, as far as MCP servers use it. Errors have the words of Node on Linux. */
import path from 'path-browserify';
import { Bytes } from './node-values.ts';

const CODES = {
  ENOENT: [-2, 'no such file or directory'],
  EEXIST: [-17, 'file already exists'],
  ENOTDIR: [-20, 'not a directory'],
  EISDIR: [-21, 'illegal operation on a directory'],
  EINVAL: [-22, 'invalid argument'],
  ENAMETOOLONG: [-36, 'name too long'],
  ENOTEMPTY: [-39, 'directory not empty'],
} as const;
const LONGEST_NAME = 255;
const LONGEST_PATH = 4095;
/** All times are this one, so that two episodes answer alike. */
const TIME = new Date(0);

function failure(code: keyof typeof CODES, syscall: string, from?: string, to?: string): Error {
  const [errno, words] = CODES[code];
  const where = [from, to].filter((one) => one !== undefined).map((one) => `'${one}'`);
  const message = `${code}: ${words}, ${syscall}${where.length > 0 ? ` ${where.join(' -> ')}` : ''}`;
  return Object.assign(new Error(message), { code, errno, syscall, ...(from !== undefined && { path: from }), ...(to && { dest: to }) });
}

const encode = (text: string): Bytes => Bytes.from(text);
const sizeOf = (name: string): number => encode(name).length;

/** Files and folders by their absolute paths. A folder has null. */
export class MemoryFiles {
  readonly #nodes = new Map<string, Bytes | null>([['/', null]]);

  /** @param folder the absolute path of a folder @param files texts by their paths in the folder */
  constructor(folder: string, files: Readonly<Record<string, string>> = {}) {
    this.#makeFolder(folder);
    for (const [name, text] of Object.entries(files)) {
      const own = path.join(folder, name);
      this.#makeFolder(path.dirname(own));
      this.#nodes.set(own, encode(text));
    }
  }

  /** The texts of all files below a folder, by their paths in it, in the order of the paths. */
  texts(folder: string): Record<string, string> {
    const below = [...this.#nodes].flatMap(([own, bytes]) =>
      bytes && own.startsWith(`${folder}/`) ? [[own.slice(folder.length + 1), bytes.toString()] as const] : [],
    );
    return Object.fromEntries(below.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  readonly access = async (own: string) => void this.#at(own, 'access');
  readonly realpath = async (own: string) => {
    this.#at(own, 'realpath');
    return plain(own);
  };
  readonly stat = async (own: string) => statOf(this.#at(own, 'stat'));
  readonly lstat = async (own: string) => statOf(this.#at(own, 'lstat'));
  readonly chmod = async (own: string) => void this.#at(own, 'chmod');

  readonly readFile = async (own: string, encoding?: string | { encoding?: string }) => {
    const bytes = this.#at(own, 'open');
    if (!bytes) throw failure('EISDIR', 'read');
    return encoding === undefined ? Bytes.from(bytes) : bytes.toString();
  };

  readonly writeFile = async (own: string, data: string | Uint8Array, options?: string | { flag?: string }) => {
    const target = this.#place(own, 'open');
    const old = this.#nodes.get(target);
    if (old !== undefined && typeof options === 'object' && options.flag?.includes('x')) throw failure('EEXIST', 'open', own);
    if (old === null) throw failure('EISDIR', 'open', own);
    this.#nodes.set(target, Bytes.from(data));
  };

  readonly unlink = async (own: string) => {
    if (this.#at(own, 'unlink') === null) throw failure('EISDIR', 'unlink', own);
    this.#nodes.delete(plain(own));
  };

  readonly rename = async (from: string, to: string) => {
    const moved = this.#at(from, 'rename', to);
    const [source, target] = [plain(from), this.#place(to, 'rename', from)];
    if (source === target) return;
    if (target.startsWith(`${source}/`)) throw failure('EINVAL', 'rename', from, to);
    const old = this.#nodes.get(target);
    if (old === null && moved !== null) throw failure('EISDIR', 'rename', from, to);
    if (old && moved === null) throw failure('ENOTDIR', 'rename', from, to);
    if (old === null && this.#names(target).length > 0) throw failure('ENOTEMPTY', 'rename', from, to);
    for (const [own, node] of [...this.#nodes])
      if (own === source || own.startsWith(`${source}/`)) {
        this.#nodes.delete(own);
        this.#nodes.set(target + own.slice(source.length), node);
      }
  };

  readonly mkdir = async (own: string, { recursive = false }: { recursive?: boolean } = {}) => {
    if (recursive) return this.#makeFolder(own);
    const target = this.#place(own, 'mkdir');
    if (this.#nodes.has(target)) throw failure('EEXIST', 'mkdir', own);
    this.#nodes.set(target, null);
  };

  readonly readdir = async (own: string, { withFileTypes = false }: { withFileTypes?: boolean } = {}) => {
    if (this.#at(own, 'scandir') !== null) throw failure('ENOTDIR', 'scandir', own);
    const names = this.#names(plain(own));
    if (!withFileTypes) return names;
    return names.map((name) => ({ name, ...kindOf(this.#nodes.get(path.join(plain(own), name))!) }));
  };

  readonly open = async (own: string) => {
    const bytes = this.#at(own, 'open');
    return {
      read: async (buffer: Uint8Array, offset: number, length: number, position: number) => {
        if (!bytes) throw failure('EISDIR', 'read');
        const part = bytes.subarray(position, position + length);
        buffer.set(part, offset);
        return { bytesRead: part.length, buffer };
      },
      close: async () => {},
    };
  };

  /** The node of a path that must exist. */
  #at(own: string, syscall: string, to?: string): Bytes | null {
    this.#reach(own, syscall, to);
    const node = this.#nodes.get(plain(own));
    if (node === undefined) throw failure('ENOENT', syscall, own, to);
    return node;
  }

  /** The path of a node that may not exist, but whose folder must. */
  #place(own: string, syscall: string, from?: string): string {
    const [first, second] = from === undefined ? [own] : [from, own];
    this.#reach(own, syscall);
    if (this.#nodes.get(path.dirname(plain(own))) !== null) throw failure('ENOENT', syscall, first, second);
    return plain(own);
  }

  /** Checks the names of a path, and that no file stands where a folder must be. */
  #reach(own: string, syscall: string, to?: string): void {
    if (own.includes('\0')) {
      const shown = own.replaceAll('\0', '\\x00');
      const message = `The argument 'path' must be a string, Uint8Array, or URL without null bytes. Received '${shown}'`;
      throw Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_VALUE' });
    }
    const names = plain(own).split('/').slice(1);
    if (sizeOf(own) > LONGEST_PATH) throw failure('ENAMETOOLONG', syscall, own, to);
    for (let depth = 0; depth < names.length; depth++) {
      if (sizeOf(names[depth]!) > LONGEST_NAME) throw failure('ENAMETOOLONG', syscall, own, to);
      const above = this.#nodes.get(`/${names.slice(0, depth).join('/')}`);
      if (above) throw failure('ENOTDIR', syscall, own, to);
      if (above === undefined) return;
    }
  }

  #makeFolder(own: string): void {
    this.#reach(own, 'mkdir');
    const names = plain(own).split('/').slice(1);
    if (this.#nodes.get(plain(own))) throw failure('EEXIST', 'mkdir', own);
    for (let depth = 1; depth <= names.length; depth++) {
      const above = `/${names.slice(0, depth).join('/')}`;
      if (!this.#nodes.has(above)) this.#nodes.set(above, null);
    }
  }

  /** The names in a folder, in the order in which Node lists them. */
  #names(folder: string): string[] {
    const start = folder === '/' ? '/' : `${folder}/`;
    const names = [...this.#nodes.keys()].filter((own) => own.startsWith(start) && own !== start && !own.includes('/', start.length));
    const bytes = names.map((own) => own.slice(start.length)).map((name) => [name, encode(name)] as const);
    return bytes.sort(([, a], [, b]) => compare(a, b)).map(([name]) => name);
  }
}

const plain = (own: string): string => (own === '/' ? own : path.normalize(own).replace(/\/$/, ''));

function compare(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

const kindOf = (node: Bytes | null) => ({
  isDirectory: () => node === null,
  isFile: () => node !== null,
  isSymbolicLink: () => false,
});

const statOf = (node: Bytes | null) => ({
  ...kindOf(node),
  size: node?.length ?? 4096,
  mode: node ? 0o100644 : 0o40755,
  birthtime: TIME,
  mtime: TIME,
  atime: TIME,
});
