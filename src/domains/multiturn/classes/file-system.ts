/** @file `GorillaFileSystem`: files and directories. */
import { fixed } from '../../../python/conversions.ts';
import { attributeError, compareTexts, contains, divide, less, negate, textFor, typeError } from '../../../python/operations.ts';
import { linesOf, splitWords } from '../../../python/strings.ts';
import { str } from '../../../python/text.ts';
import { type Dict, dict, equal, truth, type Value } from '../../../python/values.ts';
import { type Api, type ApiClass, type ApiContext, error, f } from './api.ts';
import { Directory, File, rootOf } from './files.ts';

const FORBIDDEN = [...'|/\\?%*:"><'];
const isValid = (name: Value) => !FORBIDDEN.some((char) => contains(name, char));
const MISSING = 'No such file or directory';

export const fileSystem: ApiClass = {
  signatures: {
    pwd: '',
    ls: 'a=False',
    cd: 'folder',
    mkdir: 'dir_name',
    touch: 'file_name',
    echo: 'content, file_name=None',
    cat: 'file_name',
    find: "path='.', name=None",
    wc: "file_name, mode='l'",
    sort: 'file_name',
    grep: 'file_name, pattern',
    du: 'human_readable=False',
    tail: 'file_name, lines=10',
    diff: 'file_name1, file_name2',
    mv: 'source, destination',
    rm: 'file_name',
    rmdir: 'dir_name',
    cp: 'source, destination',
  },
  create: (context) => new FileSystem(context),
};

class FileSystem implements Api {
  readonly attributes: Record<string, Value>;
  readonly #root: Directory;
  #here: Directory;

  constructor(context: ApiContext) {
    this.#root = this.#here = rootOf(context);
    this.attributes = { long_context: context.longContext, root: this.#root };
  }

  readonly methods: Api['methods'] = {
    pwd: () => {
      const path: string[] = [];
      for (let at: Directory | null = this.#here; at; at = at.parent) path.unshift(str(at.folderName));
      return dict({ current_working_directory: `/${path.join('/')}` });
    },
    ls: (all) => {
      const names = this.#here.contents.keys().filter((name) => truth(all!) || !textFor('startswith', name).startsWith('.'));
      return dict({ current_directory_content: names });
    },
    cd: (given) => this.#cd(textFor('rstrip', given!).replace(/\/+$/, '') || '/'),
    mkdir: (name) => {
      if (!isValid(name!)) return error(f`mkdir: cannot create directory '${name!}': Invalid character`);
      if (this.#here.contents.has(name!)) return error(f`mkdir: cannot create directory '${name!}': File exists`);
      this.#here.addDirectory(name!);
      return null;
    },
    touch: (name) => {
      if (!isValid(name!)) return error(f`touch: cannot touch '${name!}': Invalid character`);
      if (this.#here.contents.has(name!)) return error(f`touch: cannot touch '${name!}': File exists`);
      this.#here.addFile(name!);
      return null;
    },
    echo: (content, name) => {
      if (name === null) return dict({ terminal_output: content! });
      if (!isValid(name!)) return error(f`echo: cannot write to '${name!}': Invalid character`);
      if (!truth(name!)) return dict({ terminal_output: content! });
      if (!this.#here.contents.has(name!)) return error(f`echo: cannot write to '${name!}': No such file`);
      const file = this.#here.item(name!);
      if (!(file instanceof File)) throw attributeError(file, '_write');
      file.content = content!;
      return null;
    },
    cat: (name) => {
      if (!isValid(name!)) return error(f`cat: '${name!}': Invalid character`);
      if (!this.#here.contents.has(name!)) return error(f`cat: '${name!}': ${MISSING}`);
      const item = this.#here.item(name!);
      return item instanceof File ? dict({ file_content: item.content }) : error(f`cat: '${name!}': Is a directory`);
    },
    find: (path, name) => this.#find(path!, name!),
    wc: (name, mode) => {
      if (!['l', 'w', 'c'].some((one) => equal(one, mode!))) return error(f`wc: invalid mode '${mode!}'`);
      return this.#read('wc', name!, (content) => {
        if (mode === 'l') return dict({ count: BigInt(linesOf(content).length), type: 'lines' });
        if (mode === 'w') return dict({ count: BigInt(splitWords(textFor('split', content)).length), type: 'words' });
        return dict({ count: BigInt([...textFor('__len__', content)].length), type: 'characters' });
      });
    },
    sort: (name) =>
      this.#read('sort', name!, (content) => {
        return dict({ sorted_content: linesOf(content).sort(compareTexts).join('\n') });
      }),
    grep: (name, pattern) =>
      this.#read('grep', name!, (content) => {
        return dict({ matching_lines: linesOf(content).filter((line) => contains(line, pattern!)) });
      }),
    du: (readable) => this.#du(truth(readable!)),
    tail: (name, lines) => this.#read('tail', name!, (content) => dict({ last_lines: tail(linesOf(content), lines!) })),
    diff: (a, b) => {
      const [one, two] = [this.#file(a!), this.#here.contents.has(a!) ? this.#file(b!) : null];
      if (!one || !two) return error(f`diff: ${a!} or ${b!}: ${MISSING}`);
      const [left, right] = [one, two].map(({ content }) => linesOf(content)) as [string[], string[]];
      const lines = left.slice(0, right.length).flatMap((line, i) => (line === right[i] ? [] : [`- ${line}\n+ ${right[i]}`]));
      return dict({ diff_lines: lines.join('\n') });
    },
    mv: (source, destination) => this.#transfer('mv', source!, destination!),
    cp: (source, destination) => this.#transfer('cp', source!, destination!),
    rm: (name) => {
      if (!this.#here.contents.has(name!)) return error(f`rm: cannot remove '${name!}': ${MISSING}`);
      this.#here.contents.delete(name!);
      return dict({ result: f`'${name!}' removed` });
    },
    rmdir: (name) => {
      if (!this.#here.contents.has(name!)) return error(f`rmdir: cannot remove '${name!}': ${MISSING}`);
      const item = this.#here.item(name!);
      if (!(item instanceof Directory)) return error(f`rmdir: cannot remove '${name!}': Not a directory`);
      if (item.contents.size > 0) return error(f`rmdir: cannot remove '${name!}': Directory not empty`);
      this.#here.contents.delete(name!);
      return dict({ result: f`'${name!}' removed` });
    },
  };

  /** The file in the current directory. Null if there is none. */
  #file(name: Value): File | null {
    const item = this.#here.contents.has(name) ? this.#here.item(name) : null;
    return item instanceof File ? item : null;
  }

  #read(command: string, name: Value, use: (content: Value) => Dict): Dict {
    const file = this.#file(name);
    return file ? use(file.content) : error(f`${command}: ${name}: ${MISSING}`);
  }

  #cd(folder: string): Value {
    if (!['.', '..', '/'].includes(folder) && folder.includes('/'))
      return error(`cd: ${folder}: Unsupported path. Only one folder level at a time is supported.`);
    if (folder === '..') {
      if (this.#here.parent) this.#here = this.#here.parent;
      else if (this.#root.equals(this.#here)) return error('Current directory is already the root. Cannot go back.');
      else return error('cd: ..: No such directory');
      return dict({});
    }
    const target = this.#directoryAt(folder);
    if (!target) return error(`cd: '${folder}': ${MISSING}`);
    this.#here = target;
    return dict({ current_working_directory: target.folderName });
  }

  /** The directory at a path. Null if there is none. */
  #directoryAt(path: Value): Directory | null {
    if (path === null || path === '.') return this.#here;
    const text = textFor('strip', path);
    if (text === '/') return this.#root;
    let at: Directory = text.startsWith('/') ? this.#root : this.#here;
    for (const name of text.replace(/^\/+|\/+$/g, '').split('/')) {
      const next = at.item(name);
      if (!(next instanceof Directory)) return null;
      at = next;
    }
    return at;
  }

  #find(path: Value, name: Value): Dict {
    const start = this.#directoryAt(path);
    if (!start) return error(f`find: '${path}': ${MISSING}`);
    const matches: string[] = [];
    const search = (directory: Directory, base: string) => {
      for (const [key, item] of directory.contents.entries()) {
        const own = f`${base}/${key}`;
        if (name === null || contains(key, name)) matches.push(own);
        if (item instanceof Directory) search(item, own);
      }
    };
    search(start, textFor('rstrip', path).replace(/\/+$/, ''));
    return dict({ matches });
  }

  #du(readable: boolean): Dict {
    const sizeOf = (item: Value): number => {
      if (item instanceof File) return new TextEncoder().encode(textFor('encode', item.content)).length;
      return item instanceof Directory ? item.contents.values().reduce((sum: number, child) => sum + sizeOf(child), 0) : 0;
    };
    let size: Value = BigInt(sizeOf(this.#here));
    if (!readable) return dict({ disk_usage: f`${size} bytes` });
    for (const unit of ['B', 'KB', 'MB', 'GB', 'TB']) {
      if (less(size, 1024n)) return dict({ disk_usage: `${fixed(size, 2)} ${unit}` });
      size = divide(size, 1024n);
    }
    return dict({ disk_usage: `${fixed(size, 2)} PB` });
  }

  /** Moves or copies. A directory becomes a new object, whose children keep the old one as their parent. */
  #transfer(command: 'mv' | 'cp', source: Value, destination: Value): Dict {
    const { contents } = this.#here;
    const [act, done] = command === 'mv' ? ['move', 'moved'] : ['copy', 'copied'];
    if (!contents.has(source)) return error(f`${command}: cannot ${act} '${source}': ${MISSING}`);
    const item = this.#here.item(source);
    if (contains(destination, '/')) return error(`${command}: path not allowed in destination. Provide only a file or directory name.`);
    if (!contents.has(destination)) {
      if (command === 'mv') contents.delete(source);
      place(item, this.#here, destination, command === 'cp');
      return dict({ result: f`'${source}' ${done} to '${destination}'` });
    }
    const target = this.#here.item(destination);
    if (!(target instanceof Directory)) return error(f`${command}: cannot ${act} '${source}' to '${destination}': Not a directory`);
    // Upstream's `cp` looks for a file whose name is the whole path, so it never finds one.
    if (target.contents.has(command === 'mv' ? source : f`${destination}/${source}`))
      return error(f`${command}: cannot ${act} '${source}' to '${destination}/${source}': File exists`);
    if (command === 'mv') contents.delete(source);
    place(item, target, source, command === 'cp');
    return dict({ result: f`'${source}' ${done} to '${destination}/${source}'` });
  }
}

/** Puts a file or directory into a directory. The copy of a directory shares the files with it. */
function place(item: Value, into: Directory, name: Value, copy: boolean): void {
  if (item instanceof File) into.addFile(name, item.content);
  else if (item instanceof Directory) {
    const added = into.addDirectory(name);
    added.contents = copy ? item.contents.copy() : item.contents;
  }
}

/** Python's `lines[-count:]`, with at most all lines. */
function tail(lines: string[], count: Value): string {
  const most = less(BigInt(lines.length), count) ? BigInt(lines.length) : count;
  const start = negate(most);
  if (typeof start !== 'bigint') throw typeError('slice indices must be integers or None or have an __index__ method');
  return lines.slice(Number(start)).join('\n');
}
