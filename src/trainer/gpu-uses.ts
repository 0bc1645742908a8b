/**
 * @file Which uses of the GPU exclude each other, and the sentences that tell this to the visitor. The lock, the trainer and
 * the page read this table.
 *
 * A cold start counts as a training run. A customer in the tab counts as part of the use in whose conversations it plays.
 * Conversations of the demonstrators need no GPU.
 */

/**
 * The kinds of work that need the GPU. `experiment` is a queue of runs; it also holds the GPU between two of its runs. `play`
 * is a conversation whose agent is the model. `score` computes the log-probabilities of a stored conversation. `bench`
 * measures speed.
 */
export const GPU_USES = ['train', 'experiment', 'evaluate', 'play', 'score', 'bench'] as const;
export type GpuUse = (typeof GPU_USES)[number];

/** What happens to the current use when another use asks for the GPU. It refuses the other use, or it gives way: it is ended. */
export type Turn = 'refuses' | 'gives way';

const REFUSES = {
  train: 'refuses',
  experiment: 'refuses',
  evaluate: 'refuses',
  play: 'refuses',
  score: 'refuses',
  bench: 'refuses',
} as const;
/** A conversation, a scoring or a measurement gives way to longer work, because it can be repeated at once. */
const GIVES_WAY = { ...REFUSES, train: 'gives way', experiment: 'gives way', evaluate: 'gives way' } as const;

/** The table for one tab. Rows: the current use. Columns: the use that asks for the GPU. */
const SAME_TAB: Record<GpuUse, Record<GpuUse, Turn>> = {
  train: REFUSES,
  experiment: REFUSES,
  evaluate: REFUSES,
  play: GIVES_WAY,
  score: GIVES_WAY,
  bench: GIVES_WAY,
};

interface Sentences {
  /** The name of the use, as the subject of a sentence. */
  subject: string;
  sameTab: string;
  otherTab: string;
}

const SENTENCES: Record<GpuUse, Sentences> = {
  train: {
    subject: 'Training',
    sameTab: 'A run trains in this tab and uses the GPU. Stop the run first.',
    otherTab: 'Another tab trains a run and uses the GPU.',
  },
  experiment: {
    subject: 'Training',
    sameTab: 'An experiment trains in this tab and uses the GPU. Stop the experiment first.',
    otherTab: 'Another tab trains an experiment and uses the GPU.',
  },
  evaluate: {
    subject: 'Evaluating',
    sameTab: 'An evaluation in this tab uses the GPU. Wait for its end or cancel it.',
    otherTab: 'Another tab plays an evaluation and uses the GPU.',
  },
  play: {
    subject: 'Playing with the model',
    sameTab: 'The model plays a conversation in this tab and uses the GPU. Wait for the end of its turn or stop it.',
    otherTab: 'Another tab plays a conversation and uses the GPU.',
  },
  score: {
    subject: 'Scoring',
    sameTab: 'A conversation is scored in this tab, which uses the GPU. Wait for the scores.',
    otherTab: 'Another tab scores a conversation and uses the GPU.',
  },
  bench: {
    subject: 'Measuring',
    sameTab: 'The speed of the GPU is measured in this tab. Wait for the end or stop the measurement.',
    otherTab: 'Another tab measures the speed of the GPU.',
  },
};

/** What happens to `now`, which uses the GPU in this tab, when this tab asks for `use`. If another tab uses the GPU, it always refuses. */
export const turnOf = (now: GpuUse, use: GpuUse): Turn => SAME_TAB[now][use];

/** The reason why `use` may not begin while this tab uses the GPU for `now`. '' if it may begin. */
export const refusedHere = (now: GpuUse, use: GpuUse): string => (turnOf(now, use) === 'refuses' ? SENTENCES[now].sameTab : '');

/** The reason why nothing may begin in this tab while another tab uses the GPU for `now`. */
export const refusedByOtherTab = (now: GpuUse): string => SENTENCES[now].otherTab;

export const subjectOf = (use: GpuUse): string => SENTENCES[use].subject;

/** Whether a tab with this use of the GPU trains a run. */
export const trains = (use: GpuUse | null): boolean => use === 'train' || use === 'experiment';
