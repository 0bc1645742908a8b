/** @file The state of an import, from the file to the stored run. */
import { BUNDLE_LIMITS } from '../../exchange/run-bundle.ts';
import type { RunContent } from '../../records/bundle.ts';
import type { ModelRow } from '../../records/model.ts';
import type { ImportedEvaluation } from '../../trainer/imported-evaluation.ts';
import type { ForeignWords } from '../../trainer/foreign-conversation.ts';
import type { Library } from '../library/library.ts';
import type { ReadReport } from '../library/reports.ts';
import { bytes } from '../kit/format.ts';
import { readBundleFile, readForeignFiles } from '../clients/imports-worker.ts';
import { fetchBundle } from './fetch-bundle.ts';

export interface ReadRun {
  /** The file's name or address. */
  from: string;
  bytes: number;
  content: RunContent;
  /** The time of the export, and the version of the page that exported the file. Null for files of other programs. */
  exported: { created: string; app_version: string } | null;
  model: ModelRow | null;
  /** What a file of another program has that has an error or was read differently. */
  notes: string[];
  /** Makes the run again with what the visitor says of it. Absent for runs of the playground. */
  say?: (words: ForeignWords) => RunContent;
  /** Makes evaluations of the conversations. Absent for runs of the playground. */
  evaluations?: (words: ForeignWords) => ImportedEvaluation[];
}

export const MOST_BYTES = BUNDLE_LIMITS.fileBytes;

/** The name of a run that is made of files: the name of the file, or of the first one with the number of the others. */
function runNameOf([first = '', ...others]: readonly string[]): string {
  const name = first.replace(/\.(jsonl?|parquet|eval)$/i, '');
  return others.length === 0 ? name : `${name} and ${others.length} more`;
}

export class RunImport {
  /** The current work as text; '' if nothing runs. */
  stage = $state('');
  /** Progress from 0 to 1; null if the total is unknown. */
  share = $state.raw<number | null>(null);
  problem = $state('');
  /** Why the visitor's last word on the run was refused. */
  refused = $state('');
  /** What the conversations of another program become. */
  as = $state<'run' | 'evaluation'>('run');
  /** What the visitor said of them. */
  #words: ForeignWords = {};
  /** The checked run, before it is stored. */
  read = $state.raw<ReadRun | null>(null);
  /** The checked reports of other commands, before they are stored. */
  reports = $state.raw<readonly ReadReport[]>([]);
  #abort = new AbortController();

  cancel(): void {
    this.#abort.abort(new Error('cancelled'));
    this.#abort = new AbortController();
    this.#reset();
  }

  /** Reads a run bundle, reports, or files of another program, from which it makes a run or evaluations. */
  fromFiles(files: readonly File[]): Promise<void> {
    const [first] = files;
    return this.#work(async (signal) => {
      if (
        await this.#readReports(
          files.map((file) => [file.name, file]),
          signal,
        )
      )
        return;
      if (files.length === 1 && first!.name.toLowerCase().endsWith('.zip')) await this.#read(first!.name, first!, signal);
      else await this.#readForeign(files, signal);
    });
  }

  fromUrl(url: URL): Promise<void> {
    return this.#work(async (signal) => {
      this.stage = `Fetching from ${url.host}`;
      const file = await fetchBundle(url, MOST_BYTES, (done, total) => (this.share = total && done / total), signal);
      const name = url.pathname.split('/').at(-1)!;
      if (!(await this.#readReports([[name, file]], signal))) await this.#read(url.href, file, signal);
    });
  }

  /** Makes the run again with what the visitor says of it. If a rule cannot be read, `refused` says why. */
  say(words: ForeignWords): void {
    const { read } = this;
    if (!read?.say) return;
    this.refused = '';
    try {
      this.read = { ...read, content: read.say(words) };
      this.#words = words;
    } catch (error) {
      this.refused = error instanceof Error ? error.message : String(error);
    }
  }

  /** Returns the id of the stored run or evaluation; null if it was not stored. */
  async store(library: Pick<Library, 'storeRun' | 'storeEvaluations'>): Promise<string | null> {
    const { read, as } = this;
    const words = this.#words;
    if (!read) return null;
    let id: string | null = null;
    await this.#work(async () => {
      this.stage = 'Storing';
      if (as === 'evaluation' && read.evaluations) {
        const evaluations = read.evaluations(words);
        if (!evaluations.some(({ trials }) => trials.some(({ reward }) => reward !== null)))
          throw new Error('the success of the conversations is not known: expected an answer to “A conversation succeeded if”');
        await library.storeEvaluations(evaluations);
        id = evaluations[0]!.row.id;
        return;
      }
      id = await library.storeRun(read.content, {
        model: read.model,
        onProgress: (done, total) => (this.share = done / total),
      });
    });
    if (id === null) {
      // The visitor can free space and try again.
      this.read = read;
      this.as = as;
      this.#words = words;
    }
    return id;
  }

  /** Stores the reports, and returns whether they are stored. */
  async storeReports(): Promise<boolean> {
    const { reports: read } = this;
    await this.#work(async () => {
      this.stage = 'Storing';
      const { reports } = await import('../library/reports.ts');
      await reports().add(read);
    });
    if (this.problem) this.reports = read;
    return this.problem === '';
  }

  /** Reads shadows and reliability cards. False if the files are none. @throws Error if only some of them are */
  async #readReports(files: readonly (readonly [name: string, file: Blob])[], signal: AbortSignal): Promise<boolean> {
    this.stage = 'Reading and checking';
    const { reportKind } = await import('../../exchange/report-file.ts');
    const kinds = await Promise.all(files.map(([, file]) => reportKind(file)));
    if (kinds.every((kind) => kind === null)) return false;
    const other = files[kinds.indexOf(null)]?.[0];
    if (other !== undefined) throw new Error(`${other} is no shadow and no reliability card: expected only these, or none of them`);
    const large = files.find(([, { size }]) => size > MOST_BYTES);
    if (large) throw new Error(`${large[0]} has ${bytes(large[1].size)}: expected at most ${bytes(MOST_BYTES)}`);
    const { readReport } = await import('../library/reports.ts');
    const read = await Promise.all(files.map(async ([name, file], i) => readReport(kinds[i]!, name, await file.text())));
    signal.throwIfAborted();
    // The same file may be chosen twice.
    this.reports = [...new Map(read.map((report) => [report.row.id, report])).values()];
    return true;
  }

  async #read(from: string, file: Blob, signal: AbortSignal): Promise<void> {
    this.stage = 'Reading and checking';
    this.share = 0;
    const { manifest, ...content } = await readBundleFile(file, (done, total) => (this.share = done / total), signal);
    let model: ModelRow | null = null;
    if (content.model) {
      this.stage = 'Checking the weights';
      const { checkedModel } = await import('../library/checked-model.ts');
      model = await checkedModel(`${content.run.name}, step ${content.run.step}`, content.model, undefined, signal);
    }
    signal.throwIfAborted();
    this.read = { from, bytes: file.size, content, exported: manifest, model, notes: [] };
  }

  async #readForeign(files: readonly File[], signal: AbortSignal): Promise<void> {
    this.stage = 'Reading and checking';
    const [{ readOnlyRun }, { importedEvaluations }] = await Promise.all([
      import('../../trainer/read-only-run.ts'),
      import('../../trainer/imported-evaluation.ts'),
    ]);
    const size = files.reduce((sum, file) => sum + file.size, 0);
    if (size > MOST_BYTES) throw new Error(`the files have ${bytes(size)}: expected at most ${bytes(MOST_BYTES)}`);
    const { source, rollouts, notes, trials, model } = await readForeignFiles(files, (done, total) => (this.share = done / total), signal);
    signal.throwIfAborted();
    const places = new Set(rollouts.map(({ trajectory: { task } }) => `${task.domain} ${task.level}`));
    if (places.size > 1) throw new Error(`the conversations are of ${[...places].join(' and ')}: expected one domain and level`);
    const from = files.length === 1 ? files[0]!.name : `${files.length} files`;
    const name = model ?? runNameOf(files.map((file) => file.name));
    const common = { createdAt: Math.min(Date.now(), files[0]!.lastModified), source, name };
    const evaluations = (words: ForeignWords) => importedEvaluations(rollouts, { ...common, ...words });
    this.as = trials ? 'evaluation' : 'run';
    const say = (words: ForeignWords) => readOnlyRun(rollouts, { ...common, notes, ...words });
    this.read = { from, bytes: size, content: say({}), exported: null, model: null, notes, say, evaluations };
  }

  async #work(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.cancel();
    const { signal } = this.#abort;
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return; // The import was cancelled, or another import began.
      this.problem = error instanceof Error ? error.message : String(error);
    }
    this.stage = '';
    this.share = null;
  }

  #reset(): void {
    this.stage = '';
    this.share = null;
    this.problem = '';
    this.refused = '';
    this.as = 'run';
    this.#words = {};
    this.read = null;
    this.reports = [];
  }
}
