/** @file The page's words for conditions, that is, the mix of simulated customers and how often tools fail. */
import { uncodedConditions } from '../../domains/registry.ts';
import { conditionsCode } from '../../environments/conditions.ts';
import { PERSONA_LABELS, PERSONA_MEANINGS, TOOL_FAULTS } from '../../environments/condition-texts.ts';
import { type Conditions, PERSONAS } from '../../records/conditions.ts';

export { PERSONA_LABELS, PERSONA_MEANINGS, TOOL_FAULTS };

const share = (value: number) => `${Number((100 * value).toFixed(1))} %`;

/** For example `60 % upfront, 40 % changes mind, tool outages 2 %`. Shares of 0 are left out. */
export function allConditionsText({ customers, tools, intents = [] }: Conditions): string {
  return [
    ...PERSONAS.filter((persona) => customers[persona] > 0).map((persona) => `${share(customers[persona])} ${PERSONA_LABELS[persona]}`),
    ...TOOL_FAULTS.filter(({ fault }) => tools[fault] > 0).map(({ fault, label }) => `${label} ${share(tools[fault])}`),
    ...(intents.length > 0 ? [`only ${intents.join(' and ').replaceAll('_', ' ')}`] : []),
  ].join(', ');
}

/** The conditions as text, `customers: 60 % upfront, …`. '' if they are the default, which task ids do not name. */
export const conditionsText = (conditions: Conditions | undefined, domain: string, level: string): string =>
  conditions && conditionsCode(conditions, uncodedConditions(domain, level)) !== '' ? `customers: ${allConditionsText(conditions)}` : '';

export { conditionsOf as runConditions } from '../../environments/conditions.ts';

export const sameConditions = (a: Conditions, b: Conditions): boolean =>
  PERSONAS.every((persona) => a.customers[persona] === b.customers[persona]) &&
  TOOL_FAULTS.every(({ fault }) => a.tools[fault] === b.tools[fault]);
