/**
 * @file Consistency: whether an agent behaves alike in repeated trials of a task. The formulas are those of the code that the authors of
 * arXiv 2602.16666 published (princeton-pli/hal-harness, `reliability_eval/metrics/consistency.py`). Each function gives the value of one
 * task, from 0 to 1, or null if the task has too few trials for it.
 */

/** What a conversation used. */
export interface Resources {
  /** Tokens of the agent. Null: the server does not report them. */
  tokens: number | null;
  /** Turns of the agent, which are calls to the model. */
  turns: number;
  calls: number;
  /** Tool calls that failed. */
  errors: number;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** (2 p − 1)², with the share p of successes: 1 − p (1 − p) / 0.25, the variance over its largest possible value. */
export function outcomeConsistency(successes: readonly boolean[]): number | null {
  return successes.length < 2 ? null : (2 * mean(successes.map(Number)) - 1) ** 2;
}

/** The mean of `similarity` over all pairs of sequences that are not empty. Null for fewer than two. */
function meanOfPairs(sequences: readonly (readonly string[])[], similarity: (a: readonly string[], b: readonly string[]) => number) {
  const played = sequences.filter(({ length }) => length > 0);
  const pairs = played.flatMap((a, i) => played.slice(i + 1).map((b) => similarity(a, b)));
  return pairs.length === 0 ? null : mean(pairs);
}

/**
 * 1 − the mean Jensen–Shannon distance (the square root of the divergence in nats) between the shares of tools in two trials.
 * So two trials without a common tool give 1 − √ln 2 = 0.167.
 * @param sequences the names of the called tools, in the successful trials
 */
export const distributionConsistency = (sequences: readonly (readonly string[])[]): number | null =>
  meanOfPairs(sequences, (a, b) => {
    const share = (names: readonly string[], name: string) => names.filter((one) => one === name).length / names.length;
    const term = (p: number, middle: number) => (p === 0 ? 0 : p * Math.log(p / middle));
    const divergence = [...new Set([...a, ...b])].reduce((sum, name) => {
      const [p, q] = [share(a, name), share(b, name)];
      return sum + (term(p, (p + q) / 2) + term(q, (p + q) / 2)) / 2;
    }, 0);
    return 1 - Math.sqrt(Math.max(0, divergence));
  });

/**
 * The mean of 1 − Levenshtein distance / length of the longer one, over pairs of trials.
 * @param sequences as in `distributionConsistency`
 */
export const sequenceConsistency = (sequences: readonly (readonly string[])[]): number | null =>
  meanOfPairs(sequences, (a, b) => 1 - editDistance(a, b) / Math.max(a.length, b.length));

function editDistance(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const [i, one] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries()) next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + Number(one !== other)));
    row = next;
  }
  return row[b.length]!;
}

/**
 * exp(−mean coefficient of variation) over the kinds of resources, in all trials. The deviation has the divisor n − 1. As in the authors'
 * code, a trial without tokens, turns or calls does not count for that kind, and no error at all is no variation. Seconds and money are left
 * out: conversations run at once and share the processor, and few agents have prices.
 */
export function resourceConsistency(trials: readonly Resources[]): number | null {
  const variations = (['tokens', 'turns', 'calls', 'errors'] as const).flatMap((kind) => {
    const used = trials.flatMap((trial) => trial[kind] ?? []).filter((value) => kind === 'errors' || value > 0);
    const centre = mean(used);
    if (used.length < 2 || centre === 0) return [];
    const variance = used.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (used.length - 1);
    return Math.sqrt(variance) / centre;
  });
  return variations.length === 0 ? null : Math.exp(-mean(variations));
}
