/**
 * @file The settings for the shares of customers and of tool faults. They hold in training and, with the prefix `val_`, in the
 * evaluations of a run.
 */
import { levelConditions } from '../../domains/registry.ts';
import { conditionSettings } from '../../environments/conditions.ts';
import { PERSONA_LABELS, PERSONA_MEANINGS, TOOL_FAULTS } from '../../environments/condition-texts.ts';
import { type ConditionSettings, PERSONAS, type ValidationConditionSettings } from '../../records/conditions.ts';
import { type Choice, type Setting, share } from './setting.ts';

const defaults = conditionSettings(levelConditions('retail', 'full'));
type Name = keyof typeof defaults;

const described = (name: keyof (ConditionSettings & ValidationConditionSettings), label: string, help: string) =>
  [name, { schema: share, default: defaults[name], label, help }] as const;

const choices: readonly Choice[] = [
  {
    topic: 'simulated user',
    upstream: 'GPT-4o at temperature 0',
    ours: 'the scripted customer, or a model at an endpoint (--user)',
  },
  {
    topic: 'first message of the user',
    upstream: 'written once per task before training, and then frozen',
    ours: 'written in each episode; the scripted customer writes the same text in all rollouts of a group',
  },
  { topic: 'what the user sees', upstream: 'spoken text only', ours: 'the same' },
];

export const customers = {
  id: 'customers',
  title: 'Customers',
  settings: Object.fromEntries(
    (['', 'val_'] as const).flatMap((prefix) => [
      ...PERSONAS.map((persona) => described(`${prefix}customers.${persona}`, PERSONA_LABELS[persona], PERSONA_MEANINGS[persona])),
      ...TOOL_FAULTS.map(({ fault, label, meaning }) => described(`${prefix}tools.${fault}`, label, meaning)),
    ]),
  ) as Record<Name, Setting & { schema: typeof share }>,
  choices,
} as const;
