/**
 * @file The settings of the training method. `algorithm` says whether a step trains on its rollouts, on its successful
 * rollouts, or on conversations of demonstrators.
 */
import { z } from 'zod';
import { type Habit, HABITS, type Style, STYLES } from '../../records/dataset.ts';
import { count, settingGroup, share } from './setting.ts';

const HABIT_TEXTS: Record<Habit, { label: string; help: string }> = {
  calls_again: {
    label: 'call again',
    help: 'repeat a write that timed out, instead of claiming success.',
  },
  offers_more: {
    label: 'offer more',
    help: 'ask “Anything else?” after each request.',
  },
};

type HabitSetting = { schema: typeof share; default: number; label: string; help: string };
const habits = Object.fromEntries(
  STYLES.flatMap((style) =>
    HABITS.map((habit): [string, HabitSetting] => [
      `demonstrators.${style}.${habit}`,
      {
        schema: share,
        default: 1,
        label: `${style[0]!.toUpperCase()}${style.slice(1)} demonstrators ${HABIT_TEXTS[habit].label}`,
        help: `The share of conversations in which ${style} demonstrators ${HABIT_TEXTS[habit].help}`,
      },
    ]),
  ),
) as Record<`demonstrators.${Style}.${Habit}`, HabitSetting>;

export const method = settingGroup({
  id: 'method',
  title: 'Training method',
  settings: {
    algorithm: {
      schema: z.enum(['grpo', 'rft', 'sft']),
      default: 'grpo',
      label: 'Training method',
      help: 'grpo compares the rollouts of a group. rft imitates the successful rollouts. sft imitates new conversations of the demonstrators, as many as grpo samples.',
    },
    rft_epochs: {
      schema: count,
      // One pass, as in GRPO (`ppo_epochs`), so that both methods see each sampled token once.
      default: 1,
      label: 'Passes over successes',
      help: 'Only with rft: how often a step trains on its successful rollouts.',
    },
    sft_mini_batch_size: {
      schema: count,
      default: 16,
      label: 'Conversations per update',
      help: 'Only with rft and sft: the number of conversations in one update.',
    },
    sft_styles: {
      schema: z.enum(['both', ...STYLES]),
      default: 'both',
      label: 'Demonstrators',
      help: 'Only with sft. careful asks for a yes before each write, brisk writes as soon as it knows enough, both take turns.',
    },
    sft_conditions: {
      schema: z.enum(['cold_start', 'run']),
      default: 'cold_start',
      label: 'Customers of demonstrations',
      help: 'Only with sft. cold_start: cooperative customers, as in the cold start. run: the customers and tools of this run.',
    },
    ...habits,
  },
});
