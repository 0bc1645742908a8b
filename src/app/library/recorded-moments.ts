/** @file Makes addresses of moments in the recorded run, and in its evaluations before and after training. */
import { RECORDED } from './recorded-source.ts';
import { href, type Query } from '../routes/routes.ts';

type Look = Partial<Query<'rollout'>>;

export const run = href({ name: 'run', run: RECORDED });
export const group = (id: string, query: Partial<Query<'group'>> = {}) => href({ name: 'group', run: RECORDED, group: id }, query);
export const rollout = (id: string, look: Look) => href({ name: 'rollout', run: RECORDED, id }, look);
/** The address of a rollout with the token at position `tok` selected and the tokens coloured by the channel `ch`. */
export const token = (id: string, tok: number, ch: Look['ch']) => rollout(id, { view: 'rendered', ch, tok });
export const trial = (when: 'before' | 'after', id: string, look: Look) =>
  href({ name: 'trial', evaluation: `${RECORDED}-${when}`, id }, look);
export const beforeAfter = (task?: number) =>
  href(
    { name: 'compare' },
    { kind: 'evals', of: `${RECORDED}-before,${RECORDED}-after`, task: task === undefined ? '' : `retail/nano/heldout/1/${task}` },
  );
