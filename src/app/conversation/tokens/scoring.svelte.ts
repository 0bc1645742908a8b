/** @file Scores the tokens of the inspected conversation again, by weights that the visitor chooses. */
import { untrack } from 'svelte';
import type { AppState } from '../../state/app.svelte.ts';
import { LiveQuery } from '../../kit/live-query.svelte.ts';
import { refText, type Weights } from '../../library/weights.ts';
import { Resource } from '../../kit/resource.svelte.ts';
import type { Second } from './channels.ts';
import type { Inspection } from './inspection.svelte.ts';
import type { TokenSequence } from './sequence.ts';

interface Request {
  /** The weights that score, as an address names them. */
  weights: string;
  sequence: TokenSequence;
}

export class Scoring {
  readonly #inspection: Inspection;
  readonly #client: AppState['client'];
  readonly #known: LiveQuery<Weights[]>;
  readonly #scores: Resource<Request, Second>;

  /** Must be called while a component initializes, or inside `$effect.root`. */
  constructor(inspection: Inspection, { client, library }: Pick<AppState, 'client' | 'library'>) {
    this.#inspection = inspection;
    this.#client = client;
    const model = untrack(() => inspection.subject.model);
    this.#known = new LiveQuery(() => library.weightsFor(model));
    this.#scores = new Resource(
      () => this.#request,
      (request, signal) => this.#score(request, signal),
    );
  }

  readonly choices = $derived.by(() => (this.#known.current ?? []).map(({ ref, name }) => ({ ref, name, value: refText(ref) })));
  /** The chosen weights; undefined if they are not available. A text, not an object: a change of the list must not start a new scoring. */
  readonly chosen = $derived.by(() => this.choices.find(({ value }) => value === this.#inspection.by)?.value);

  /** Why the tokens cannot be scored now; '' if they can or if no weights are chosen. */
  readonly waiting = $derived.by(() => {
    if (this.#inspection.by === '') return '';
    if (!this.#known.answered) return 'Looking for the weights…';
    if (this.chosen === undefined) return 'These weights are not in this browser, or they use another tokenizer.';
    return this.#client.availability('score');
  });

  readonly #request = $derived.by((): Request | undefined =>
    this.chosen !== undefined && this.waiting === '' ? { weights: this.chosen, sequence: this.#inspection.sequence } : undefined,
  );

  async #score({ weights, sequence }: Request, signal: AbortSignal): Promise<Second> {
    const { ref, name } = this.choices.find(({ value }) => value === weights)!;
    const { temperature = 1, max_model_len = 0 } = this.#inspection.subject.config;
    const stop = () => void this.#client.stopPlay();
    signal.addEventListener('abort', stop);
    try {
      const scores = await this.#client.rescore({
        model: ref,
        tokens: [...sequence.ids],
        lossMask: [...sequence.mask],
        temperature,
        max_model_len: Math.max(max_model_len, sequence.length),
      });
      return { name, scores };
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** The scores by the chosen weights; null until they are computed. */
  get second(): Second | null {
    return this.#scores.fresh ?? null;
  }

  /** The state of the scoring in words; '' if there is nothing to say. */
  get status(): string {
    if (this.waiting) return this.waiting;
    if (this.#scores.stale) return 'Scoring the tokens…';
    return this.#scores.error ? `Scoring failed: ${this.#scores.error.message}` : '';
  }
}
