/** @file The files and directories of `GorillaFileSystem`, and the conversion of a config to them. */
import { add, itemOf } from '../../../python/operations.ts';
import { repr, str } from '../../../python/text.ts';
import { Dict, equal, PyError, PyObject, type Value } from '../../../python/values.ts';
import { fillerOf } from '../tables.ts';
import type { ApiContext } from './api.ts';

export class File extends PyObject {
  readonly typeName = 'File';

  constructor(
    readonly fileName: Value,
    public content: Value,
  ) {
    super();
  }

  repr(): string {
    return `<<File: ${str(this.fileName)}, Content: ${str(this.content)}>>`;
  }

  override equals(other: Value): boolean {
    return other instanceof File && equal(this.fileName, other.fileName) && equal(this.content, other.content);
  }
}

export class Directory extends PyObject {
  readonly typeName = 'Directory';
  contents = new Dict();

  constructor(
    readonly folderName: Value,
    readonly parent: Directory | null,
  ) {
    super();
  }

  repr(): string {
    return `<Directory: ${str(this.folderName)}, Parent: ${this.parent ? str(this.parent.folderName) : 'None'}, Contents: ${repr(this.contents)}>`;
  }

  override equals(other: Value): boolean {
    return other instanceof Directory && equal(this.folderName, other.folderName) && equal(this.contents, other.contents);
  }

  /** @throws {PyError} if the name is in use */
  addFile(name: Value, content: Value = ''): void {
    this.#checkFree('File', name);
    this.contents.set(name, new File(name, content));
  }

  /** @throws {PyError} if the name is in use */
  addDirectory(name: Value): Directory {
    this.#checkFree('Directory', name);
    const added = new Directory(name, this);
    this.contents.set(name, added);
    return added;
  }

  #checkFree(kind: string, name: Value): void {
    if (this.contents.has(name))
      throw new PyError('ValueError', `${kind} '${str(name)}' already exists in directory '${str(this.folderName)}'.`);
  }

  /** The file or directory with that name. `.` is the directory itself. */
  item(name: Value): Value {
    return name === '.' ? this : (this.contents.get(name) ?? null);
  }
}

/** The root directory of a config. */
export function rootOf({ config, tables, longContext }: ApiContext): Directory {
  const given = config.get('root');
  if (!(given instanceof Dict)) return new Directory('/', null);
  const [name, entry] = given.entries()[0]!;
  return fill(new Directory(name, null), itemOf(entry, 'contents') as Dict);

  function fill(directory: Directory, contents: Dict): Directory {
    let innermost = true;
    for (const [child, data] of contents.entries()) {
      const type = itemOf(data, 'type');
      if (type === 'directory') {
        innermost = false;
        directory.contents.set(child, fill(new Directory(child, directory), itemOf(data, 'contents') as Dict));
      } else if (type === 'file') {
        const content = itemOf(data, 'content');
        const long = longContext && !(fillerOf(tables, 'FILES_TAIL_USED') as Value[]).includes(child);
        directory.contents.set(child, new File(child, long ? add(content, fillerOf(tables, 'FILE_CONTENT_EXTENSION')) : content));
      }
    }
    if (innermost && longContext) for (const file of fillerOf(tables, 'POPULATE_FILE_EXTENSION') as Value[]) directory.addFile(file);
    return directory;
  }
}
