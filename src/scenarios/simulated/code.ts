/** @file The answerer that runs the scenario's own tools. */
import { Overlay, type Rows } from '../../environments/overlay.ts';
import type { Json } from '../../records/json.ts';
import { runTool } from '../execute.ts';
import type { Answers, Asked, Proposal, ProposedWrite } from './types.ts';

/** What the code answers. */
export function codeProposal({ own, tool, call, rows }: Pick<Asked, 'own' | 'tool' | 'call' | 'rows'>): Proposal {
  const draft = new Recorded(new Overlay(rows));
  const ran = runTool(own, draft, tool, call);
  return 'error' in ran ? { result: null, error: ran.error, writes: [] } : { ...ran, error: null, writes: draft.writes() };
}

export const codeAnswers: Answers = { answer: async (asked) => ({ value: codeProposal(asked) }) };

/** Rows that remember what was written, also where the new value equals the old one. */
class Recorded implements Rows {
  readonly #written = new Map<string, { table: string; key: string }>();

  constructor(private readonly rows: Overlay) {}

  get(table: string, key: string): Json | undefined {
    return this.rows.get(table, key);
  }

  keys(table: string): string[] {
    return this.rows.keys(table);
  }

  put(table: string, key: string, value: Json): void {
    this.#written.set(`${table}\n${key}`, { table, key });
    this.rows.put(table, key, value);
  }

  delete(table: string, key: string): void {
    this.#written.set(`${table}\n${key}`, { table, key });
    this.rows.delete(table, key);
  }

  writes(): ProposedWrite[] {
    return [...this.#written.values()].flatMap(({ table, key }): ProposedWrite[] => {
      const value = this.rows.get(table, key);
      if (value !== undefined) return [{ table, key, set: value as Readonly<Record<string, Json>> }];
      return this.rows.below.get(table, key) === undefined ? [] : [{ table, key, delete: true }];
    });
  }
}
