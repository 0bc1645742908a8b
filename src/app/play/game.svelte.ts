/** @file A conversation that a visitor plays, and the moves that continue it. */
import type { LiveAct } from '../../agent/live.ts';
import { type Prefix, prefixAt } from '../../agent/prefix.ts';
import type { BranchRow } from '../../records/branch.ts';
import type { ModelRef } from '../../records/model.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import type { Library } from '../library/library.ts';
import { BRANCHES, type Origin } from '../library/origin.ts';
import { type From } from '../branches/play-origin.ts';
import { type Party, type Request, requestOf, rollOut } from '../branches/play-request.ts';
import type { TrainerClient } from '../clients/trainer-client.svelte.ts';
import { type Answer, answersOf } from './answers.ts';
import { Position } from './position.svelte.ts';
import { keepBranch, setTraining } from './stored-branch.ts';
import type { Role, Setting } from './setting.ts';

export type { Role, Setting };

/** The parties that play the next turns. */
type Move = Pick<Request, 'agent' | 'user'>;

export class Game extends Position {
  /** What the game is doing, in words; '' if it waits for the visitor. */
  busy = $state('');
  progress = $state.raw<{ done: number; total: number } | null>(null);
  problem = $state('');
  /** The visitor's last message as the customer, until it is a part of the conversation; '' otherwise. */
  saying = $state('');
  /** The acts of the current move so far, without the message in `saying`; empty between two moves. */
  acts = $state.raw<readonly LiveAct[]>([]);
  /** The answers of several models to the customer's last message; null if `compare` was not called since the last move. */
  compared = $state.raw<Answer[] | null>(null);
  /** The rollouts of the last call of `rollOut`. */
  rolled = $state.raw<Trajectory[] | null>(null);
  readonly #client: TrainerClient;
  readonly #library: Library;
  readonly #party: () => Party;
  #turns = 0;
  #closed = false;

  constructor(setting: Setting, client: TrainerClient, library: Library, party: () => Party) {
    super(setting);
    this.#client = client;
    this.#library = library;
    this.#party = party;
  }

  /** Starts at the fork in the given role. After the first move only the role changes. */
  async begin(as: Role): Promise<void> {
    this.as = as;
    if (!this.untouched) return;
    this.fork();
    await this.#settle();
  }

  /** Plays one move and stores the conversation. */
  async move(move: Move | Promise<Move>, label: string): Promise<void> {
    await this.#during(label, async () => {
      const turns = await move;
      if (this.#closed) return;
      const [played] = await this.#watched({ ...this.#request, ...turns }, (acts) => (this.acts = this.#unsaid(acts)));
      if (this.#closed) return;
      if (this.ended) this.branch = '';
      this.#turns += 1;
      this.untouched = false;
      this.rolled = null;
      this.compared = null;
      const { nodes, userCalls, userRequests } = played!;
      this.prefix = { nodes, userCalls, userRequests };
      this.result = played!;
      if (played!.error) this.problem = `The simulated customer failed: ${played!.error}`;
      await this.#keep();
    });
  }

  /** Speaks as the customer. The model then plays the agent if it is ready; if not, the visitor plays the agent. */
  say(text: string, modelReady: Promise<boolean>): Promise<void> {
    this.saying = text;
    return this.move(this.#answered({ say: text }, modelReady), 'Waiting for the agent…');
  }

  letUserAnswer(modelReady: Promise<boolean>): Promise<void> {
    return this.move(this.#answered('simulated', modelReady), 'Waiting for the customer…');
  }

  act(agent: NonNullable<Move['agent']>): Promise<void> {
    const rests = this.as === 'user';
    return this.move(
      { agent, user: rests ? null : undefined },
      agent === 'model' ? 'The model takes this turn…' : 'say' in agent ? 'Waiting for the customer…' : 'Calling the tool…',
    );
  }

  letAgentGoOn(): Promise<void> {
    return this.move({ agent: undefined, user: null }, 'Waiting for the agent…');
  }

  /** Removes the visitor's last turn and everything after it. */
  async undo(): Promise<void> {
    const prefix = this.undone();
    if (!prefix) return;
    this.goBack(prefix);
    await this.#settle();
  }

  /** Goes back to a message that is in no stored conversation. */
  async goBackTo(node: number): Promise<void> {
    this.goBack(prefixAt(this.shown, node, this.as));
    await this.#settle();
  }

  /** Samples the agent's last turn again, with a new random stream. */
  async regenerate(): Promise<void> {
    const prefix = this.withoutAgent();
    if (!prefix) return;
    this.goBack(prefix);
    await (this.as === 'agent' ? this.act('model') : this.letAgentGoOn());
  }

  /** Lets the model and the simulated customer play to the end, `n` times. */
  async rollOut(n: number): Promise<void> {
    await this.#during(`Rolling out ${n} times…`, async () => {
      this.progress = { done: 0, total: n };
      const of = { origin: this.setting.origin, model: this.#party().modelName };
      const played = await rollOut(
        { client: this.#client, library: this.#library },
        this.#request,
        n,
        () => of,
        (done, total) => (this.progress = { done, total }),
      );
      this.#turns += n;
      this.rolled = played;
    });
    this.progress = null;
  }

  /** True if the last message is the customer's, so that models can answer it. */
  get canCompare(): boolean {
    return !this.busy && this.shown.nodes.some(({ role }) => role === 'user');
  }

  /** Lets each model answer the customer's last message several times. The answers are counted and shown, not stored. */
  async compare(models: readonly { name: string; ref: ModelRef }[]): Promise<void> {
    const heard = this.shown.nodes.findLast(({ role }) => role === 'user');
    if (!heard) return;
    const request = requestOf(this.setting, this.#party(), prefixAt(this.shown, heard.id, 'agent'), 0);
    const before = this.compared;
    await this.#during(`Asking ${models.length} models…`, async () => {
      const play = (request: Request, progress: (done: number) => void) => this.#client.play(request, progress);
      const count = (done: number, total: number) => (this.progress = { done, total });
      try {
        await answersOf(models, request, play, count, (answers) => (this.compared = answers));
      } catch (error) {
        this.compared = before;
        throw error;
      }
    });
    this.progress = null;
  }

  async stop(): Promise<void> {
    await this.#client.stopPlay();
  }

  close(): void {
    this.#closed = true;
    if (this.busy) void this.stop().catch(() => {});
  }

  /** Adds branches to the training set, or removes them from it. */
  async train(rows: readonly BranchRow[], wanted: boolean): Promise<void> {
    await setTraining(this.#library, rows, wanted, this.setting.tools);
  }

  /**
   * Deletes branches. If the current branch is deleted, the game starts again at the fork. @returns undefined, unless the game began with a
   * deleted branch. In this case, `from` is the stored conversation to open; null if there is none
   */
  async remove(rows: readonly BranchRow[]): Promise<{ from: From | null } | undefined> {
    const gone = new Set(rows.map(({ id }) => id));
    await this.#library.delete({ kind: 'branches', ids: [...gone] });
    const lost = (at: Origin | null) => at?.place === BRANCHES && gone.has(at.id);
    const { start } = this.setting;
    if (lost(start))
      return {
        from:
          this.stored && !lost(this.stored) ? { place: this.stored.place, id: this.stored.id, node: this.stored.trajectory.leaf } : null,
      };
    if (lost(this.stored)) this.stored = start;
    if (!gone.has(this.branch)) return undefined;
    this.branch = '';
    this.untouched = true;
    await this.begin(this.as);
    return undefined;
  }

  /** Plays one conversation. Calls `show` with its acts until it ends, and ignores later messages of the worker. */
  async #watched(request: Request, show: (acts: LiveAct[]) => void): Promise<Trajectory[]> {
    let playing = true;
    try {
      return await this.#client.play(request, undefined, (acts) => {
        if (playing && !this.#closed) show(acts);
      });
    } finally {
      playing = false;
    }
  }

  /** The acts without the visitor's own message, which is in `saying`. */
  #unsaid(acts: readonly LiveAct[]): readonly LiveAct[] {
    return this.saying !== '' && acts[0]?.by === 'customer' ? acts.slice(1) : acts;
  }

  protected override goBack(prefix: Prefix): void {
    super.goBack(prefix);
    this.problem = '';
    this.rolled = null;
    this.compared = null;
  }

  /** Plays what needs no visitor: a pending tool call, the customer's turn if the visitor is the agent, and the scoring at the end. */
  async #settle(): Promise<void> {
    const { next } = this;
    const due = next === 'environment' || (next === 'nobody' && !this.ended) || (next === 'user' && this.as === 'agent');
    if (due)
      await this.move(
        { agent: null, user: this.as === 'agent' ? undefined : null },
        next === 'user' ? 'Waiting for the customer…' : 'Restoring the world…',
      );
  }

  async #answered(user: Move['user'], modelReady: Promise<boolean>): Promise<Move> {
    return { user, agent: this.as === 'user' && (await modelReady) ? undefined : null };
  }

  get #request(): Request {
    return requestOf(this.setting, this.#party(), this.prefix, this.#turns);
  }

  async #during(label: string, work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = label;
    this.problem = '';
    try {
      await work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== 'stopped') this.problem = message;
    } finally {
      this.busy = '';
      this.saying = '';
      this.acts = [];
    }
  }

  /** Stores the conversation in its branch. If the branch is in the training set, also updates it there. */
  async #keep(): Promise<void> {
    const trajectory = this.result!;
    // If only the simulated customer has said something, the conversation is not worth a branch.
    const added = trajectory.nodes.slice(this.sharedWith(this.stored?.trajectory));
    if (!this.branch && !added.some(({ role, by }) => role === 'assistant' || by)) return;
    const { origin, parent, tools } = this.setting;
    const of = { origin, model: this.#party().modelName, shared: this.sharedWith(parent) };
    this.branch = await keepBranch(this.#library, this.branch, trajectory, of, tools);
    this.stored = { place: BRANCHES, id: this.branch, trajectory };
  }
}
