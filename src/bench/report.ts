/** @file The report of a bench. */

export interface Measured {
  /** The best speeds of this device in this run: operations per second of a plain f32 matmul, and bytes per second of a copy. */
  ceilings: { matmul: { shape: string; gflops: number }[]; gflops: number; gb_per_s: number };
  workloads: BenchResult[];
}

/** The result of a workload. `ms` and the speeds are those of its fastest repetition. */
export interface BenchResult {
  name: string;
  /** How the model is smaller than the one that the workload names, such as fewer layers. '' if it is not smaller. */
  reduced: string;
  ms: number;
  all_ms: number[];
  tokens: number;
  tokens_per_s: number;
  /** Tokens that pass through the layers. A token counts once in each pass of generation, reference and update. */
  computed_tokens: number;
  /** CPU seconds of the process, or null in a browser. */
  cpu_s: number | null;
  /** Tokens that the sampler prefilled, and those that it must prefill at least. Only GRPO steps count them. */
  prefilled?: number;
  needed?: number;
  flops: number;
  /** The bytes that the workload must move at least. */
  bytes: number;
  gflops: number;
  /** The share of the speed of the matmul. */
  share_of_matmul: number;
  /** The part of the roofline that limits the workload. */
  bound: 'operations' | 'bytes';
  /** The share of the speed that the roofline allows. */
  share: number;
}
