/**
 * @file A writer of ONNX files: the protobuf wire format and the few messages a decoder needs (ModelProto, GraphProto,
 * NodeProto, TensorProto, …). Field numbers are those of onnx.proto.
 */

/** Length-delimited parts, joined once at the end. */
type Bytes = Uint8Array;

const utf8 = new TextEncoder();

function varint(value: number): Bytes {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Uint8Array.from(bytes);
}

function join(parts: Bytes[]): Bytes {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;
const tag = (field: number, wire: number) => varint(field * 8 + wire);
const integer = (field: number, value: number) => join([tag(field, VARINT), varint(value)]);
const bytes = (field: number, value: Bytes) => join([tag(field, LENGTH_DELIMITED), varint(value.length), value]);
const text = (field: number, value: string) => bytes(field, utf8.encode(value));
const float = (field: number, value: number) => join([tag(field, FIXED32), new Uint8Array(Float32Array.of(value).buffer)]);

export const FLOAT = 1;
export const INT32 = 6;
export const INT64 = 7;

type Attribute = number | { float: number };

export interface Node {
  op: string;
  domain?: string;
  inputs: string[];
  outputs: string[];
  attributes?: Record<string, Attribute>;
}

/** A dimension is a size or the name of one. */
export interface Value {
  name: string;
  type: number;
  shape: (number | string)[];
}

export interface Initializer {
  name: string;
  type: number;
  shape: number[];
  data: Float32Array | BigInt64Array | Int32Array;
}

function attribute(name: string, value: Attribute): Bytes {
  const [FLOAT_KIND, INT_KIND] = [1, 2];
  if (typeof value === 'number') return join([text(1, name), integer(3, value), integer(20, INT_KIND)]);
  return join([text(1, name), float(2, value.float), integer(20, FLOAT_KIND)]);
}

function node({ op, domain, inputs, outputs, attributes = {} }: Node): Bytes {
  return join([
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, op),
    ...Object.entries(attributes).map(([name, value]) => bytes(5, attribute(name, value))),
    ...(domain ? [text(7, domain)] : []),
  ]);
}

function valueInfo({ name, type, shape }: Value): Bytes {
  const dims = shape.map((size) => bytes(1, typeof size === 'number' ? integer(1, size) : text(2, size)));
  return join([text(1, name), bytes(2, bytes(1, join([integer(1, type), bytes(2, join(dims))])))]);
}

function tensor({ name, type, shape, data }: Initializer): Bytes {
  const raw = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return join([...shape.map((size) => integer(1, size)), integer(2, type), text(8, name), bytes(9, raw)]);
}

export function onnxModel(graph: { nodes: Node[]; inputs: Value[]; outputs: Value[]; initializers: Initializer[] }): Bytes {
  const [IR_VERSION, OPSET] = [8, 17];
  const body = join([
    ...graph.nodes.map((n) => bytes(1, node(n))),
    text(2, 'decoder'),
    ...graph.initializers.map((t) => bytes(5, tensor(t))),
    ...graph.inputs.map((v) => bytes(11, valueInfo(v))),
    ...graph.outputs.map((v) => bytes(12, valueInfo(v))),
  ]);
  const opset = (domain: string, version: number) => bytes(8, join([text(1, domain), integer(2, version)]));
  return join([integer(1, IR_VERSION), bytes(7, body), opset('', OPSET), opset('com.microsoft', 1)]);
}
