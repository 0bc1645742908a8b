/** @file Builds an ONNX graph one operator at a time. `add` returns the name of the operator's output, which is an input of later ones. */
import type { Attribute, ElementType, Graph, Initializer, Node, Value } from './onnx-file.ts';

export class GraphBuilder {
  readonly #nodes: Node[] = [];
  readonly #initializers = new Map<string, Initializer>();
  readonly #inputs: Value[] = [];
  readonly #outputs: Value[] = [];
  #serial = 0;

  input(name: string, type: ElementType, shape: Value['shape']): string {
    this.#inputs.push({ name, type, shape });
    return name;
  }

  /** Declares the result of a node as an output of the graph. `name` is the name that the node gave to its result. */
  output(name: string, type: ElementType, shape: Value['shape']): void {
    this.#outputs.push({ name, type, shape });
  }

  /** Adds a node with one output, and returns the output's name. Default name: made from `op` and a serial number. */
  add(op: string, inputs: readonly string[], attributes?: Record<string, Attribute>, output = `${op}_${this.#serial++}`): string {
    this.#nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  /** Splits `x` into two halves along the last axis. */
  halves(x: string): [string, string] {
    const outputs: [string, string] = [`Split_${this.#serial++}`, `Split_${this.#serial++}`];
    this.#nodes.push({ op: 'Split', inputs: [x], outputs, attributes: { axis: -1 } });
    return outputs;
  }

  /** A constant. If the name exists already, the existing constant is used. */
  constant(name: string, type: ElementType, shape: readonly number[], data: () => ArrayBufferView): string {
    if (!this.#initializers.has(name)) this.#initializers.set(name, { name, type, shape, data });
    return name;
  }

  /** A list of integers: a shape or axes. */
  integers(...values: number[]): string {
    return this.constant(`integers_${values.join('_')}`, 'int64', [values.length], () => BigInt64Array.from(values, BigInt));
  }

  /** A single integer without dimensions. */
  integer(value: number): string {
    return this.constant(`integer_${value}`, 'int64', [], () => BigInt64Array.of(BigInt(value)));
  }

  graph(): Graph {
    return { nodes: this.#nodes, inputs: this.#inputs, outputs: this.#outputs, initializers: [...this.#initializers.values()] };
  }
}
