/** @file One conversation that a visitor plays: its messages so far, and the moves that take it on. */
import { nextParty, type NextParty, type Prefix, prefixAt, withoutLast } from '../../agent/prefix.ts';
import { path, toMessages } from '../../agent/trajectory.ts';
import type { Trajectory } from '../../agent/types.ts';
import type { Task, ToolSchema } from '../../environments/types.ts';
import type { ModelRef } from '../../evaluation/types.ts';
import { limitsOf } from '../../evaluation/types.ts';
import type { BranchRow, RunDatabase } from '../../storage/database.ts';
import type { PlayRequest } from '../../training/play.ts';
import type { GrpoConfig } from '../../training/types.ts';
import type { UserConfig } from '../../users/types.ts';
import type { Origin } from '../../storage/origin.ts';
import { BRANCHES, type From, forkAt, hasEnded, sharedMessages } from '../logic/play-origin.ts';
import type { TrainerClient } from '../state/trainer-client.svelte.ts';

export type Role = 'user' | 'agent';

export interface Setting {
  task: Task;
  tools: ToolSchema[];
  /** Whether the simulated customer has tools of its own. */
  userTools: boolean;
  config: GrpoConfig;
  /** The stored conversation that is gone on with, and the message where; null where it begins anew. */
  start: (From & { trajectory: Trajectory }) | null;
  /** As branches are filed. */
  origin: string;
  /** What these branch off; null where that is the beginning of a task. */
  parent: Trajectory | null;
}

/** Streams of played turns lie above those of training. */
const FIRST_STREAM = 0xc0000000;

export class Game {
  readonly setting: Setting;
  /** Who the visitor is. */
  as = $state<Role>('user');
  /** All that has been said; null before anything is. */
  prefix = $state.raw<Prefix | null>(null);
  /** The last thing played, or the stored conversation where all of it is shown; null after a fork or an undo. */
  result = $state.raw<Trajectory | null>(null);
  /** What is under way, in words; '' for nothing. */
  busy = $state('');
  progress = $state.raw<{ done: number; total: number } | null>(null);
  problem = $state('');
  /** Nothing was played yet: the fork may still be moved. */
  untouched = $state(true);
  /** The branch being played. */
  branch = $state('');
  /** What came of the last rollouts from here. */
  rolled = $state.raw<Trajectory[] | null>(null);
  /** Where what is shown, or the beginning of it, is stored. */
  #stored = $state.raw<(Origin & { trajectory: Trajectory }) | null>(null);

  readonly #client: TrainerClient;
  readonly #db: RunDatabase;
  readonly #party: () => { model: ModelRef; modelName: string; simulator: UserConfig };
  #turns = 0;
  #closed = false;

  constructor(setting: Setting, client: TrainerClient, db: RunDatabase, party: () => { model: ModelRef; modelName: string; simulator: UserConfig }) {
    this.setting = setting;
    this.#client = client;
    this.#db = db;
    this.#party = party;
  }

  get ended(): boolean {
    return this.result !== null && hasEnded(this.result);
  }

  get next(): NextParty {
    if (this.ended) return 'nobody';
    const next = nextParty(this.prefix?.nodes ?? []);
    // A stop word that the benchmark's rules ignore.
    return next === 'nobody' && this.result ? 'agent' : next;
  }

  /** The conversation as it stands, ended or not. */
  get shown(): Pick<Trajectory, 'nodes' | 'leaf' | 'verdict' | 'userCalls'> {
    const nodes = [...(this.prefix?.nodes ?? [])];
    return { nodes, leaf: nodes.length - 1, verdict: this.result?.verdict ?? null, userCalls: [...(this.prefix?.userCalls ?? [])] };
  }

  /** How many of its nodes another conversation has too. */
  sharedWith(other: Trajectory | null | undefined): number {
    return other ? sharedMessages(this.prefix?.nodes ?? [], path(other)) : 0;
  }

  /** The way to each message: stored at an address, or to be gone back to in place; absent where that would change nothing. */
  readonly forks = $derived.by(() => {
    const kept = this.sharedWith(this.#stored?.trajectory);
    const { termination = 'aborted' } = this.result ?? {};
    return new Map(
      this.shown.nodes.flatMap(({ id }, i): [number, From | 'in place'][] => {
        const at = forkAt({ ...this.shown, termination }, id, this.as);
        if (at === null) return [];
        if (!this.#stored || i >= kept) return [[id, 'in place']];
        const { trajectory, ...origin } = this.#stored;
        const node = forkAt(trajectory, path(trajectory)[i]!.id, this.as);
        return node === null ? [] : [[id, { ...origin, node }]];
      }),
    );
  });

  /** Takes the place at the fork, as long as nothing was played. */
  async begin(as: Role): Promise<void> {
    this.as = as;
    const { start } = this.setting;
    if (!this.untouched) return;
    this.#stored = start;
    if (start && start.node === start.trajectory.leaf) {
      const { trajectory } = start;
      this.prefix = { nodes: path(trajectory), userCalls: trajectory.userCalls };
      this.result = trajectory;
      if (start.place === BRANCHES) this.branch = start.id;
    } else {
      this.prefix = start && prefixAt(start.trajectory, start.node, as);
      this.result = null;
    }
    await this.#settle();
  }

  /** Plays on, and keeps what came of it. */
  async move(move: Pick<PlayRequest, 'agent' | 'user'>, label: string): Promise<void> {
    await this.#during(label, async () => {
      const [played] = await this.#client.play({ ...this.#request(), ...move });
      if (this.#closed) return;
      if (this.ended) this.branch = '';
      this.#turns += 1;
      this.untouched = false;
      this.rolled = null;
      this.prefix = { nodes: played!.nodes, userCalls: played!.userCalls };
      this.result = played!;
      if (played!.error) this.problem = `The simulated customer failed: ${played!.error}`;
      await this.#keep();
    });
  }

  /** The agent's turns are the model's, or rest for the visitor. */
  say(text: string, modelReady: boolean): Promise<void> {
    return this.move({ user: { say: text }, agent: this.as === 'user' && modelReady ? undefined : null }, 'Waiting for the agent…');
  }

  letUserAnswer(modelReady: boolean): Promise<void> {
    return this.move({ user: 'simulated', agent: this.as === 'user' && modelReady ? undefined : null }, 'Waiting for the customer…');
  }

  act(agent: NonNullable<PlayRequest['agent']>): Promise<void> {
    const rests = this.as === 'user';
    return this.move({ agent, user: rests ? null : undefined }, agent === 'model' ? 'The model takes this turn…' : 'say' in agent ? 'Waiting for the customer…' : 'Calling the tool…');
  }

  letAgentGoOn(): Promise<void> {
    return this.move({ agent: undefined, user: null }, 'Waiting for the agent…');
  }

  get canUndo(): boolean {
    return this.#undone() !== null;
  }

  /** Takes the visitor's last turn back, and what followed from it. */
  async undo(): Promise<void> {
    const prefix = this.#undone();
    if (!prefix) return;
    this.#goBack(prefix);
    await this.#settle();
  }

  /** To a message that is not stored at any address. */
  async goBackTo(node: number): Promise<void> {
    this.#goBack(prefixAt(this.shown, node, this.as));
    await this.#settle();
  }

  get canRegenerate(): boolean {
    return this.#withoutAgent() !== null;
  }

  /** The agent's last turn once more, sampled otherwise. */
  async regenerate(): Promise<void> {
    const prefix = this.#withoutAgent();
    if (!prefix) return;
    this.#goBack(prefix);
    await (this.as === 'agent' ? this.act('model') : this.letAgentGoOn());
  }

  /** From here to the end, `n` times, with nobody's help. */
  async rollOut(n: number): Promise<void> {
    await this.#during(`Rolling out ${n} times…`, async () => {
      this.progress = { done: 0, total: n };
      const request = this.#request();
      const played = await this.#client.play({ ...request, n }, (done, total) => (this.progress = { done, total }));
      this.#turns += n;
      const batch = crypto.randomUUID();
      const { length } = request.prefix?.nodes ?? [];
      await this.#db.branches.bulkPut(played.map((trajectory, i) => ({ ...this.#row(crypto.randomUUID(), trajectory, length), batch, createdAt: Date.now() + i })));
      this.rolled = played;
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

  /** Puts branches into the training set, or takes them out. */
  async train(rows: readonly BranchRow[], wanted: boolean): Promise<void> {
    await this.#db.branches.bulkUpdate(rows.map(({ id: key, trajectory }) => ({ key, changes: { conversation: wanted ? toMessages(trajectory, this.setting.tools) : undefined } })));
  }

  /**
   * Deletes branches; where the one being played is among them, it begins again at the fork.
   * @returns where to go on instead if the game itself began with one of them: the branch being played, null for none
   */
  async remove(rows: readonly BranchRow[]): Promise<{ from: From | null } | undefined> {
    const gone = new Set(rows.map(({ id }) => id));
    await this.#db.branches.bulkDelete([...gone]);
    const lost = (at: Origin | null) => at?.place === BRANCHES && gone.has(at.id);
    const { start } = this.setting;
    if (lost(start)) return { from: this.#stored && !lost(this.#stored) ? { place: this.#stored.place, id: this.#stored.id, node: this.#stored.trajectory.leaf } : null };
    if (lost(this.#stored)) this.#stored = start;
    if (!gone.has(this.branch)) return undefined;
    this.branch = '';
    this.untouched = true;
    await this.begin(this.as);
    return undefined;
  }

  #undone(): Prefix | null {
    return this.prefix && withoutLast(this.prefix, this.as === 'agent' ? 'assistant' : 'user');
  }

  #withoutAgent(): Prefix | null {
    return this.prefix && withoutLast(this.prefix, 'assistant');
  }

  #goBack(prefix: Prefix): void {
    // What has ended stays as a branch of its own.
    if (this.ended) this.branch = '';
    this.prefix = prefix;
    this.result = null;
    this.untouched = false;
    this.problem = '';
    this.rolled = null;
  }

  /** What needs nobody: a pending tool call, the customer's words where the visitor is the agent, the verdict of what has ended. */
  async #settle(): Promise<void> {
    const { next } = this;
    const due = next === 'environment' || (next === 'nobody' && !this.ended) || (next === 'user' && this.as === 'agent');
    if (due) await this.move({ agent: null, user: this.as === 'agent' ? undefined : null }, next === 'user' ? 'Waiting for the customer…' : 'Restoring the world…');
  }

  #request(): PlayRequest {
    const { task, config, start } = this.setting;
    const { model, simulator } = this.#party();
    const { temperature, top_p, top_k, conversation_rules, seed } = config;
    return {
      task, model, simulator, prefix: this.prefix, limits: limitsOf(config), sampling: { temperature, top_p, top_k }, rules: conversation_rules,
      seed: start?.trajectory.seed ?? seed, userSeed: start?.trajectory.userSeed ?? start?.trajectory.seed ?? seed, stream: FIRST_STREAM + this.#turns,
    };
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
    }
  }

  #row(id: string, trajectory: Trajectory, shared: number): BranchRow {
    return { id, createdAt: Date.now(), origin: this.setting.origin, shared, batch: '', model: this.#party().modelName, trajectory };
  }

  /** A branch is one row that grows with it; one in the training set grows there too. */
  async #keep(): Promise<void> {
    const trajectory = this.result!;
    // What only opens a conversation is nobody's play yet.
    const added = trajectory.nodes.slice(this.sharedWith(this.#stored?.trajectory));
    if (!this.branch && !added.some(({ role, by }) => role === 'assistant' || by)) return;
    const known = this.branch ? await this.#db.branches.get(this.branch) : undefined;
    const row = { ...this.#row(known?.id ?? crypto.randomUUID(), trajectory, this.sharedWith(this.setting.parent)), ...(known && { createdAt: known.createdAt }) };
    await this.#db.branches.put(known?.conversation ? { ...row, conversation: toMessages(trajectory, this.setting.tools) } : row);
    this.branch = row.id;
    this.#stored = { place: BRANCHES, id: row.id, trajectory };
  }
}
