/** @file Makes addresses of moments in the recorded runs, and in their evaluations before and after training. */
import { SMOLLM2_135M } from '../../training/pretrained.ts';
import { RECORDED, RECORDED_SMOLLM2, RECORDED_TIMEOUTS, recordedEvaluation } from './recorded-source.ts';
import { href, type Query } from '../routes/routes.ts';

type Look = Partial<Query<'rollout'>>;

/** @param tasks the ids of the evaluations' tasks, without the number at the end */
function momentsOf(run: string, tasks: string) {
  const rollout = (id: string, look: Look) => href({ name: 'rollout', run, id }, look);
  return {
    run: href({ name: 'run', run }),
    group: (id: string, query: Partial<Query<'group'>> = {}) => href({ name: 'group', run, group: id }, query),
    rollout,
    /** The address of a rollout with the token at position `tok` selected and the tokens coloured by the channel `ch`. */
    token: (id: string, tok: number, ch: Look['ch']) => rollout(id, { view: 'rendered', ch, tok }),
    trial: (when: 'before' | 'after', id: string, look: Look) =>
      href({ name: 'trial', evaluation: recordedEvaluation(run, when), id }, look),
    beforeAfter: (task?: number) =>
      href(
        { name: 'compare' },
        {
          kind: 'evals',
          of: `${recordedEvaluation(run, 'before')},${recordedEvaluation(run, 'after')}`,
          task: task === undefined ? '' : `${tasks}${task}`,
        },
      ),
  };
}

export const recorded = momentsOf(RECORDED, 'retail/nano/heldout/1/');
export const recordedTimeouts = momentsOf(RECORDED_TIMEOUTS, 'retail/glimpse/heldout/1~u500c500t800/');

/** The address of the recorded run of a pretrained model, by the model's name; '' if there is none. */
export const recordedRunOf = (model: string): string => (model === SMOLLM2_135M.name ? href({ name: 'run', run: RECORDED_SMOLLM2 }) : '');
