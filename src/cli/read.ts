/** @file Reads files of strangers. Devices and pipes are refused, because reading them may never end. */
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Activities } from '../base/activities.ts';

/** The files that are read now. */
export const reading = new Activities();

const inMegabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

/** The bytes of a file, in pieces. `reading` says how far it is. */
export async function* readPieces(path: string): AsyncGenerator<Buffer> {
  const { size } = await stat(path);
  const activity = reading.begin(`reading ${basename(path)}`);
  let done = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 })) {
      const piece = chunk as Buffer;
      activity.now(`reading ${basename(path)}: ${inMegabytes((done += piece.length))} of ${inMegabytes(size)} MB`);
      yield piece;
    }
  } finally {
    activity.end();
  }
}

/** The largest size of a text, in bytes. JavaScript strings cannot be longer. */
export const LONGEST_TEXT = 2 ** 29 - 1024;

/** @throws Error if the path is no regular file, and no link to one */
export async function expectRegular(path: string): Promise<void> {
  if (!(await stat(path)).isFile()) throw new Error('expected a file, but it is not a regular file');
}

/** @throws Error if the file is not regular, or has more than 2 GiB */
export async function readBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  await expectRegular(path);
  return new Uint8Array(await reading.during(`reading ${basename(path)}`, () => readFile(path)));
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
  for await (const chunk of readPieces(path)) {
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
