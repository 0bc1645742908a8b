/** @file Checks that the tasks of a scenario are sound: that the gold actions are right, and that nothing else is. */
import { Dice } from '../base/dice.ts';
import { World } from '../environments/overlay.ts';
import { compareOverlays } from '../environments/verifier.ts';
import type { Persona } from '../records/conditions.ts';
import type { Blueprint, NearMissKind, PlannedCall, ScenarioPeople, ScenarioTool } from '../records/scenario.ts';
import type { RowChange, Split, Task, ToolCall } from '../records/task.ts';
import { forbidsFaults, jsonOr } from './check-forbids.ts';
import { playerOf } from './check-play.ts';
import { toolsAt } from './execute.ts';
import { hostileCalls } from './hostile.ts';
import { peopleOf } from './people/told.ts';
import type { ReadScenario } from './read.ts';
import { blueprintsAt, draftTask } from './tasks.ts';
import { inWords } from './templates.ts';
import { wrongForm } from './simulated/returns.ts';
import { judgeRows, says, withoutVolatile } from './verdict.ts';
import { makeWorld, TASKS_PER_WORLD, worldId, type WorldKey } from './world.ts';

/** What is checked, with a sentence for each check. */
export const CHECKS = {
  drawn: 'each blueprint has tasks in the worlds of its levels',
  worlds: 'worlds keep the invariants',
  gold: 'the gold actions succeed twice in the same way, and get reward 1',
  empty: 'an agent that does nothing fails, except where nothing is to be done',
  needed: 'each gold write is needed',
  reads: 'the reads of the plan succeed',
  returns: 'the results of reads and gold actions have the form that returns declares',
  rounded: 'the numbers that tools and agents say have at most ten decimals',
  tempts: 'the calls of tempts succeed, and spoil the reward',
  forbids: 'the conditions of forbids allow the gold actions, and find forbidden writes of tempts after the reads',
  told: 'the instruction holds every fact that no read tells',
  tool_names: 'the instruction names no tool',
  hostile: 'tools answer hostile arguments without an exception, and keep the invariants',
} as const;
export type CheckName = keyof typeof CHECKS;

export interface Finding {
  check: CheckName;
  level: string;
  /** The blueprint or the tool. */
  of: string;
  task?: string;
  text: string;
}

export interface CheckedLevel {
  level: string;
  tools: number;
  blueprints: { name: string; tasks: number; noop: number; writes: number; reads: number; longest_result: number }[];
}

export interface CheckReport {
  file: string;
  name: string;
  hash: string;
  levels: CheckedLevel[];
  findings: Finding[];
}

/** Near-misses before the right calls. An extra write comes after them, and the others take their place. */
const BEFORE: ReadonlySet<NearMissKind> = new Set(['forbidden_write', 'unasked_write']);
const SPLITS: readonly Split[] = ['train', 'heldout', 'unseen'];

/**
 * Makes tasks of each blueprint at each level and checks them.
 * @param tasks the number of tasks of a level
 * @param onProgress called with the number of tasks that were checked
 */
export async function checkScenarioTasks(
  own: ReadScenario,
  tasks = 100,
  seed = 1,
  onProgress?: (done: number) => Promise<void>,
): Promise<CheckReport> {
  const { scenario, file, hash } = own;
  const found = new Map<string, Finding>();
  const report = (finding: Finding) => {
    // One example is enough.
    const key = JSON.stringify([finding.check, finding.level, finding.of]);
    if (!found.has(key)) found.set(key, finding);
  };
  const levels: CheckedLevel[] = [];
  let done = 0;
  for (const level of scenario.levels) {
    const blueprints = blueprintsAt(own, level);
    const share = Math.ceil(tasks / blueprints.length);
    const checker = new LevelChecker(own, level, seed, report);
    const rows: CheckedLevel['blueprints'] = [];
    for (const [i, blueprint] of blueprints.entries()) {
      rows.push(await checker.blueprint(blueprint, share, i));
      await onProgress?.((done += share));
    }
    for (const tool of toolsAt(own, level)) await checker.hostile(tool);
    levels.push({ level, tools: toolsAt(own, level).length, blueprints: rows });
  }
  return { file, name: scenario.name, hash, levels, findings: [...found.values()] };
}

class LevelChecker {
  private readonly player: ReturnType<typeof playerOf>;
  /** The worlds by their ids. If a world cannot be made, the reason takes its place. */
  private readonly worlds = new Map<string, World | string>();
  /** Arguments that a tool accepted, by its name, with the world. */
  private readonly good = new Map<string, { world: World; arguments: ToolCall['arguments'] }>();
  /** The blueprints and tools with a finding. */
  private readonly faulty = new Set<string>();

  constructor(
    private readonly own: ReadScenario,
    private readonly level: string,
    private readonly seed: number,
    private readonly report: (finding: Finding) => void,
  ) {
    this.player = playerOf(own, level);
  }

  /** @param first the split of the first task. Blueprints begin with different ones, so that few tasks have worlds of all splits */
  async blueprint(blueprint: Blueprint, share: number, first: number): Promise<CheckedLevel['blueprints'][number]> {
    const row = { name: blueprint.name, tasks: 0, noop: 0, writes: 0, reads: 0, longest_result: 0 };
    for (let i = 0; i < share; i++) {
      const split = SPLITS[(first + i) % SPLITS.length]!;
      const world = this.world(split, Math.floor(i / TASKS_PER_WORLD), blueprint.name);
      if (!world) continue;
      const task = this.task(blueprint, world, split, i);
      if (!task) continue;
      row.tasks += 1;
      row.noop += Number(task.noop);
      const { writes, reads, longest } = await this.check(blueprint.name, task, world);
      row.writes += writes;
      row.reads += reads;
      row.longest_result = Math.max(row.longest_result, longest);
    }
    if (row.tasks === 0 && !this.faulty.has(blueprint.name))
      this.finding('drawn', blueprint.name, `no world of ${share} has rows that fit pick, where and change`);
    return row;
  }

  private finding(check: CheckName, of: string, text: string, task?: Task): void {
    this.faulty.add(of);
    this.report({ check, level: this.level, of, ...(task && { task: task.id }), text });
  }

  private world(split: Split, number: number, of: string): World | null {
    const key = { level: this.level, split, seed: this.seed, number };
    const id = worldId(this.own.domain, key);
    const world = this.worlds.get(id) ?? worldOrFault(this.own, key, id);
    this.worlds.set(id, world);
    if (typeof world !== 'string') return world;
    this.finding('worlds', of, world);
    return null;
  }

  private task(blueprint: Blueprint, world: World, split: Split, index: number): Task | null {
    const personas: Persona[] =
      blueprint.refuse !== undefined
        ? ['impossible', 'pushy']
        : ['upfront', 'on_request', ...(blueprint.change ? (['changes_mind', 'confused'] as const) : [])];
    const { name, blueprints } = this.own.scenario;
    const dice = new Dice('scenario-check', name, this.level, blueprint.name, this.seed, index);
    const stage = { own: this.own, world, dice, split, blueprint, path: `blueprints[${blueprints.indexOf(blueprint)}]` };
    const id = `${name}/${this.level}/${split}/${this.seed}/check-${blueprint.name}-${index}`;
    try {
      const draft = draftTask(stage, this.level, personas[index % personas.length]!);
      return draft && { id, domain: name, level: this.level, split, world: world.id, ...draft };
    } catch (cause) {
      this.finding('gold', blueprint.name, (cause as Error).message);
      return null;
    }
  }

  /** The number of writes and reads, and the length of the longest result. */
  private async check(of: string, task: Task, world: World) {
    const people = peopleOf(task.scenario)!;
    const reads = await this.play(world, people.reads as ToolCall[]);
    const results = reads.texts;
    for (const [i, { error }] of reads.results.entries())
      if (error) this.finding('reads', of, `${described(people.reads[i]!)} answers “${results[i]!.slice(0, 200)}”`, task);
    const [first, second] = [await this.play(world, task.actions), await this.play(world, task.actions)];
    const goal = first.changes;
    const [one, other] = [first, second].map(({ texts, changes }) => ({ texts, changes: withoutVolatile(this.own.scenario, changes) }));
    const alike = JSON.stringify(one) === JSON.stringify(other);
    const failed = first.results.findIndex(({ error }) => error);
    const writes = task.actions.filter(({ name }) => this.kind(name) === 'write').length;
    if (failed >= 0) this.finding('gold', of, `${described(task.actions[failed]!)} answers “${first.texts[failed]!.slice(0, 200)}”`, task);
    else if (!alike) this.finding('gold', of, `the gold actions give two different ends: ${differenceOf(one!, other!)}`, task);
    else if (writes > 0 && !task.noop && goal.length === 0) this.finding('gold', of, 'the gold actions change no row', task);
    else if (this.reward(task, goal, goal, people.tell) !== 1) this.finding('gold', of, 'the gold actions get reward 0', task);
    const silent = task.noop && people.tell.length === 0;
    if (!silent && this.reward(task, [], goal, []) === 1)
      this.finding('empty', of, 'an agent that does and says nothing gets reward 1', task);
    for (const [i, action] of task.actions.entries()) {
      if (this.kind(action.name) !== 'write') continue;
      const { changes } = await this.play(
        world,
        task.actions.filter((_, j) => j !== i),
      );
      if (this.reward(task, changes, goal, people.tell) === 1)
        this.finding('needed', of, `the reward is 1 without ${described(action)}`, task);
    }
    await this.tempts(of, { task, world, goal }, people);
    const calls = [...people.reads, ...task.actions];
    const answers = [...reads.results, ...first.results];
    for (const [i, answer] of answers.entries()) this.form(of, task, calls[i]!, answer);
    this.rounded(of, task, [...answers.map(({ text }) => text), ...people.tell]);
    for (const { call, fault } of forbidsFaults(this.own, { ...people, gold: task.actions, results: answers }))
      this.finding('forbids', of, `${described(call)} ${fault}`, task);
    this.words(of, task, people, results.join('\n'));
    for (const call of [...(people.reads as ToolCall[]), ...task.actions])
      if (!this.good.has(call.name)) this.good.set(call.name, { world, arguments: call.arguments });
    return { writes, reads: people.reads.length, longest: Math.max(0, ...[...results, ...first.texts].map((text) => text.length)) };
  }

  private form(of: string, task: Task, call: PlannedCall, { text, error }: { text: string; error: boolean }): void {
    const tool = this.own.scenario.tools.find(({ name }) => name === call.name)!;
    if (error) return;
    const asked = { own: this.own, tool };
    const fault = wrongForm(asked, jsonOr(text));
    // A text may look like a number.
    if (fault && wrongForm(asked, text)) this.finding('returns', of, `${described(call)}: ${fault}`, task);
  }

  private rounded(of: string, task: Task, texts: readonly string[]): void {
    const long = /\d+\.\d{11,}/.exec(texts.join('\n'))?.[0];
    if (long)
      this.finding('rounded', of, `a tool or the agent says ${long}: expected at most ten decimals. Compute it with round(…, 2)`, task);
  }

  private async tempts(
    of: string,
    { task, world, goal }: { task: Task; world: World; goal: readonly RowChange[] },
    { tempts, tell }: ScenarioPeople,
  ): Promise<void> {
    for (const { kind, name, arguments: args } of tempts) {
      const call: ToolCall = { name, arguments: args };
      const before = kind === 'extra_write' ? task.actions : [];
      const played = await this.play(world, [...before, call, ...(BEFORE.has(kind) ? task.actions : [])]);
      const { error, text } = played.results[before.length]!;
      if (error) this.finding('tempts', of, `${described(call)} (${kind}) answers “${text.slice(0, 200)}”`, task);
      else if (this.kind(name) === 'write' && this.reward(task, played.changes, goal, tell) === 1)
        this.finding('tempts', of, `the reward is 1 after ${described(call)} (${kind})`, task);
    }
  }

  private words(of: string, { scenario: { instruction }, ...task }: Task, { facts }: ScenarioPeople, results: string): void {
    const whole = { ...task, scenario: { instruction } } as Task;
    for (const { name, value } of facts) {
      const word = inWords(value);
      if (!says(instruction, word) && !says(results, word))
        this.finding(
          'told',
          of,
          `the value ${JSON.stringify(value)} of ${name} is neither in the instruction nor in a read: let each entry of says hold {value}`,
          whole,
        );
    }
    // A name of one word, such as renew, may be plain English.
    const named = this.own.scenario.tools.find(({ name }) => name.includes('_') && instruction.toLowerCase().includes(name));
    if (named) this.finding('tool_names', of, `the instruction names the tool ${named.name}`, whole);
  }

  async hostile(tool: ScenarioTool): Promise<void> {
    const known = this.good.get(tool.name);
    const world = known?.world ?? [...this.worlds.values()].find((made) => typeof made !== 'string');
    if (!world) return;
    for (const { call, fault } of await this.player.tryAll(world, hostileCalls(tool, known?.arguments)))
      this.finding('hostile', tool.name, `${described(call)} ${fault}`);
  }

  private kind(name: string) {
    return this.own.scenario.tools.find((tool) => tool.name === name)?.kind;
  }

  private async play(world: World, calls: readonly ToolCall[]) {
    const played = await this.player.play(world, calls);
    return { ...played, texts: played.results.map(({ text }) => text) };
  }

  private reward(task: Task, changes: readonly RowChange[], goal: readonly RowChange[], said: readonly string[]): number {
    const judged = judgeRows(this.own.scenario, { task, changes, goal, said: [said.join('. ')] });
    return (judged ?? compareOverlays([...changes], [...goal])).reward;
  }
}

/** Where two plays of the same calls differ. */
function differenceOf(a: { texts: string[]; changes: RowChange[] }, b: { texts: string[]; changes: RowChange[] }): string {
  const call = a.texts.findIndex((text, i) => text !== b.texts[i]);
  if (call >= 0) return `call ${call + 1} answers “${a.texts[call]!.slice(0, 200)}” and “${b.texts[call]!.slice(0, 200)}”`;
  const row = a.changes.find((change, i) => JSON.stringify(change) !== JSON.stringify(b.changes[i])) ?? b.changes[a.changes.length];
  return `the row ${row?.key} of ${row?.table}. If only a field such as a time differs, mark the field as volatile`;
}

function worldOrFault(own: ReadScenario, key: WorldKey, id: string): World | string {
  try {
    return new World(id, makeWorld(own, key));
  } catch (cause) {
    return (cause as Error).message;
  }
}

const described = ({ name, arguments: args }: PlannedCall): string => {
  const text = JSON.stringify(args);
  return `${name} ${text.length > 160 ? `${text.slice(0, 160)}…` : text}`;
};
