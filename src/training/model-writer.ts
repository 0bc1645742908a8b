/**
 * @file Plays tasks with language models until enough conversations are kept: honest successes, no two of which are the same apart from
 * names and numbers.
 */
import { mapConcurrently } from '../agent/rollouts.ts';
import { hash32 } from '../base/random.ts';
import type { Conditions } from '../records/conditions.ts';
import { type Attempt, type RefusalStep, type Spent, STEPS, type WrittenConversation } from '../records/written.ts';
import { masked } from '../base/words.ts';
import { UserError } from '../users/types.ts';
import { attemptsOf, type WritingStage } from './model-attempt.ts';
import type { PlayLog, SynthesizeOptions } from './synthesize.ts';

export interface WriteOptions extends Pick<SynthesizeOptions, 'domain' | 'level' | 'count' | 'seed' | 'styles' | 'habits'> {
  conditions: Conditions;
  /** The most tasks to play. */
  most: number;
}

/** What was played before, and where goes what is played now. */
export interface AttemptLog extends PlayLog<Attempt> {
  /** Gets the requests of an attempt that a server spoilt. It is played again when the command goes on. */
  spent(spent: Spent): Promise<void>;
}

/** The money of all places together. */
export interface Purse {
  /** The sentence that says that the budget is spent, with these requests too. Null: it is not. */
  over(more?: Spent): string | null;
  add(spent: Spent): void;
}

export interface Written {
  domain: string;
  conversations: WrittenConversation[];
  tried: number;
  solved: number;
  /** How many attempts each step refused. */
  refused: Record<RefusalStep, number>;
  /** The reasons by step, the values in them left out. */
  reasons: Record<string, number>;
  /** The scored attempts by wish, and those with reward 1. */
  wishes: Record<string, { tried: number; solved: number }>;
}

/** Conversations that are played at once. */
const SLOTS = 16;
/** If so many conversations fail one after another, the servers do not work. */
const MOST_FAILURES = 8;

/**
 * @param onProgress gets the number of kept conversations
 * @throws UserError if the budget is spent, or the servers fail. What was played is in the log
 */
export async function writeByModel(
  stage: WritingStage,
  options: WriteOptions,
  log: AttemptLog,
  purse: Purse,
  onProgress: (kept: number) => void,
): Promise<Written> {
  const { domain, level, count, seed, conditions, most } = options;
  const attempt = await attemptsOf(stage, options);
  const written = new Fold();
  let [tried, failures] = [0, 0];
  let failure = '';
  while (written.conversations.length < count && tried < most) {
    const size = Math.min(SLOTS, count - written.conversations.length, most - tried);
    const tasks = await stage.environments.tasks({ domain, level, split: 'train', seed, count: size, from: tried, conditions });
    const attempts: Attempt[] = [];
    await mapConcurrently(tasks, SLOTS, async (task, i) => {
      const at = tried + i;
      const earlier = log.done.get(at);
      if (earlier) return void (attempts[i] = earlier);
      if (purse.over() !== null || failures >= MOST_FAILURES) return;
      const made = await attempt(task, hash32(seed, at), (spent) => purse.over(spent) !== null);
      purse.add(made.spent);
      if (made.conversation) {
        failures = 0;
        await log.played([[at, made]]);
      } else {
        await log.spent(made.spent);
        // The agent's model is not asked beyond its budget.
        if (purse.over() !== null) return;
        failures += 1;
        failure = made.refused!.why;
      }
      attempts[i] = made;
    });
    if (attempts.filter(Boolean).length < size || failures >= MOST_FAILURES)
      throw purse.over() === null
        ? new UserError(`${failures} conversations failed one after another: ${failure}`, 'server')
        : new UserError(purse.over()!, 'budget');
    for (const one of attempts) written.add(one);
    tried += size;
    onProgress(written.conversations.length);
  }
  if (tried > 0 && written.refused.failed === tried) throw new UserError(`all ${tried} conversations failed: ${failure}`, 'server');
  const { conversations, solved, refused, reasons, wishes } = written;
  return { domain, conversations, tried, solved, refused, reasons, wishes };
}

/** Counts attempts in the order of their tasks. */
class Fold {
  readonly conversations: WrittenConversation[] = [];
  readonly refused = Object.fromEntries(STEPS.map((step) => [step, 0])) as Record<RefusalStep, number>;
  readonly reasons: Record<string, number> = {};
  readonly wishes: Record<string, { tried: number; solved: number }> = {};
  solved = 0;
  readonly #seen = new Set<string>();

  add({ conversation, refused }: Attempt): void {
    if (conversation) {
      const wish = (this.wishes[conversation.intent] ??= { tried: 0, solved: 0 });
      wish.tried += 1;
      wish.solved += conversation.reward;
      this.solved += conversation.reward;
    }
    if (refused) return this.#refuse(refused.step, refused.why);
    const key = masked(JSON.stringify(conversation!.messages));
    if (this.#seen.has(key)) return this.#refuse('duplicate', 'equal to an earlier one, apart from names and numbers');
    this.#seen.add(key);
    this.conversations.push(conversation!);
  }

  #refuse(step: RefusalStep, why: string): void {
    this.refused[step] += 1;
    const reason = `${step}: ${shortened(why)}`;
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
  }
}

/** A reason without the values that differ from row to row. */
const shortened = (why: string): string =>
  why.replace(/ \(message \d+\)$/, '').replace(/"(?:[^"\\]|\\.)*"/g, '…').replace(/^(\w+(?: \w+)?): .*$/s, '$1').slice(0, 120); // prettier-ignore
