/** @file What a bench measured. */

export interface Measured {
  /** The best of this device in this run: operations a second of a plain matmul (f32), and bytes a second of a copy. */
  ceilings: { matmul: { shape: string; gflops: number }[]; gflops: number; gb_per_s: number };
  workloads: BenchResult[];
}

/** The fastest of the repetitions of a workload. */
export interface BenchResult {
  name: string;
  /** What is left out of the model that the workload names; '' if nothing is. */
  reduced: string;
  ms: number;
  all_ms: number[];
  tokens: number;
  tokens_per_s: number;
  flops: number;
  /** That the workload must move at least. */
  bytes: number;
  gflops: number;
  /** What the roofline limits the workload by. */
  bound: 'operations' | 'bytes';
  /** The share of the speed that the roofline allows. */
  share: number;
}
