/** @file The world of a scenario whose tools are answered by an answerer. Code keeps the rows and gives the verdict. */
import { Dice } from '../../base/dice.ts';
import { canonicalJson } from '../../base/json.ts';
import { sha256 } from '../../base/sha256.ts';
import type { SessionDomain, SessionResult, TableDomain, WorldSession } from '../../environments/domain.ts';
import { Overlay, World } from '../../environments/overlay.ts';
import { compareOverlays, replayGold } from '../../environments/verifier.ts';
import { asData } from '../../mcp/text.ts';
import type { Task, ToolCall, Verdict } from '../../records/task.ts';
import { errorText, toolOf } from '../execute.ts';
import type { ReadScenario } from '../read.ts';
import { tableDomain } from '../table-domain.ts';
import { applied, textOf } from './proposal.ts';
import type { Simulator } from './simulator.ts';
import type { Proposal, Question } from './types.ts';

/** The share of repeated calls for which the answerer is asked again, to measure whether it says the same. */
const ASKED_AGAIN = 0.05;

export interface SimulatedOptions {
  /** Whether the same calls get the same answers in another process. */
  replays: boolean;
  /** Default: 0.05. */
  askedAgain?: number;
}

/** The hash of a call with the rows that it sees: SHA-256 of (scenario, rows, tool, arguments). */
export function callKey({ hash }: ReadScenario, rows: Overlay, world: string, call: ToolCall): string {
  const changed = rows.changes().map(({ table, key, after }) => [table, key, after]);
  const ledger = sha256(
    canonicalJson([
      world,
      changed.sort((a, b) => (`${a[0] as string}\n${a[1] as string}` < `${b[0] as string}\n${b[1] as string}` ? -1 : 1)),
    ]),
  );
  return sha256(canonicalJson([hash, ledger, call.name, call.arguments]));
}

/** The call without arguments that are null, because null is the same as no value. */
export const plainCall = ({ name, arguments: args }: ToolCall): ToolCall => ({
  name,
  arguments: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null)),
});

/** The domain of a scenario with simulated tools. It has the tasks, customers and verdicts of the domain with code. */
export function simulatedDomain(
  own: ReadScenario,
  simulator: Simulator,
  { replays, askedAgain = ASKED_AGAIN }: SimulatedOptions,
): SessionDomain {
  const code = tableDomain(own);
  const { name, levels } = code;
  return {
    name,
    levels,
    conditions: true,
    unseen: true,
    promises: { replays },
    domain: (level) => code.domain(level),
    tasks: (query) => code.tasks(query),
    start: async (task) => new Episode({ own, code, simulator, askedAgain }, task, new World(task.world, await code.world(task.world))),
  };
}

/** One episode. The environment makes its calls one after another. */
class Episode implements WorldSession {
  readonly #rows: Overlay;
  readonly #history: Question['history'][number][] = [];
  /** The answers so far, by call and rows. */
  readonly #given = new Map<string, Proposal>();
  readonly #calls: { call: ToolCall; text: string; error: boolean }[] = [];

  constructor(
    private readonly stage: { own: ReadScenario; code: TableDomain; simulator: Simulator; askedAgain: number },
    private readonly task: Task,
    private readonly world: World,
  ) {
    this.#rows = new Overlay(world);
  }

  async call(made: ToolCall): Promise<SessionResult> {
    const { own, simulator, askedAgain } = this.stage;
    const { level } = this.task;
    const call = plainCall(made);
    const tool = toolOf(own, call, level);
    if (typeof tool === 'string') return this.#answered(made, { text: errorText(tool), error: true });
    const key = callKey(own, this.#rows, this.task.world, call);
    const question: Question = { own, level, tool, call, task: this.task, rows: this.#rows, key, history: [...this.#history] };
    const earlier = this.#given.get(key);
    if (earlier && new Dice('asked again', this.task.id, key, this.#calls.length).chance(askedAgain))
      await simulator.askAgain(question, earlier);
    const proposal = earlier ?? (await simulator.ask(question));
    this.#given.set(key, proposal);
    const draft = applied(own.scenario, this.#rows, proposal);
    const [changes, written] = [draft.changes(), draft.written()];
    this.#rows.apply(written.map((change) => ({ ...change, call: this.#calls.length })));
    const text = asData(textOf(proposal));
    this.#history.push({ call, text });
    return this.#answered(made, { text, error: proposal.error !== null, changes });
  }

  #answered(call: ToolCall, result: SessionResult): SessionResult {
    this.#calls.push({ call, text: result.text, error: result.error });
    return result;
  }

  async verify(said: readonly string[], met?: readonly boolean[]): Promise<Verdict> {
    const {
      task,
      world,
      stage: { code },
    } = this;
    const verdict = compareOverlays(this.#rows.changes(), replayGold(code, world, task));
    const judged = await code.judge!({ task, rows: this.#rows, world, calls: this.#calls, said, ...(met && { met }) });
    return { ...verdict, ...judged };
  }

  async close(): Promise<void> {}
}
