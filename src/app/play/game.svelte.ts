/** @file A conversation that a visitor plays: its messages so far, and the moves that continue it. */
import type { LiveAct } from '../../agent/live.ts';
import { nextParty, type NextParty, type Prefix, prefixAt, prefixWith, withoutLast } from '../../agent/prefix.ts';
import { path } from '../../base/message-path.ts';
import { toMessages } from '../../agent/trajectory.ts';
import type { BranchRow } from '../../records/branch.ts';
import type { MessageNode, Trajectory } from '../../records/trajectory.ts';
import type { Library } from '../library/library.ts';
import { BRANCHES, type Origin } from '../library/origin.ts';
import { type From, hasEnded, sharedMessages } from '../branches/play-origin.ts';
import { type Party, requestOf, rollOut } from '../branches/play-request.ts';
import type { TrainerClient } from '../clients/trainer-client.svelte.ts';
import { forksOf } from './forks.ts';
import type { Role, Setting } from './setting.ts';

export type { Role, Setting };

type Request = ReturnType<typeof requestOf>;
/** Who plays the next turns. */
type Move = Pick<Request, 'agent' | 'user'>;

/** A model's answer to the customer's last message. */
interface Answer {
  name: string;
  /** The messages of the answer; empty until it is complete. */
  nodes: MessageNode[];
  /** The answer as far as it is sampled. */
  acts: readonly LiveAct[];
}

export class Game {
  readonly setting: Setting;
  /** The visitor's role. */
  as = $state<Role>('user');
  /** The messages so far; null before the first message. */
  prefix = $state.raw<Prefix | null>(null);
  /** The result of the last move, or the whole stored conversation if it is shown; null after a fork or an undo. */
  result = $state.raw<Trajectory | null>(null);
  /** What the game is doing, in words; '' if it waits for the visitor. */
  busy = $state('');
  progress = $state.raw<{ done: number; total: number } | null>(null);
  problem = $state('');
  /** What the visitor said as the customer, until the conversation holds it; '' otherwise. */
  saying = $state('');
  /** What the turns under way said and did so far; empty between two moves. What `saying` holds is left out. */
  acts = $state.raw<readonly LiveAct[]>([]);
  /** How several models answer the customer's last message. Null unless `compare` was called since the last move. */
  compared = $state.raw<Answer[] | null>(null);
  /** True until the first move. Until then the visitor's role can move the fork. */
  untouched = $state(true);
  /** The id of the branch that stores this conversation; '' if it is not stored. */
  branch = $state('');
  /** The rollouts that `rollOut` sampled last. */
  rolled = $state.raw<Trajectory[] | null>(null);
  /** The stored conversation that begins like the shown conversation, or is equal to it. */
  #stored = $state.raw<(Origin & { trajectory: Trajectory }) | null>(null);

  readonly #client: TrainerClient;
  readonly #library: Library;
  readonly #party: () => Party;
  /** The place where the agent's turn begins with tokens that the visitor chose. “Regenerate” begins there too. */
  #chosen: Prefix | null = null;
  #turns = 0;
  #closed = false;

  constructor(setting: Setting, client: TrainerClient, library: Library, party: () => Party) {
    this.setting = setting;
    this.#client = client;
    this.#library = library;
    this.#party = party;
  }

  get ended(): boolean {
    return this.result !== null && hasEnded(this.result);
  }

  get next(): NextParty {
    if (this.ended) return 'nobody';
    const next = nextParty(this.prefix?.nodes ?? []);
    // The benchmark's rules ignore this stop word.
    return next === 'nobody' && this.result ? 'agent' : next;
  }

  /** The conversation so far. */
  get shown(): Pick<Trajectory, 'nodes' | 'leaf' | 'verdict' | 'userCalls'> {
    const nodes = [...(this.prefix?.nodes ?? [])];
    return { nodes, leaf: nodes.length - 1, verdict: this.result?.verdict ?? null, userCalls: [...(this.prefix?.userCalls ?? [])] };
  }

  /** How many messages this conversation and `other` share from the first message on. */
  sharedWith(other: Trajectory | null | undefined): number {
    return other ? sharedMessages(this.prefix?.nodes ?? [], path(other)) : 0;
  }

  /** The place where the visitor can play on, by the id of the message. */
  readonly forks = $derived.by(() => {
    const { termination = 'aborted' } = this.result ?? {};
    return forksOf({ ...this.shown, termination }, this.as, this.#stored, this.sharedWith(this.#stored?.trajectory));
  });

  /** Starts at the fork in the given role. After the first move only the role changes. */
  async begin(as: Role): Promise<void> {
    this.as = as;
    const { start } = this.setting;
    if (!this.untouched) return;
    this.#stored = start;
    if (start && this.setting.token) {
      this.prefix = this.#chosen = prefixWith(start.trajectory, start.node, this.setting.token);
      this.result = null;
    } else if (start && start.node === start.trajectory.leaf) {
      const { trajectory } = start;
      const { userCalls, userRequests } = trajectory;
      this.prefix = { nodes: path(trajectory), userCalls, userRequests };
      this.result = trajectory;
      if (start.place === BRANCHES) this.branch = start.id;
    } else {
      this.prefix = start && prefixAt(start.trajectory, start.node, as);
      this.result = null;
    }
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

  /** Speaks as the customer. Then the model plays the agent if it is ready, else the visitor does. */
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

  /** The words that the agent's next turn begins with; '' if the turn is free. */
  get begun(): string {
    return this.prefix?.turn ? (this.setting.token?.words ?? '') : '';
  }

  get canUndo(): boolean {
    return this.#undone() !== null;
  }

  /** Removes the visitor's last turn and everything after it. */
  async undo(): Promise<void> {
    const prefix = this.#undone();
    if (!prefix) return;
    this.#goBack(prefix);
    await this.#settle();
  }

  /** Goes back to a message that no stored conversation has. */
  async goBackTo(node: number): Promise<void> {
    this.#goBack(prefixAt(this.shown, node, this.as));
    await this.#settle();
  }

  get canRegenerate(): boolean {
    return this.#withoutAgent() !== null;
  }

  /** Samples the agent's last turn again with another random stream. */
  async regenerate(): Promise<void> {
    const prefix = this.#withoutAgent();
    if (!prefix) return;
    this.#goBack(prefix);
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

  /** Whether the customer has said something that models can answer. */
  get canCompare(): boolean {
    return !this.busy && this.shown.nodes.some(({ role }) => role === 'user');
  }

  /** Lets each model answer the customer's last message. The answers are shown, not stored. */
  async compare(models: readonly { name: string; ref: Request['model'] }[]): Promise<void> {
    const heard = this.shown.nodes.findLast(({ role }) => role === 'user');
    if (!heard) return;
    const prefix = prefixAt(this.shown, heard.id, 'agent');
    await this.#during(`Asking ${models.length} models…`, async () => {
      const before = this.compared;
      const answers = models.map(({ name }): Answer => ({ name, nodes: [], acts: [] }));
      const update = (i: number, answer: Partial<Answer>) => {
        answers[i] = { ...answers[i]!, ...answer };
        this.compared = [...answers];
      };
      try {
        for (const [i, { ref }] of models.entries()) {
          const request = { ...requestOf(this.setting, this.#party(), prefix, 0), model: ref, user: null };
          const [played] = await this.#watched(request, (acts) => update(i, { acts }));
          const spoken = played!.nodes.slice(prefix.nodes.length).filter(({ role }) => role === 'assistant' || role === 'tool');
          update(i, { nodes: spoken, acts: [] });
        }
      } catch (error) {
        this.compared = before;
        throw error;
      }
    });
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
    await this.#library.setTraining(
      rows.map(({ id, trajectory }) => ({ id, conversation: wanted ? toMessages(trajectory, this.setting.tools) : undefined })),
    );
  }

  /**
   * Deletes branches. If the current branch is deleted, the game begins again at the fork.
   * @returns where to go if the game began with a deleted branch: to the current branch if `from` is not null
   */
  async remove(rows: readonly BranchRow[]): Promise<{ from: From | null } | undefined> {
    const gone = new Set(rows.map(({ id }) => id));
    await this.#library.delete({ kind: 'branches', ids: [...gone] });
    const lost = (at: Origin | null) => at?.place === BRANCHES && gone.has(at.id);
    const { start } = this.setting;
    if (lost(start))
      return {
        from:
          this.#stored && !lost(this.#stored)
            ? { place: this.#stored.place, id: this.#stored.id, node: this.#stored.trajectory.leaf }
            : null,
      };
    if (lost(this.#stored)) this.#stored = start;
    if (!gone.has(this.branch)) return undefined;
    this.branch = '';
    this.untouched = true;
    await this.begin(this.as);
    return undefined;
  }

  /** Plays one conversation. `show` gets its acts until it ends: a late message of the worker is ignored. */
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

  /** Without the visitor's own words, which `saying` holds. */
  #unsaid(acts: readonly LiveAct[]): readonly LiveAct[] {
    return this.saying !== '' && acts[0]?.by === 'customer' ? acts.slice(1) : acts;
  }

  #undone(): Prefix | null {
    return this.prefix && withoutLast(this.prefix, this.as === 'agent' ? 'assistant' : 'user');
  }

  #withoutAgent(): Prefix | null {
    return this.prefix && withoutLast(this.prefix, 'assistant');
  }

  #goBack(prefix: Prefix): void {
    // A conversation that has ended stays stored as its own branch.
    if (this.ended) this.branch = '';
    const { length } = prefix.nodes;
    if (this.#chosen && length < this.#chosen.nodes.length) this.#chosen = null;
    this.prefix = length === this.#chosen?.nodes.length ? this.#chosen : prefix;
    this.result = null;
    this.untouched = false;
    this.problem = '';
    this.rolled = null;
    this.compared = null;
  }

  /** Plays what the visitor does not: a pending tool call, the customer if the visitor is the agent, the verdict at the end. */
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

  #row(id: string, trajectory: Trajectory, shared: number): BranchRow {
    return { id, createdAt: Date.now(), origin: this.setting.origin, shared, batch: '', model: this.#party().modelName, trajectory };
  }

  /** Stores the conversation in its branch. A branch in the training set is updated there too. */
  async #keep(): Promise<void> {
    const trajectory = this.result!;
    // An opening message of the simulated customer alone is not worth a branch.
    const added = trajectory.nodes.slice(this.sharedWith(this.#stored?.trajectory));
    if (!this.branch && !added.some(({ role, by }) => role === 'assistant' || by)) return;
    const known = this.branch ? await this.#library.branch(this.branch) : undefined;
    const row = {
      ...this.#row(known?.id ?? crypto.randomUUID(), trajectory, this.sharedWith(this.setting.parent)),
      ...(known && { createdAt: known.createdAt }),
    };
    await this.#library.putBranches([known?.conversation ? { ...row, conversation: toMessages(trajectory, this.setting.tools) } : row]);
    this.branch = row.id;
    this.#stored = { place: BRANCHES, id: row.id, trajectory };
  }
}
