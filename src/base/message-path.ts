/** @file The messages of a trajectory in their order. */
import type { MessageNode, Trajectory } from '../records/trajectory.ts';

/** The nodes from the root to the leaf. @throws if a node is missing or is its own ancestor */
export function path({ nodes, leaf }: Pick<Trajectory, 'nodes' | 'leaf'>): MessageNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found: MessageNode[] = [];
  for (let id: number | null = leaf; id !== null;) {
    const node = byId.get(id);
    if (!node) throw new Error(`trajectory node ${id} is missing: expected every parent of leaf ${leaf} among its nodes`);
    if (found.length > nodes.length) throw new Error(`trajectory node ${id} is its own ancestor`);
    found.push(node);
    id = node.parent;
  }
  return found.reverse();
}
