/** @file The labels of evaluations. Each label is stored as soon as it is given. */
import { storageError } from '../../base/storage-error.ts';
import { type Label, labelingId, type LabelingRow, type LabelLine, type Question } from '../../records/labeling.ts';
import { LabelDatabase } from '../../storage/label-database.ts';

/** The first page needs no labels. */
const schema = () => import('../../exchange/labeling-schema.ts');

export class Labels {
  readonly #db: LabelDatabase;

  constructor(db = new LabelDatabase()) {
    this.#db = db;
  }

  /** The labels of an evaluation for one question. @throws ImportError if the stored row is damaged */
  async get(evaluation: string, question: Question): Promise<LabelingRow | undefined> {
    const row = await this.#db.labelings.get(labelingId(evaluation, question));
    return row && (await schema()).readLabeling(row);
  }

  /** The labels of an evaluation for all questions. @throws as `get` */
  async all(evaluation: string): Promise<LabelingRow[]> {
    const { readLabeling } = await schema();
    return (await this.#db.labelings.where('evaluation').equals(evaluation).toArray()).map(readLabeling);
  }

  /** Begins to label drawn conversations. Labels that were given before stay. */
  async begin(evaluation: string, question: Question, drawn: string[], seed: number): Promise<void> {
    await this.#change(evaluation, question, (row) => row ?? { ...emptyRow(evaluation, question), seed, drawn });
  }

  /** Gives a label, or replaces it. */
  async give(evaluation: string, question: Question, label: Label): Promise<void> {
    await this.#change(
      evaluation,
      question,
      (row) => row && { ...row, labels: [...row.labels.filter(({ conversation }) => conversation !== label.conversation), label] },
    );
  }

  /** Removes the newest label. */
  async undo(evaluation: string, question: Question): Promise<void> {
    await this.#change(evaluation, question, (row) => row && { ...row, labels: row.labels.slice(0, -1) });
  }

  /**
   * Adds the labels of a file. A conversation that has a label keeps it.
   * @returns how many labels were added, and how many conversations had a label
   */
  async add(evaluation: string, question: Question, lines: readonly LabelLine[]): Promise<{ added: number; kept: number }> {
    let added = 0;
    await this.#change(evaluation, question, (before) => {
      const row = before ?? emptyRow(evaluation, question);
      const known = new Set(row.labels.map(({ conversation }) => conversation));
      const fresh = lines.filter(({ conversation }) => !known.has(conversation));
      added = fresh.length;
      const drawn = new Set([...row.drawn, ...fresh.map(({ conversation }) => conversation)]);
      return {
        ...row,
        drawn: [...drawn],
        labels: [...row.labels, ...fresh.map(({ conversation, label, at }) => ({ conversation, label, at }))],
      };
    });
    return { added, kept: lines.length - added };
  }

  /** Deletes the labels for one question, or all labels of an evaluation. */
  async delete(evaluation: string, question?: Question): Promise<void> {
    if (question) await this.#db.labelings.delete(labelingId(evaluation, question));
    else await this.#db.labelings.where('evaluation').equals(evaluation).delete();
  }

  async #change(evaluation: string, question: Question, change: (row: LabelingRow | undefined) => LabelingRow | undefined): Promise<void> {
    const { labelings } = this.#db;
    const { readLabeling } = await schema();
    try {
      await this.#db.transaction('rw', labelings, async () => {
        const stored = await labelings.get(labelingId(evaluation, question));
        const row = change(stored && readLabeling(stored));
        if (row) await labelings.put(row);
      });
    } catch (cause) {
      throw storageError(cause, 'this label');
    }
  }
}

const emptyRow = (evaluation: string, question: Question): LabelingRow => ({
  id: labelingId(evaluation, question),
  evaluation,
  question,
  createdAt: Date.now(),
  drawn: [],
  labels: [],
});
