/**
 * @file The layers of an evaluation: policy, communication, safety and recovery. A domain says how each layer is checked
 * (`DomainLayers`). The checks read only what was said and called, so they work for conversations of any agent.
 */
import { answersOf, callsOf, path } from '../base/message-path.ts';
import { type Layer, type LayerName, LAYERS, type Layers } from '../records/layers.ts';
import type { ToolSchema } from '../records/task.ts';
import type { Trajectory } from '../records/trajectory.ts';
import { spoken, withoutEnd } from './tool-call.ts';
import type { AuditEvent } from './violations.ts';

export interface LayeredConversation {
  /** What the customer said, what the agent said, and the calls with their results, in order. */
  events: readonly AuditEvent[];
  /** The message of each event: calls of one message, and what the agent wrote beside them, have the same one. Absent: not known. */
  messages?: readonly number[];
  /** Null: the tools are not known. */
  tools: readonly ToolSchema[] | null;
  /** The system prompt, with the policy as the agent read it. Null: not known. */
  policy: string | null;
}

/** Checks one layer. `message` of a finding is the place of an event. */
export type LayerCheck = (conversation: LayeredConversation) => Layer;

/** Checks the layer `safety`, for which a broken rule of the policy can count too. */
export type SafetyCheck = (conversation: LayeredConversation, policy: Layer) => Layer;

/** The checks of a domain. A layer without a check is reported as not applicable. */
export type DomainLayers = Partial<Record<Exclude<LayerName, 'safety'>, LayerCheck> & { safety: SafetyCheck }>;

/** @param domain the domain's name and checks. A check that fails is reported as not applicable only if `onFailure` says how */
export function layersOf(
  conversation: LayeredConversation,
  { name: domain, layers }: { name: string; layers: DomainLayers },
  onFailure: (error: unknown) => Layer = (error) => {
    throw error;
  },
): Layers {
  const found = (name: LayerName, check: (() => Layer) | undefined): Layer => {
    if (!check) return { na: `The domain ${domain} has no rules of the layer ${name}.` };
    try {
      return check();
    } catch (error) {
      return onFailure(error);
    }
  };
  const plain = (name: Exclude<LayerName, 'safety'>) => found(name, layers[name] && (() => layers[name]!(conversation)));
  const policy = plain('policy');
  const { safety } = layers;
  // Without the findings of the policy, safety would miss some of its own.
  const isBlind = layers.policy !== undefined && 'na' in policy;
  return {
    policy,
    communication: plain('communication'),
    safety: isBlind && safety ? policy : found('safety', safety && (() => safety(conversation, policy))),
    recovery: plain('recovery'),
  };
}

/** The layers with other places, such as indices of messages for places of events. */
export const movedLayers = <M>(layers: Layers, place: (event: number) => M): Layers<M> =>
  Object.fromEntries(
    LAYERS.map((name) => {
      const layer = layers[name];
      return [
        name,
        'na' in layer ? layer : { ...layer, findings: layer.findings.map((finding) => ({ ...finding, message: place(finding.message) })) },
      ];
    }),
  ) as Layers<M>;

/** A stored conversation as the checks read it. `nodes`: the id of each event's message; for a call, that of the agent's message. */
export function layeredConversation(trajectory: Pick<Trajectory, 'nodes' | 'leaf' | 'task'>): LayeredConversation & { nodes: number[] } {
  const found = path(trajectory);
  const answers = answersOf(found);
  const events: AuditEvent[] = [];
  const nodes: number[] = [];
  const add = (event: AuditEvent, node: number) => {
    events.push(event);
    nodes.push(node);
  };
  for (const node of found) {
    const { id, role, text, content } = node;
    if (role === 'user') add({ kind: 'user', text: withoutEnd(text) }, id);
    // What the agent wrote beside a call is part of the call's message. A customer does not hear it.
    if (role === 'assistant' && callsOf(node).length === 0) add({ kind: 'agent', text: content ?? spoken(text) }, id);
    const answer = answers.get(id);
    if (answer) {
      const { index, error, changes } = answer.result;
      add({ kind: 'tool', call: answer.call, result: { index, text: answer.text, error, changes, terminal: false } }, answer.asked);
    }
  }
  const policy = found.find(({ role }) => role === 'system')?.text ?? null;
  return { events, messages: nodes, nodes, tools: trajectory.task.tools ?? null, policy };
}
