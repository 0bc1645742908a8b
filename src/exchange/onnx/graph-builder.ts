/** @file Builds a graph operator by operator: `add` returns the name of the output, which other operators take as input. */
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

  /** Declares a name that a node has given to its result. */
  output(name: string, type: ElementType, shape: Value['shape']): void {
    this.#outputs.push({ name, type, shape });
  }

  /** Adds a node with one output, which is named `output` if that is given. */
  add(op: string, inputs: readonly string[], attributes?: Record<string, Attribute>, output = `${op}_${this.#serial++}`): string {
    this.#nodes.push({ op, inputs, outputs: [output], attributes });
    return output;
  }

  /** Two halves along the last axis. */
  halves(x: string): [string, string] {
    const outputs: [string, string] = [`Split_${this.#serial++}`, `Split_${this.#serial++}`];
    this.#nodes.push({ op: 'Split', inputs: [x], outputs, attributes: { axis: -1 } });
    return outputs;
  }

  /** A constant. A name that exists already stands for the same constant. */
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
