/**
 * @file Writes ONNX files. The messages and field numbers are those of
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, without the fields that a decoder does not need.
 */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

export class OnnxError extends Error {
  override name = 'OnnxError';
}

/** The values of TensorProto.DataType. */
export const ELEMENT = { float32: 1, int64: 7, bool: 9, float16: 10 } as const;
export type ElementType = keyof typeof ELEMENT;
const BYTES: Record<ElementType, number> = { float32: 4, int64: 8, bool: 1, float16: 2 };

/** The value of an attribute. A plain number is an integer attribute. */
export type Attribute = number | { float: number } | { ints: readonly number[] };

export interface Node {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes?: Readonly<Record<string, Attribute>>;
}

/** An input or output of the graph. A dimension is a number, or the name of a size that is known only when the graph runs. */
export interface Value {
  name: string;
  type: ElementType;
  shape: readonly (number | string)[];
}

/** A constant of the graph. `data` makes the elements when the file is written, so that only one tensor at a time is copied. */
export interface Initializer {
  name: string;
  type: ElementType;
  shape: readonly number[];
  data: () => ArrayBufferView;
}

export interface Graph {
  nodes: readonly Node[];
  inputs: readonly Value[];
  outputs: readonly Value[];
  initializers: readonly Initializer[];
}

/** The version of the operators. ONNX Runtime can run this version since 1.12 (July 2022). */
const OPSET = 17;
const IR_VERSION = 8;
/** Protobuf readers refuse longer messages. */
const MAX_BYTES = 2 ** 31 - 1;

type Write = (writer: BinaryWriter) => BinaryWriter;
const text = (writer: BinaryWriter, field: number, value: string) => writer.tag(field, WireType.LengthDelimited).string(value);
const integer = (writer: BinaryWriter, field: number, value: number) => writer.tag(field, WireType.Varint).int64(value);
const message = (writer: BinaryWriter, field: number, write: Write) => write(writer.tag(field, WireType.LengthDelimited).fork()).join();

const ATTRIBUTE_TYPE = { float: 1, int: 2, ints: 7 };

function attribute(writer: BinaryWriter, name: string, value: Attribute): BinaryWriter {
  text(writer, 1, name);
  if (typeof value === 'number') return integer(integer(writer, 3, value), 20, ATTRIBUTE_TYPE.int);
  if ('float' in value) return integer(writer.tag(2, WireType.Bit32).float(value.float), 20, ATTRIBUTE_TYPE.float);
  for (const item of value.ints) integer(writer, 8, item);
  return integer(writer, 20, ATTRIBUTE_TYPE.ints);
}

function node(writer: BinaryWriter, { op, inputs, outputs, attributes = {} }: Node): BinaryWriter {
  for (const name of inputs) text(writer, 1, name);
  for (const name of outputs) text(writer, 2, name);
  text(text(writer, 3, outputs[0]!), 4, op); // error messages of ONNX Runtime name the node
  for (const [name, value] of Object.entries(attributes)) message(writer, 5, (inner) => attribute(inner, name, value));
  return writer;
}

function valueInfo(writer: BinaryWriter, { name, type, shape }: Value): BinaryWriter {
  const dimension =
    (size: number | string): Write =>
    (w) =>
      typeof size === 'number' ? integer(w, 1, size) : text(w, 2, size);
  const dimensions: Write = (w) => shape.reduce((inner, size) => message(inner, 1, dimension(size)), w);
  const tensorType: Write = (w) => message(integer(w, 1, ELEMENT[type]), 2, dimensions);
  return message(text(writer, 1, name), 2, (w) => message(w, 1, tensorType));
}

const bytesOf = ({ type, shape }: Initializer) => shape.reduce((a, b) => a * b, 1) * BYTES[type];

/** The tag and length of a length-delimited field. The field's content follows in the file. */
const opening = (field: number, length: number) => new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();

/** The part of a TensorProto before its raw data. */
function tensorHead(tensor: Initializer): Uint8Array {
  const writer = new BinaryWriter();
  for (const size of tensor.shape) integer(writer, 1, size);
  text(integer(writer, 2, ELEMENT[tensor.type]), 8, tensor.name);
  return writer.tag(9, WireType.LengthDelimited).uint32(bytesOf(tensor)).finish();
}

const sizeOf = (parts: readonly Uint8Array[]) => parts.reduce((sum, { length }) => sum + length, 0);

/**
 * The bytes of a ModelProto. The model uses only standard ONNX operators, none of a particular runtime.
 * @throws OnnxError if the file would be larger than 2 GiB
 */
export function onnxFile({ nodes, inputs, outputs, initializers }: Graph): Uint8Array<ArrayBuffer> {
  const rest = new BinaryWriter();
  for (const value of nodes) message(rest, 1, (w) => node(w, value));
  text(rest, 2, 'decoder');
  for (const value of inputs) message(rest, 11, (w) => valueInfo(w, value));
  for (const value of outputs) message(rest, 12, (w) => valueInfo(w, value));
  const graphStart = rest.finish();

  const tensors = initializers.map((tensor) => {
    const head = tensorHead(tensor);
    return { tensor, heads: [opening(5, head.length + bytesOf(tensor)), head] };
  });
  const graphBytes = graphStart.length + tensors.reduce((sum, { tensor, heads }) => sum + sizeOf(heads) + bytesOf(tensor), 0);
  if (graphBytes > MAX_BYTES - 1000)
    throw new OnnxError(
      `the ONNX file would have ${(graphBytes / 2 ** 30).toFixed(2)} GiB: expected less than 2 GiB, the limit of protobuf`,
    );

  const model = text(integer(new BinaryWriter(), 1, IR_VERSION), 2, 'mua-rl-playground');
  message(model, 8, (w) => integer(text(w, 1, ''), 2, OPSET));
  const start = [model.finish(), opening(7, graphBytes), graphStart];

  const file = new Uint8Array(sizeOf(start) + graphBytes - graphStart.length);
  let at = 0;
  const put = (bytes: Uint8Array) => {
    file.set(bytes, at);
    at += bytes.length;
  };
  start.forEach(put);
  for (const { tensor, heads } of tensors) {
    heads.forEach(put);
    const { buffer, byteOffset, byteLength } = tensor.data();
    put(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return file;
}
