/** @file The metrics of a run as columns that grow: one Float64Array a metric, NaN where a step lacks it. */
import type { StepMetrics } from '../../training/types.ts';

/** The metric of held-out reward, by any data source's name; undefined where there is none. */
export const heldOutName = (names: readonly string[]) => names.find((name) => /^val-core\/.*\/reward\/mean@1$/.test(name));

export class MetricSeries {
  #length = 0;
  #steps = new Float64Array(64);
  readonly #columns = new Map<string, Float64Array<ArrayBuffer>>();

  get length(): number {
    return this.#length;
  }

  get names(): string[] {
    return [...this.#columns.keys()];
  }

  /** Adds a step, or lays its values over those of the same step (a resumed run plays steps again). */
  put({ step, ...values }: StepMetrics): void {
    const row = this.#rowOf(step);
    for (const [name, value] of Object.entries(values)) this.#column(name)[row] = value;
  }

  /** Forgets the steps after `step`. */
  truncate(step: number): void {
    while (this.#length > 0 && this.#steps[this.#length - 1]! > step) this.#length -= 1;
  }

  steps(): number[] {
    return Array.from(this.#steps.subarray(0, this.#length));
  }

  /** Values by row; null where the step has none. */
  values(name: string): (number | null)[] {
    const column = this.#columns.get(name);
    return Array.from({ length: this.#length }, (_, row) => {
      const value = column?.[row] ?? NaN;
      return Number.isFinite(value) ? value : null;
    });
  }

  /** The newest value of a metric and its step, or null. */
  latest(name: string): { step: number; value: number } | null {
    const column = this.#columns.get(name);
    for (let row = this.#length - 1; column && row >= 0; row--) {
      if (Number.isFinite(column[row])) return { step: this.#steps[row]!, value: column[row]! };
    }
    return null;
  }

  /** The row of a step, made where its order asks for it. */
  #rowOf(step: number): number {
    let row = this.#length;
    while (row > 0 && this.#steps[row - 1]! > step) row -= 1;
    if (row > 0 && this.#steps[row - 1] === step) return row - 1;
    if (this.#length === this.#steps.length) this.#grow();
    for (const column of [this.#steps, ...this.#columns.values()]) {
      column.copyWithin(row + 1, row, this.#length);
      column[row] = NaN;
    }
    this.#steps[row] = step;
    this.#length += 1;
    return row;
  }

  #column(name: string): Float64Array<ArrayBuffer> {
    let column = this.#columns.get(name);
    if (!column) {
      column = new Float64Array(this.#steps.length).fill(NaN);
      this.#columns.set(name, column);
    }
    return column;
  }

  #grow(): void {
    const size = 2 * this.#steps.length;
    const grown = (old: Float64Array) => {
      const column = new Float64Array(size).fill(NaN);
      column.set(old);
      return column;
    };
    this.#steps = grown(this.#steps);
    for (const [name, column] of this.#columns) this.#columns.set(name, grown(column));
  }
}
