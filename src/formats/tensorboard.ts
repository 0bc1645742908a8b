/**
 * @file Writes metrics as a TensorBoard event file. The file is a list of TFRecords: length, masked CRC-32C, data, masked CRC-32C. Each
 * record is an `Event` of tensorflow/core/util/event.proto, with the simple values of one step.
 */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { StepMetrics } from '../records/run.ts';

/** Field numbers of event.proto and summary.proto. */
const EVENT = { wall_time: 1, step: 2, file_version: 3, summary: 5 } as const;
const SUMMARY = { value: 1 } as const;
const VALUE = { tag: 1, simple_value: 2 } as const;

/** TensorBoard reads only files whose names contain this word. */
export const EVENT_FILE = 'events.out.tfevents';

/** @param startedAt start of the run, in milliseconds since 1970; a step's time is this start plus the durations of all steps up to it */
export function tensorBoardEvents(metrics: readonly StepMetrics[], startedAt: number): Uint8Array<ArrayBuffer> {
  let seconds = startedAt / 1000;
  const records = [event(seconds, (writer) => writer.tag(EVENT.file_version, WireType.LengthDelimited).string('brain.Event:2'))];
  for (const { step, ...values } of metrics) {
    seconds += values['timing_s/step'] ?? 0;
    const shown = Object.entries(values).filter(([, value]) => typeof value === 'number' && Number.isFinite(value));
    records.push(
      event(seconds, (writer) => {
        writer.tag(EVENT.step, WireType.Varint).int64(step);
        writer.tag(EVENT.summary, WireType.LengthDelimited).fork();
        for (const [tag, value] of shown) {
          writer.tag(SUMMARY.value, WireType.LengthDelimited).fork();
          writer.tag(VALUE.tag, WireType.LengthDelimited).string(tag);
          writer.tag(VALUE.simple_value, WireType.Bit32).float(value).join();
        }
        return writer.join();
      }),
    );
  }
  const file = new Uint8Array(records.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of records) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
}

function event(seconds: number, write: (writer: BinaryWriter) => BinaryWriter): Uint8Array {
  const data = write(new BinaryWriter().tag(EVENT.wall_time, WireType.Bit64).double(seconds)).finish();
  const bytes = new Uint8Array(8 + 4 + data.length + 4);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc(bytes.subarray(0, 8)), true);
  bytes.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc(data), true);
  return bytes;
}

/** The table of CRC-32C, for Castagnoli's polynomial in reflected form. */
const TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  let value = i;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value >>> 0;
});

/** CRC-32C (RFC 3720). */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** The CRC with TFRecord's mask: it is rotated right by 15 bits, and a constant is added. */
function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
