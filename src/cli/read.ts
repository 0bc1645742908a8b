/** @file Reads files of strangers. Devices and pipes are refused, because reading them may never end. */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';

/** The largest size of a text, in bytes. JavaScript strings cannot be longer. */
export const LONGEST_TEXT = 2 ** 29 - 1024;

/** @throws Error if the path is no regular file, and no link to one */
export async function expectRegular(path: string): Promise<void> {
  if (!(await stat(path)).isFile()) throw new Error('expected a file, but it is not a regular file');
}

/** @throws Error if the file is not regular, or has more than 2 GiB */
export async function readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  await expectRegular(path);
  return new Uint8Array(await readFile(path));
}

export interface Line {
  text: string;
  /** Beginning with 1. */
  number: number;
  /** Whether the line has its end. The last line of a process that was killed may have none. */
  whole: boolean;
}

/** The lines of a file of any size. @throws Error if the file is not regular, or a line is too long for a text */
export async function* readLines(path: string): AsyncGenerator<Line> {
  await expectRegular(path);
  let parts: Buffer[] = [];
  let bytes = 0;
  let number = 0;
  const line = (whole: boolean): Line => {
    const text = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
    parts = [];
    bytes = 0;
    return { text, number: ++number, whole };
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      yield line(true);
      from = end + 1;
    }
    if (from === chunk.length) continue;
    parts.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > LONGEST_TEXT) throw new Error(`line ${number + 1} has more than ${LONGEST_TEXT} bytes: expected a shorter line`);
  }
  if (parts.length > 0) yield line(false);
}
