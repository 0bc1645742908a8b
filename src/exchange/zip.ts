/**
 * @file Writes a zip. It uses the browser's deflate, because fflate's would block the page. It writes the size of each file before the
 * file's data, because a reader of streams needs the size first.
 */

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let crc = n;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

function crc32(bytes: Uint8Array): number {
  let crc = -1;
  for (let i = 0; i < bytes.length; i++) crc = TABLE[(crc ^ bytes[i]!) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

/** Date and time in the MS-DOS format. They are in UTC, so that the same input gives the same bytes in every time zone. */
function dosTime(date: Date): number {
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate();
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1);
  return ((day << 16) | time) >>> 0;
}

const UTF8_NAMES = 0x0800;
const MAX_BYTES = 0xffffffff;

/** The files, with the folder's name in front of their names. */
export const inFolder = (folder: string, files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>) =>
  Object.fromEntries(Object.entries(files).map(([name, bytes]) => [`${folder}/${name}`, bytes]));

/** @throws Error if the files are too large for a zip without the zip64 extension */
export async function zipFiles(files: Readonly<Record<string, Uint8Array<ArrayBuffer>>>, date: Date): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const packed = await deflate(bytes);
    const stored = packed.length >= bytes.length;
    const data = stored ? bytes : packed;
    const encoded = new TextEncoder().encode(name);
    /** Writes the fields that both headers share. The first of them is `version needed`. */
    const shared = (view: DataView, at: number) => {
      view.setUint16(at, 20, true);
      view.setUint16(at + 2, UTF8_NAMES, true);
      view.setUint16(at + 4, stored ? 0 : 8, true);
      view.setUint32(at + 6, dosTime(date), true);
      view.setUint32(at + 10, crc, true);
      view.setUint32(at + 14, data.length, true);
      view.setUint32(at + 18, bytes.length, true);
      view.setUint16(at + 22, encoded.length, true);
    };
    const crc = crc32(bytes);
    const local = new Uint8Array(30 + encoded.length);
    const localView = new DataView(local.buffer);
    localView.setUint32(0, 0x04034b50, true);
    shared(localView, 4);
    local.set(encoded, 30);
    const entry = new Uint8Array(46 + encoded.length);
    const entryView = new DataView(entry.buffer);
    entryView.setUint32(0, 0x02014b50, true);
    entryView.setUint16(4, 20, true);
    shared(entryView, 6);
    entryView.setUint32(42, offset, true);
    entry.set(encoded, 46);
    parts.push(local, data);
    directory.push(entry);
    offset += local.length + data.length;
    if (offset > MAX_BYTES) throw new Error('the files are larger than 4 GiB: a zip cannot hold them');
  }
  const directoryBytes = directory.reduce((sum, { length }) => sum + length, 0);
  const end = new Uint8Array(22);
  const view = new DataView(end.buffer);
  view.setUint32(0, 0x06054b50, true);
  view.setUint16(8, directory.length, true);
  view.setUint16(10, directory.length, true);
  view.setUint32(12, directoryBytes, true);
  view.setUint32(16, offset, true);
  return new Blob([...parts, ...directory, end], { type: 'application/zip' });
}
