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
import { hasEnded, sharedMessages } from '../logic/play-origin.ts';
import type { TrainerClient } from '../state/trainer-client.svelte.ts';

export type Role = 'user' | 'agent';

export interface Setting {
  task: Task;
  tools: ToolSchema[];
  /** Whether the simulated customer has tools of its own. */
  userTools: boolean;
  config: GrpoConfig;
  /** The conversation that is branched off, and the message where; null where it begins anew. */
  original: { trajectory: Trajectory; node: number } | null;
  /** As branches are filed. */
  origin: string;
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

  get shared(): number {
    const { original } = this.setting;
    return original ? sharedMessages(this.prefix?.nodes ?? [], path(original.trajectory)) : 0;
  }

  /** Takes the place at the fork, as long as nothing was played. */
  async begin(as: Role): Promise<void> {
    this.as = as;
    const { original } = this.setting;
    if (!this.untouched) return;
    if (original?.node === original?.trajectory.leaf && original) {
      const { trajectory } = original;
      this.prefix = { nodes: path(trajectory), userCalls: trajectory.userCalls };
      this.result = trajectory;
    } else {
      this.prefix = original && prefixAt(original.trajectory, original.node, as);
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

  /** Puts a branch into the training set, or takes it out. */
  async train({ id, trajectory }: BranchRow, wanted: boolean): Promise<void> {
    await this.#db.branches.update(id, { conversation: wanted ? toMessages(trajectory, this.setting.tools) : undefined });
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
  }

  /** What needs nobody: a pending tool call, the customer's words where the visitor is the agent, the verdict of what has ended. */
  async #settle(): Promise<void> {
    const { next } = this;
    const due = next === 'environment' || (next === 'nobody' && !this.ended) || (next === 'user' && this.as === 'agent');
    if (due) await this.move({ agent: null, user: this.as === 'agent' ? undefined : null }, next === 'user' ? 'Waiting for the customer…' : 'Restoring the world…');
  }

  #request(): PlayRequest {
    const { task, config, original } = this.setting;
    const { model, simulator } = this.#party();
    const { temperature, top_p, top_k, conversation_rules, seed } = config;
    return {
      task, model, simulator, prefix: this.prefix, limits: limitsOf(config), sampling: { temperature, top_p, top_k }, rules: conversation_rules,
      seed: original?.trajectory.seed ?? seed, userSeed: original?.trajectory.userSeed ?? original?.trajectory.seed ?? seed, stream: FIRST_STREAM + this.#turns,
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
    if (!trajectory.nodes.some(({ role }, i) => role === 'assistant' && i >= this.shared) && !trajectory.nodes.some(({ by }) => by)) return;
    const known = this.branch ? await this.#db.branches.get(this.branch) : undefined;
    const row = { ...this.#row(known?.id ?? crypto.randomUUID(), trajectory, this.shared), ...(known && { createdAt: known.createdAt }) };
    await this.#db.branches.put(known?.conversation ? { ...row, conversation: toMessages(trajectory, this.setting.tools) } : row);
    this.branch = row.id;
  }
}
