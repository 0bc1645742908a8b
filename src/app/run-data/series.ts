/** @file The metrics of a run as growing columns: one Float64Array per metric, with NaN for a step that does not have the metric. */
import { median } from '../../base/median.ts';
import type { StepMetrics } from '../../records/run.ts';

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

  /** Adds a step. If the step exists, because a resumed run played it again, the new values replace the old ones. */
  put({ step, ...values }: StepMetrics): void {
    const row = this.#rowOf(step);
    for (const [name, value] of Object.entries(values)) this.#column(name)[row] = value;
  }

  /** Removes the steps after `step`. */
  truncate(step: number): void {
    while (this.#length > 0 && this.#steps[this.#length - 1]! > step) this.#length -= 1;
  }

  steps(): number[] {
    return Array.from(this.#steps.subarray(0, this.#length));
  }

  /** The value of a metric in each row; null if the step does not have the metric. */
  values(name: string): (number | null)[] {
    const column = this.#columns.get(name);
    return Array.from({ length: this.#length }, (_, row) => {
      const value = column?.[row] ?? NaN;
      return Number.isFinite(value) ? value : null;
    });
  }

  /** The newest value of a metric, and its step; null if there is no value. */
  latest(name: string): { step: number; value: number } | null {
    const column = this.#columns.get(name);
    for (let row = this.#length - 1; column && row >= 0; row--) {
      if (Number.isFinite(column[row])) return { step: this.#steps[row]!, value: column[row]! };
    }
    return null;
  }

  /** The median of a metric's values; null if there is no value. */
  median(name: string): number | null {
    const values = this.values(name).filter((value) => value !== null);
    return values.length === 0 ? null : median(values);
  }

  /** The row of a step. A missing row is inserted so that the steps stay sorted. */
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
