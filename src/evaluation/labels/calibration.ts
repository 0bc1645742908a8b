/** @file How far the judges of an evaluation agree with the labels of a person. */
import { layeredConversation, layersOf, type DomainLayers } from '../../agent/layers.ts';
import { isAudited } from '../../domains/registry.ts';
import type { LabelingRow, Question } from '../../records/labeling.ts';
import type { Trajectory } from '../../records/trajectory.ts';
import { type Agreement, agreementOf } from '../agreement.ts';

/** The verdicts that a conversation has on a question, by the name of the judge. True means yes, as in labels. */
export type Verdicts = Record<string, boolean>;

/**
 * @param layers the checks of the domain's layers
 * @returns only the verdicts that the conversation has
 */
export function verdictsOf(question: Question, trajectory: Trajectory, layers: DomainLayers): Verdicts {
  const { task, reward, verdict, violations, customerJudgement } = trajectory;
  if (question === 'outcome') {
    const assertions = verdict?.reward_info?.nl_assertions;
    return {
      ...(reward !== null && { 'the reward': reward === 1 }),
      ...(assertions && assertions.length > 0 && { 'the judge of assertions': assertions.every(({ met }) => met) }),
    };
  }
  if (question === 'customer') {
    if (!customerJudgement || customerJudgement.error !== undefined) return {};
    return { 'the judge of the customer': customerJudgement.found.length === 0 };
  }
  const layer = layersOf(layeredConversation(trajectory), { name: task.domain, layers })[question];
  return {
    ...(!('na' in layer) && { [`the rules of the layer ${question}`]: layer.findings.length === 0 }),
    ...(question === 'policy' && isAudited(task.domain) && { 'the audit': violations.length === 0 }),
  };
}

/** A judge with its agreement, and the conversations about which it and the person differ. */
export interface Calibration {
  judge: string;
  agreement: Agreement;
  differences: { conversation: string; label: boolean }[];
}

/**
 * @param verdicts by the id of the conversation, as `verdictsOf` gives them
 * @returns an entry for each judge that has a verdict on a labelled conversation. Skipped conversations do not count
 */
export function calibrate({ labels }: Pick<LabelingRow, 'labels'>, verdicts: ReadonlyMap<string, Verdicts>): Calibration[] {
  const given = new Map(labels.flatMap(({ conversation, label }) => (label === null ? [] : [[conversation, label === 1] as const])));
  const judges = [...new Set([...given.keys()].flatMap((id) => Object.keys(verdicts.get(id) ?? {})))];
  return judges.map((judge) => {
    const own = new Map([...verdicts].flatMap(([id, all]) => (judge in all ? [[id, all[judge]!] as const] : [])));
    const differences = [...given].filter(([id, label]) => own.has(id) && own.get(id) !== label);
    return {
      judge,
      agreement: agreementOf(given, own),
      differences: differences.map(([conversation, label]) => ({ conversation, label })),
    };
  });
}
